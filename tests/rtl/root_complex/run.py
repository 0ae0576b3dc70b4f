# SPDX-License-Identifier: Apache-2.0
"""Runs one cocotb test in a Verilated program and passes on whether it passed: cocotb itself always ends with 0."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import find_libpython

HERE = pathlib.Path(__file__).resolve().parent


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("program", type=pathlib.Path, help="a Verilated design; its name is that of the top module")
    args.add_argument("test", help="a test of the file of cases")
    args.add_argument("--cases", type=pathlib.Path, default=HERE / "nic_cases.py", help="file of cocotb tests")
    args.add_argument("--registers", default="", help="generated ggas_regs.h, for programs with a NIC")
    args.add_argument("--limit", type=int, default=100, help="seconds until it is stopped")
    a = args.parse_args()
    seed = os.environ.get("GGAS_SEED", "1")
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.xml"
        env = dict(os.environ, MODULE=a.cases.stem, TESTCASE=a.test, TOPLEVEL=a.program.name, TOPLEVEL_LANG="verilog",
                   RANDOM_SEED=seed, COCOTB_RESULTS_FILE=str(results), REGISTERS_HEADER=a.registers,
                   LIBPYTHON_LOC=find_libpython.find_libpython(), COCOTB_ANSI_OUTPUT="0",
                   PYTHONPATH=os.pathsep.join([str(a.cases.resolve().parent), str(HERE), *filter(None, sys.path)]))
        try:
            subprocess.run([a.program.resolve()], env=env, cwd=folder, timeout=a.limit, check=True)
        except subprocess.TimeoutExpired:
            sys.exit(f"{a.test}: not done within {a.limit} s (seed {seed})")
        except subprocess.CalledProcessError as e:
            sys.exit(f"{a.test}: {a.program} ended with {e.returncode} (seed {seed})")
        cases = list(xml.parse(results).iter("testcase")) if results.exists() else []
    bad = [c.get("name") for c in cases if c.find("failure") is not None or c.find("error") is not None]
    if len(cases) != 1 or bad or cases[0].find("skipped") is not None:
        sys.exit(f"{a.test}: {'failed' if bad else f'{len(cases)} tests of that name ran'} (seed {seed})")


if __name__ == "__main__":
    main()
