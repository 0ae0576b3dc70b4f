#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthesises nic_top for a Xilinx family of devices, or the NIC for a board, with Yosys and prints what it takes, per module.

Exit status 1 if there is a latch, a combinational loop, a net with several drivers or anything else that Yosys' check finds.
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import sources

FAMILIES = {"xc7": "Xilinx 7-series", "xcup": "Xilinx UltraScale+"}  # as synth_xilinx names them
# LUTs that a cell occupies: LUTs proper, distributed RAM and shift registers.
LUTS = {"RAM32X1S": 1, "RAM32X1D": 2, "RAM64X1S": 1, "RAM64X1D": 2, "RAM128X1S": 2, "RAM128X1D": 4, "RAM256X1S": 4, "RAM32M": 4,
        "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8, "RAM64X8SW": 8, "SRL16E": 1, "SRLC32E": 1}
BRAMS = {"RAMB18E1": 0.5, "RAMB36E1": 1, "RAMB18E2": 0.5, "RAMB36E2": 1}
CARRIES = {"CARRY4": 1, "CARRY8": 2}  # of 4 bits

# The checks run on the flat netlist, where a loop through several modules shows; the mapping keeps the modules apart.
CHECKS = """
read_verilog -sv -DSYNTHESIS {defines} {files}
hierarchy -check -top {top} -chparam DATA_W {width}
proc
opt_clean
design -save elaborated
flatten
opt_expr
opt_clean
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr
"""
MAPPING = """
design -load elaborated
synth_xilinx -family {family} -noiopad -noclkbuf -run begin:check
select -assert-none t:$_DLATCH* t:$dlatch t:LDCE t:LDPE
tee -q -o {report} stat -json
"""


def resources(cells):
    """LUT, FF, BRAM, DSP, carry of one module without its instances."""
    total = collections.Counter()
    for kind, n in cells.items():
        if kind.startswith("LUT") or kind == "INV":
            total["LUT"] += n
        elif kind in LUTS:
            total["LUT"] += LUTS[kind] * n
            total["of these RAM"] += LUTS[kind] * n
        elif kind.startswith("FD"):
            total["FF"] += n
        elif kind in BRAMS:
            total["BRAM36"] += BRAMS[kind] * n
        elif kind in CARRIES:
            total["CARRY4"] += CARRIES[kind] * n
        elif kind.startswith("DSP48E"):
            total["DSP"] += n
    return total


COLUMNS = ("LUT", "of these RAM", "FF", "CARRY4", "BRAM36", "DSP")


def plain(name):
    """Module name without Yosys' decoration for parameters."""
    name = name.lstrip("\\")
    return name.split("\\")[1] if name.startswith("$paramod") else name


def instances(modules, name, total):
    """Adds module `name` and everything below it to `total`: {plain name: (count, resources)}."""
    cells = modules[name]["num_cells_by_type"]
    count, sums = total.get(plain(name), (0, collections.Counter()))
    total[plain(name)] = (count + 1, sums + resources(cells))
    for kind, n in cells.items():
        key = kind if kind in modules else "\\" + kind
        if key in modules:
            for _ in range(n):
                instances(modules, key, total)


def modules_of(report):
    """The modules of `stat -json`. Yosys 0.23 prints the hierarchy as plain text after them, which is no JSON."""
    start = report.index("{")
    return json.loads(report[start:report.index("\n   }", start)] + "\n   }\n}")["modules"]


def table(report, top):
    modules = modules_of(report)
    total = {}
    instances(modules, next(n for n in modules if plain(n) == top), total)
    rows = sorted(total.items(), key=lambda kv: -kv[1][1]["LUT"])
    everything = sum((r for _, r in total.values()), collections.Counter())
    lines = [f"{'module':<22}{'n':>4}" + "".join(f"{c:>14}" for c in COLUMNS)]
    for name, (n, r) in rows + [(f"{top} in all", (1, everything))]:
        lines.append(f"{name:<22}{n:>4}" + "".join(f"{r[c]:>14g}" for c in COLUMNS))
    return "\n".join(lines)


def main():
    args = sources.arguments(__doc__)
    args.add_argument("--check", action="store_true", help="only the checks, without mapping to the device and the table: a minute instead of many")
    args.add_argument("--family", choices=FAMILIES, default="xc7", help="family of devices")
    args.add_argument("--board", choices=sources.BOARDS, help="the NIC for this board")
    opts = args.parse_args()
    top, family = sources.BOARDS.get(opts.board, ("nic_top", opts.family))
    if not shutil.which("yosys"):
        sys.exit("yosys: not found; it is in the Debian package yosys")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as tmp:
        report = pathlib.Path(tmp) / "stat.json"
        files = " ".join(str(f) for f in sources.files(opts.generated) + (sources.board_files(opts.board) if opts.board else []))
        script = pathlib.Path(tmp) / "synth.ys"
        steps = CHECKS if opts.check else CHECKS + MAPPING
        script.write_text(steps.format(files=files, defines=" ".join(sources.defines(opts)), width=opts.data_w, report=report, top=top, family=family))
        result = subprocess.run(["yosys", "-q", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            sys.exit(f"{top}, DATA_W={opts.data_w}: synthesis failed\n{result.stdout[-4000:]}")
        text = "" if opts.check else report.read_text()
    print(f"{top}, DATA_W={opts.data_w}{', lite' * opts.lite}, {FAMILIES[family]}, Yosys: no latch, no combinational loop ({time.monotonic() - started:.0f} s)")
    if text:
        print(table(text, top))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
