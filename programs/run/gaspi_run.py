#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a GASPI program: `gaspi_run -m FILE -n N program arguments...`, with the options of the reference's gaspi_run."""

import argparse
import os
import runpy
import shlex
import subprocess
import sys
import time
from pathlib import Path

NAME = "gaspi_run"
MOST_BYTES = 1 << 20  # of a machine file
ANSWER_S = 10  # within which a computer answers, with -p
HERE = Path(os.path.realpath(__file__)).parent
RUN = runpy.run_path(str(next(path for path in (HERE / "run.py", HERE / "ggas-run") if path.exists())))

from ggas_launch.places import HOST, is_here  # noqa: E402  # run.py knows where it is


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
        if name and not HOST.fullmatch(name):
            fail(f"machine file {path}, line {number}: '{name[:80]}' is not a valid host name")
        if name:
            names.append(name)
    if not names:
        fail(f"machine file {path}: names no computer")
    return names


# Rank 0 starts $1, the others $2; both get the words that follow.
MASTER = 'first=$1 others=$2; shift 2; [ "$GGAS_RANK" = 0 ] && exec "$first" "$@"; exec "$others" "$@"'
REFUSED = {  # options of the reference's gaspi_run that are not here
    "-N": "ranks are not bound to NUMA nodes here: let the program be a script that calls numactl",
    "-d": "no debugger is started here: use -b with a script that starts one",
}


class Refuse(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        parser.error(f"{option_string}: {REFUSED[option_string]}")


def command_line(arguments):
    parser = argparse.ArgumentParser(
        prog=NAME,
        description="Starts the ranks of a GASPI program, on this computer or on those of a machine file.",
        epilog="The exit status is the worst of the ranks, 128 + number for a signal, 124 after --timeout, 1 for a bad argument or machine file.",
    )
    parser.add_argument("-m", metavar="FILE", help="machine file: a line with the name of a computer for each rank (default: -n ranks on this computer)")
    parser.add_argument("-n", metavar="N", type=int, help="ranks, at most as many as lines (default: that many)")
    parser.add_argument("-b", metavar="BINARY", help="rank 0 starts this instead of PROGRAM, with the same arguments")
    parser.add_argument("-p", action="store_true", help="before the start, run a command on every other computer: an error names those that do not answer")
    parser.add_argument("--stop", action="store_true", help="when a rank fails, end the others")
    parser.add_argument("--timeout", metavar="S", help="end the job after S seconds")
    for option in REFUSED:
        parser.add_argument(option, action=Refuse, nargs=0, help=argparse.SUPPRESS)
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    chosen = parser.parse_args(arguments)
    if not chosen.program:
        parser.error("no program")
    if not chosen.m and chosen.n is None:
        parser.error("-m FILE or -n N is needed: the computers, or the number of ranks on this one")
    return chosen


def names_of(chosen):
    """The computer of each rank."""
    names = hosts_of(chosen.m) if chosen.m else ["localhost"] * RUN["MOST"]
    ranks = len(names) if chosen.n is None else chosen.n
    if not 1 <= ranks <= len(names):
        fail(f"-n {ranks}: must be 1 to {len(names)}" + (f", the lines of {chosen.m}" if chosen.m else ""))
    return names[:ranks]


def require_answers(names):
    """All computers at once; one that refuses, or is silent for 10 s, is named."""
    others = [name for name in dict.fromkeys(names) if not is_here(name)]
    command = shlex.split(os.environ.get("GGAS_RSH") or RUN["RSH"])
    asked = {name: subprocess.Popen([*command, name, "true"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for name in others}
    end = time.monotonic() + ANSWER_S
    silent = []
    for name, process in asked.items():
        try:
            answers = process.wait(max(0, end - time.monotonic())) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            answers = False
        if not answers:
            silent.append(name)
    if silent:
        fail(f"-p: no answer from {', '.join(silent)} ({shlex.join(command)})")


def main(arguments):
    chosen = command_line(arguments)
    names = names_of(chosen)
    if chosen.p:
        require_answers(names)
    options = ["--stop"] * chosen.stop + (["--timeout", chosen.timeout] if chosen.timeout else [])
    if not all(map(is_here, names)):
        options += ["--hosts", ",".join(names)]
    program = ["sh", "-c", MASTER, NAME, chosen.b, *chosen.program] if chosen.b else chosen.program
    return RUN["main"](["-n", str(len(names)), *options, "--", *program])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
