#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lints nic_top, or the NIC for a board, with every Verilator warning on; exit status 1 on any."""

import argparse
import itertools
import pathlib
import subprocess
import sys

import sources

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests" / "rtl"


def lint(opts):
    """Whether there was no warning."""
    top = sources.BOARDS[opts.board][0] if opts.board else "nic_top"
    command = ["verilator", "--lint-only", "-Wall", f"-GDATA_W={opts.data_w}", "--top-module", top]
    command += [*sources.defines(opts), f"-DGGAS_NODES={opts.nodes}", f"-DGGAS_MTU={opts.mtu}", f"-DGGAS_LINKS={opts.links}"]
    command += [f"-DGGAS_COLL={int(opts.coll)}", f"-GPAGE_LOG2={opts.page_log2}"]
    if opts.contexts:
        command.append(f"-DGGAS_CONTEXTS={opts.contexts}")
    if opts.contexts or opts.lite or opts.without:
        command.append("-Wno-UNUSEDSIGNAL")  # numbers of contexts keep 8 bits; what is left out leaves signals
    files = [*sources.files(opts.generated)]
    if opts.board:
        files += sources.board_files(opts.board)
    if opts.points:  # the macros first; a point need not use all that its module shows
        command += ["-Wno-UNUSEDSIGNAL", "-Wno-DECLFILENAME"]
        for folder, macros in (("points", "point.sv"), ("contracts", "stream_contract.sv")):
            files += sorted((TESTS / folder).glob("*.sv"), key=lambda f: (f.name != macros, f.name))
    good = subprocess.run(command + [str(f) for f in files]).returncode == 0
    print(f"{top}, DATA_W={opts.data_w}, {' '.join(sources.defines(opts)) or 'all units'}, coll {int(opts.coll)}, {opts.nodes} nodes, {opts.links} links,"
          f" MTU {opts.mtu}, pages {1 << opts.page_log2} bytes apart: {'no warning' if good else 'warnings'}", flush=True)
    return good


def combinations(opts):
    """The NIC with and without each unit, with one link and with two."""
    for n in range(len(sources.UNITS) + 1):
        for without in itertools.combinations(sources.UNITS, n):
            for coll, links in itertools.product((False, True), (1, 2)):
                yield argparse.Namespace(**{**vars(opts), "without": without, "coll": coll, "links": links})


def main():
    args = sources.arguments(__doc__)
    args.add_argument("--contexts", type=int, choices=(16, 64, 256), help="contexts of the NIC (256)")
    args.add_argument("--nodes", type=int, default=64, help="nodes that it can reach: 64 to 65536, a power of two")
    args.add_argument("--mtu", type=int, default=256, help="largest payload of a packet: 256 to 4096, a power of two")
    args.add_argument("--links", type=int, choices=range(1, 7), default=1, help="links of the NIC")
    args.add_argument("--coll", action="store_true", help="with the unit for collectives")
    args.add_argument("--page-log2", type=int, choices=(12, 16), default=12, help="log2 of the distance of two pages")
    args.add_argument("--points", action="store_true", help="with the points of functional coverage and the contracts of streams bound to it")
    args.add_argument("--board", choices=sources.BOARDS, help="the NIC for this board")
    args.add_argument("--combinations", action="store_true", help="with and without each unit: all combinations")
    opts = args.parse_args()
    sys.exit(0 if all([lint(o) for o in (combinations(opts) if opts.combinations else [opts])]) else 1)


if __name__ == "__main__":
    main()
