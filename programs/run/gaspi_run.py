#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a GASPI program: `gaspi_run -m FILE -n N program arguments...`. The machine file has a computer for each rank."""

import argparse
import os
import runpy
import sys
from pathlib import Path

NAME = "gaspi_run"
MOST_BYTES = 1 << 20  # of a machine file
HERE = Path(os.path.realpath(__file__)).parent
RUN = runpy.run_path(str(next(path for path in (HERE / "run.py", HERE / "ggas-run") if path.exists())))


def fail(text):
    sys.exit(f"{NAME}: {text}")


def hosts_of(path):
    """One line a rank: the name of a computer; # begins a comment."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        fail(f"machine file {path}: {error.strerror}")
    if len(data) > MOST_BYTES:
        fail(f"machine file {path}: has {len(data)} bytes; at most {MOST_BYTES} are read")
    names = []
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        name = line.split("#")[0].strip()
        if name and not RUN["HOST"].fullmatch(name):
            fail(f"machine file {path}, line {number}: '{name[:80]}' is no name of a computer")
        if name:
            names.append(name)
    if not names:
        fail(f"machine file {path}: names no computer")
    return names


def main(arguments):
    parser = argparse.ArgumentParser(prog=NAME, description="Starts the ranks of a GASPI program on the computers of a machine file.")
    parser.add_argument("-m", metavar="FILE", required=True, help="machine file: a line with the name of a computer for each rank")
    parser.add_argument("-n", metavar="N", type=int, help="ranks, at most as many as lines (default: that many)")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    chosen = parser.parse_args(arguments)
    if not chosen.program:
        parser.error("no program")
    names = hosts_of(chosen.m)
    ranks = len(names) if chosen.n is None else chosen.n
    if not 1 <= ranks <= len(names):
        fail(f"-n {ranks}: must be 1 to {len(names)}, the lines of {chosen.m}")
    names = names[:ranks]
    where = [] if all(map(RUN["is_here"], names)) else ["--hosts", ",".join(names)]
    return RUN["main"](["-n", str(ranks), *where, "--", *chosen.program])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
