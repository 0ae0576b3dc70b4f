#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks once for every value of one or more parameters, and puts all records into one file.

A parameter is TABLE.KEY of the platform file or an option of `./ggas bench` with a value (nodes, seed, platform, nic,
topology, gpus, timeout, grid, steps, table). All points are checked before the first one runs. Points that are complete in the folder are not run again, so an interrupted sweep goes on.
"""

import argparse
import difflib
import itertools
import json
import os
import sys
from pathlib import Path

from points import BAD_INPUT, OF_ONE_RUN, BadInput, as_program, check, find_slurm, points_of, refuse, run_here, run_slurm
from ranges import BadRange, read_over

FAILED = 1
OPTIONS = ("nodes", "seed", "platform", "nic", "topology", "gpus", "timeout", "grid", "steps", "table")
MOST_POINTS = 10_000

EXAMPLES = """ranges:
  KEY=A,B,C          these values
  KEY=FROM:TO:STEP   FROM, FROM + STEP, ... up to TO
  KEY=FROM:TO:xN     FROM, FROM * N, ... up to TO

examples:
  ./ggas sweep --over link.latency_ns=100:1000:100 -- store_latency --quick
  ./ggas sweep --over nodes=2:16:x2 --over nic=rtl,model -- barrier --quick
  ./ggas sweep --over gpu.op_cycles=45,90,180 --jobs 2 --out sweeps/op -- store_latency load_latency
  ./ggas sweep --over link.latency_ns=100:2000:x2 --slurm "--partition=batch --time=30" -- allreduce --nodes 8

Result: OUT/results.jsonl, every record with the swept values among its `params`, and OUT/index.html with a plot of each
metric over the first parameter.
Exit status: 0 every point ran, 1 one failed, 2 bad input, 130 interrupted (run the same command again to go on)."""


def command_line(argv):
    parser = argparse.ArgumentParser(prog="ggas sweep", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--over", action="append", required=True, metavar="KEY=RANGE", help="a parameter and its values; repeatable: all combinations")
    parser.add_argument("--out", type=Path, default=Path("sweep"), metavar="FOLDER", help="results (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="points at a time (default: %(default)s, the processors)")
    parser.add_argument("--slurm", metavar="OPTIONS", help="run the points as a job array; OPTIONS are those of sbatch")
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)  # ./ggas gives it
    parser.add_argument("arguments", nargs="+", metavar="BENCH", help="after --: benchmarks and options of ./ggas bench")
    a = parser.parse_args(argv)
    if a.jobs < 1:
        parser.error(f"--jobs {a.jobs}: must be 1 or more")
    refuse(parser, a.arguments, OF_ONE_RUN, "it is of one run; the results of a sweep are in its --out folder")
    return a


def parameters(texts):
    """Pairs of key and values."""
    found = []
    for text in texts:
        key, values = read_over(text)
        if key in dict(found):
            raise BadInput(f"--over {key}: given twice")
        if "." not in key and key not in OPTIONS:
            near = difflib.get_close_matches(key, OPTIONS, 1, 0)[0]
            raise BadInput(f"--over {key}: expected TABLE.KEY of the platform file or one of {', '.join(OPTIONS)}; the nearest is {near}")
        found.append((key, values))
    return found


def combinations(swept, arguments):
    """Of every point its values and the arguments of its run."""
    total = 1
    for _, values in swept:
        total *= len(values)
    if total > MOST_POINTS:
        raise BadInput(f"{total} points; at most {MOST_POINTS} can be run")
    for chosen in itertools.product(*(values for _, values in swept)):
        values = dict(zip((key for key, _ in swept), chosen))
        options = [word for key, v in values.items() for word in (["--set", f"{key}={v}"] if "." in key else [f"--{key}", str(v)])]
        yield values, [*arguments, *options]


def merge(points, out):
    """All records, each with the swept values among its parameters."""
    lines = []
    for p in points:
        for line in p.file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            record["params"] = p.values | record["params"]
            lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    new = out / "results.new"
    new.write_text("".join(lines), encoding="utf-8")
    new.replace(out / "results.jsonl")


def finish(points, swept, out):
    from page import write_page  # matplotlib takes a second to load: only when there is something to draw

    failed = [p for p in points if not p.done]
    for p in failed:
        print(f"sweep: {p.name} failed: {p.reason}", file=sys.stderr)
    done = [p for p in points if p.done]
    if done:
        merge(done, out)
        write_page(out, [key for key, _ in swept])
        print(f"{len(done)} of {len(points)} points; {out / 'results.jsonl'}, {out / 'index.html'}")
    return FAILED if failed else 0


def run(missing, a):
    if not missing:
        return
    if a.slurm is not None:
        find_slurm()
    check(missing, a.jobs)
    if a.slurm is None:
        run_here(missing, a.jobs)
    else:
        run_slurm(missing, a)


def main(argv=None):
    a = command_line(argv)
    try:
        swept = parameters(a.over)
        points = points_of(combinations(swept, a.arguments), a)
        run([p for p in points if not p.done], a)
        return finish(points, swept, a.out)
    except (BadInput, BadRange) as e:
        print(f"sweep: {e}", file=sys.stderr)
        return BAD_INPUT
    except OSError as e:
        print(f"sweep: {e.filename}: {e.strerror}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    as_program("sweep", main, "points")
