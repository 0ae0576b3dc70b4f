#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lints nic_top, or the NIC for a board, with every Verilator warning on; exit status 1 on any."""

import pathlib
import subprocess
import sys

import sources

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests" / "rtl"


def main():
    args = sources.arguments(__doc__)
    args.add_argument("--contexts", type=int, choices=(16, 64, 256), default=256, help="contexts of the NIC")
    args.add_argument("--nodes", type=int, default=64, help="nodes that it can reach: 64 to 65536, a power of two")
    args.add_argument("--mtu", type=int, default=256, help="largest payload of a packet: 256 to 4096, a power of two")
    args.add_argument("--links", type=int, choices=range(1, 7), default=1, help="links of the NIC")
    args.add_argument("--coll", action="store_true", help="with the unit for collectives")
    args.add_argument("--page-log2", type=int, choices=(12, 16), default=12, help="log2 of the distance of two pages")
    args.add_argument("--points", action="store_true", help="with the points of functional coverage and the contracts of streams bound to it")
    args.add_argument("--board", choices=sources.BOARDS, help="the NIC for this board")
    opts = args.parse_args()
    top = sources.BOARDS[opts.board][0] if opts.board else "nic_top"
    command = ["verilator", "--lint-only", "-Wall", f"-GDATA_W={opts.data_w}", "--top-module", top]
    command += [f"-DGGAS_CONTEXTS={opts.contexts}", f"-DGGAS_NODES={opts.nodes}"]
    command += [f"-DGGAS_MTU={opts.mtu}", f"-GPAGE_LOG2={opts.page_log2}", f"-DGGAS_LINKS={opts.links}", f"-DGGAS_COLL={int(opts.coll)}"]
    if opts.contexts < 256:
        command.append("-Wno-UNUSEDSIGNAL")  # numbers of contexts keep 8 bits
    files = [*sources.files(opts.generated)]
    if opts.board:
        files += sources.board_files(opts.board)
    if opts.points:  # the macros first; a point need not use all that its module shows
        command += ["-Wno-UNUSEDSIGNAL", "-Wno-DECLFILENAME"]
        for folder, macros in (("points", "point.sv"), ("contracts", "stream_contract.sv")):
            files += sorted((TESTS / folder).glob("*.sv"), key=lambda f: (f.name != macros, f.name))
    result = subprocess.run(command + [str(f) for f in files])
    if result.returncode == 0:
        print(f"{top}, DATA_W={opts.data_w}, {opts.contexts} contexts, {opts.nodes} nodes, {opts.links} links, MTU {opts.mtu},"
              f" pages {1 << opts.page_log2} bytes apart: no warning")
    sys.exit(1 if result.returncode else 0)


if __name__ == "__main__":
    main()
