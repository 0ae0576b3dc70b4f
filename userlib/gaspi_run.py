#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a GASPI program: `gaspi_run -m FILE -n N program arguments...`. The machine file names this computer only."""

import argparse
import os
import runpy
import socket
import sys
from pathlib import Path

NAME = "gaspi_run"
MOST_BYTES = 1 << 20  # of a machine file


def fail(text):
    sys.exit(f"{NAME}: {text}")


def ranks_of(path):
    """One line a rank: the name of a computer; # begins a comment."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        fail(f"machine file {path}: {error.strerror}")
    if len(data) > MOST_BYTES:
        fail(f"machine file {path}: has {len(data)} bytes; at most {MOST_BYTES} are read")
    here = {"localhost", "127.0.0.1", "::1", socket.gethostname(), socket.gethostname().split(".")[0], socket.getfqdn()}
    count = 0
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        name = line.split("#")[0].strip()
        if not name:
            continue
        if name not in here:
            fail(f"machine file {path}, line {number}: '{name[:80]}' is not this computer; ranks of several computers are not supported")
        count += 1
    if count == 0:
        fail(f"machine file {path}: names no computer")
    return count


def main(arguments):
    parser = argparse.ArgumentParser(prog=NAME, description="Starts the ranks of a GASPI program on this computer.")
    parser.add_argument("-m", metavar="FILE", required=True, help="machine file: a line with the name of this computer for each rank")
    parser.add_argument("-n", metavar="N", type=int, help="ranks, at most as many as lines (default: that many)")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    chosen = parser.parse_args(arguments)
    if not chosen.program:
        parser.error("no program")
    lines = ranks_of(chosen.m)
    ranks = lines if chosen.n is None else chosen.n
    if not 1 <= ranks <= lines:
        fail(f"-n {ranks}: must be 1 to {lines}, the lines of {chosen.m}")
    beside = Path(os.path.realpath(__file__)).parent
    run = next(path for path in (beside / "run.py", beside / "ggas-run") if path.exists())
    return runpy.run_path(str(run))["main"](["-n", str(ranks), "--", *chosen.program])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
