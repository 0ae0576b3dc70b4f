# SPDX-License-Identifier: Apache-2.0
"""The SystemVerilog files below nic_top, packages first: for lint.py and synth.py."""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent


def files(generated):
    """Sources in compile order; `generated` is the folder that the ggas_regs target fills."""
    generated = pathlib.Path(generated)
    for name in ("ggas_regs_pkg.sv", "regs.sv"):
        if not (generated / name).exists():
            sys.exit(f"{generated / name}: not there; build the target ggas_regs, or give its folder with --generated")
    packages = sorted(ROOT.glob("*/*_pkg.sv"))
    modules = sorted(p for p in ROOT.glob("*/*.sv") if p not in packages)
    return [ROOT / "ggas_pkg.sv", generated / "ggas_regs_pkg.sv", *packages, *modules, generated / "regs.sv", ROOT / "nic_top.sv"]


def arguments(doc):
    args = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--data-w", type=int, choices=(64, 256, 512), default=64, help="datapath width in bits")
    args.add_argument("--generated", type=pathlib.Path, default=ROOT.parent / "build/release/generated",
                      help="folder with ggas_regs_pkg.sv and regs.sv")
    return args
