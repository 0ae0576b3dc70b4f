# SPDX-License-Identifier: Apache-2.0
"""The SystemVerilog files below nic_top, packages first: for lint.py and synth.py."""

import argparse
import pathlib
import sys

# Folder of boards/ → top module without files of a vendor, family of synth_xilinx.
BOARDS = {"ultrascale_plus": ("nic_usp", "xcup")}
# What a build may be without (ggas_pkg).
UNITS = ("atomics", "gets", "velo", "queues", "event_counts")
ROOT = pathlib.Path(__file__).resolve().parent


def modules():
    """Files of the folders of units; boards/ is not one of them."""
    return sorted([*ROOT.glob("*/*.sv"), *ROOT.glob("rma/*/*.sv")])


def files(generated):
    """Sources in compile order; `generated` is the folder that the ggas_regs target fills."""
    generated = pathlib.Path(generated)
    for name in ("ggas_regs_pkg.sv", "regs.sv"):
        if not (generated / name).exists():
            sys.exit(f"{generated / name}: not there; build the target ggas_regs, or give its folder with --generated")
    packages = [p for p in modules() if p.stem.endswith("_pkg")]
    others = [p for p in modules() if p not in packages]
    return [ROOT / "ggas_pkg.sv", generated / "ggas_regs_pkg.sv", *packages, *others, generated / "regs.sv", ROOT / "nic_top.sv"]


def board_files(board):
    """Sources of a folder of boards/, and what boards share, without top modules that need files of a vendor."""
    folder = ROOT / "boards" / board
    packages = sorted(folder.glob("*_pkg.sv"))
    return [*packages, *sorted((ROOT / "boards/common").glob("*.sv")), *sorted(f for f in folder.glob("*.sv") if f not in packages)]


def defines(opts):
    """Options of the Yosys or Verilator command line for the units that are built."""
    return ["-DGGAS_LITE"] * opts.lite + [f"-DGGAS_{unit.upper()}=0" for unit in opts.without]


def arguments(doc):
    """Options that the tools share."""
    args = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--data-w", type=int, choices=(64, 256, 512), default=64, help="datapath width in bits")
    args.add_argument("--lite", action="store_true", help="the smallest NIC: GGAS_LITE")
    args.add_argument("--without", nargs="+", default=(), choices=UNITS, help="units that the NIC is built without")
    args.add_argument("--generated", type=pathlib.Path, default=ROOT.parent / "build/release/generated",
                      help="folder with ggas_regs_pkg.sv and regs.sv")
    return args
