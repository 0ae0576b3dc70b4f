#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the whole study: the thesis suite on clusters of 2, 4, 8 and 12 nodes, in one report.

Two nodes have the RTL of the NIC and run every benchmark. More nodes have its model, and run the study's benchmarks in
which all nodes take part, with 2 rounds of a point: its others measure between two nodes. Each benchmark of each
cluster is a run of its own. Runs that are complete in the folder are not repeated, so an interrupted study goes on.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from points import BAD_INPUT, OF_ONE_RUN, BadInput, as_program, check, points_of, processor_seconds, refuse, run_here

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))
import report  # noqa: E402

FAILED = 1
LONGEST = 8  # runs that the last line names
CLUSTERS = ((2, "rtl"), (4, "model"), (8, "model"), (12, "model"))
ROUNDS = 2  # of a point, with more than two nodes; simulated rounds differ little from each other
OF_ALL_NODES = {"barrier", "reduce", "allreduce", "broadcast", "allgather", "alltoall", "gather", "scatter", "himeno", "global_reduction", "random_access", "random_stores"}
OWN = ("--nodes", "--nic", "--provider", "--topology", "--gpus")  # what the study itself says
OF_BENCHMARK = {"himeno": ("grid", "steps"), "random_access": ("table",)}  # options that no other takes

EXAMPLES = """examples:
  ./ggas bench study --quick                       minutes
  ./ggas bench study --platform modern --jobs 4
  ./ggas bench study --set software=original --out original

Other options go to every run (./ggas bench --help); those of one benchmark, --grid, --steps and --table, to its runs.
All options are checked before the first run begins.
Result: OUT/results.jsonl and OUT/index.html.
Exit status: 0 every run ended well, 1 one failed, 2 bad input, 130 interrupted (run the same command again to go on)."""


def command_line(argv):
    parser = argparse.ArgumentParser(prog="ggas bench study", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--out", type=Path, default=Path("study"), metavar="FOLDER", help="results (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="runs at a time (default: %(default)s, the processors)")
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)  # ./ggas gives it
    for options in OF_BENCHMARK.values():
        for option in options:
            parser.add_argument(f"--{option}", help=argparse.SUPPRESS)
    a, a.options = parser.parse_known_args(argv)
    if a.jobs < 1:
        parser.error(f"--jobs {a.jobs}: must be 1 or more")
    refuse(parser, a.options, OWN, "the study says it itself; ./ggas bench thesis takes it")
    refuse(parser, a.options, OF_ONE_RUN, "it is of one run; the results of the study are in its --out folder")
    return a


def suite(program):
    """Names of the suite's benchmarks, in its order; `trace` needs a file and is in no suite."""
    text = subprocess.run([program, "list"], check=True, capture_output=True, text=True).stdout
    return [name for name in re.findall(r"^  (\w+)  ", text.split("\nbenchmarks\n")[1], re.MULTILINE) if name != "trace"]


def check_words(a, names):
    for word in a.options:
        if word in names:
            raise BadInput(f"{word}: the study runs every benchmark; ./ggas bench {word} runs this one")


def options_of(name, a):
    own = {option: getattr(a, option) for option in OF_BENCHMARK.get(name, ())}
    return [*a.options, *(f"--{option}={value}" for option, value in own.items() if value is not None)]


def runs(a):
    """Of every run what distinguishes it and the arguments of ggas-bench."""
    names = suite(a.program)
    check_words(a, names)
    for nodes, nic in CLUSTERS:
        for name in names:
            if nodes == 2 or name in OF_ALL_NODES:
                few = [] if nodes == 2 or any(word.split("=")[0] == "--rounds" for word in a.options) else [f"--rounds={ROUNDS}"]
                yield {"nodes": nodes, "benchmark": name}, [name, f"--nodes={nodes}", f"--nic={nic}", *few, *options_of(name, a)]


def longest(points):
    """The runs that took most of it, for a line of text."""
    most = sorted((p for p in points if p.seconds), key=lambda p: -p.seconds)[:LONGEST]
    return "; most of it: " + ", ".join(f"{p.name} {p.seconds / 60:.1f}" for p in most) if most else ""


def finish(points, out):
    failed = [p for p in points if not p.done]
    for p in failed:
        print(f"study: {p.name} failed: {p.reason}", file=sys.stderr)
    done = [p for p in points if p.done]
    if done:
        results = out / "results.jsonl"
        results.write_text("".join(p.file.read_text(encoding="utf-8") for p in done), encoding="utf-8")
        if report.main([str(results), "--out", str(out)]) != 0:
            return FAILED
        print(f"{len(done)} of {len(points)} runs; {results}, {out / 'index.html'}")
        print(f"processor time of what ran now: {processor_seconds() / 60:.1f} minutes{longest(points)}")
    return FAILED if failed else 0


def main(argv=None):
    a = command_line(argv)
    try:
        points = points_of(runs(a), a)
        missing = [p for p in points if not p.done]
        check(missing, a.jobs)
        run_here(missing, a.jobs)
        return finish(points, a.out)
    except BadInput as e:
        print(f"study: {e}", file=sys.stderr)
        return BAD_INPUT
    except OSError as e:
        print(f"study: {e.filename}: {e.strerror}", file=sys.stderr)
        return FAILED
    except subprocess.CalledProcessError as e:
        print(f"study: {a.program} list: status {e.returncode}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    as_program("study", main, "runs")
