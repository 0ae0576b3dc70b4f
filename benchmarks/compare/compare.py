#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures GGAS, NVSHMEM, NCCL and bare CUDA on the same GPUs in one run and prints the ratios.

Writes records.jsonl (every record of the run), comparison.json (the table) and comparison.svg into the output folder.
docs/comparison.md says what is measured and how.
"""

import argparse
import errno
import fcntl
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "report"))

import joining  # noqa: E402
import results  # noqa: E402
import table  # noqa: E402
from quantities import QUANTITIES  # noqa: E402

BAD_INPUT, NO_GPU = 2, 77
MOST_GPUS = 64
TIMEOUT_S = 600  # of one program; each has time-outs of its own
BUILT = ROOT / "build" / "release" / "benchmarks"  # where `./ggas compare` builds them
PROGRAMS = {"GGAS": "cuda/ggas-bench-cuda", "bare CUDA": "compare/compare_raw", "NVSHMEM": "compare/compare_nvshmem", "NCCL": "compare/compare_nccl", "Yaksa": "compare/compare_yaksa"}


def environment():
    """The programs find NVSHMEM and NCCL where they were built; elsewhere in this Python's packages."""
    folders = []
    for package in ("nvidia.nvshmem", "nvidia.nccl"):
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        folders += [str(Path(f) / "lib") for f in (spec.submodule_search_locations if spec else [])]
    paths = [p for p in (os.environ.get("LD_LIBRARY_PATH"), *folders) if p]
    return os.environ | {"LD_LIBRARY_PATH": ":".join(paths)}


EXAMPLES = """examples:
  ./ggas compare                                       all GPUs of this computer, some minutes
  ./ggas compare --gpus 2 --quick --out report/two     two GPUs, fewer sizes of ours
  ./ggas compare --records docs/results/compare-4.jsonl    the table of a run that was recorded: needs no GPU

Libraries that were not found when this was built leave their column empty: docs/comparison.md says where they are looked for.
Exit status: 0 done, 1 a program failed or its data were wrong, 2 bad input, 77 no GPU."""


def run(name, command):
    """Runs a program; its exit status and what it printed. Messages of the program go to the terminal."""
    place, begin = list(PROGRAMS).index(name) + 1, time.monotonic()
    print(f"compare: [{place}/{len(PROGRAMS)}] {name} ...", file=sys.stderr, flush=True)
    try:
        done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        print(f"compare: {name}: no end after {TIMEOUT_S} s", file=sys.stderr)
        return 1, ""
    if done.returncode not in (0, NO_GPU):
        print(f"compare: {name}: exit status {done.returncode}", file=sys.stderr)
    print(f"compare: [{place}/{len(PROGRAMS)}] {name}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return (done.returncode if done.returncode >= 0 else 1), done.stdout  # below 0: it died of a signal


def measure_ours(program, arguments, out):
    file = out / "ggas.jsonl"
    file.unlink(missing_ok=True)
    names = list(dict.fromkeys(q.benchmark for q in QUANTITIES))
    nodes = ["--nodes", arguments.gpus] if arguments.gpus else []
    command = [program, *names, *nodes, *(["--quick"] if arguments.quick else []), "--no-report", "--json", file]
    status, _ = run("GGAS", [str(word) for word in command])
    records = results.read(file) if file.exists() and file.stat().st_size else []
    file.unlink(missing_ok=True)
    return status, records


def measure_other(name, program, gpus):
    status, text = run(name, [str(program), str(gpus)])
    return status, results.parse(text.splitlines(), program.name)


def measure(arguments, out):
    """All records of the run and the worst exit status."""
    worst, records = 0, []
    for name, place in PROGRAMS.items():
        program = arguments.programs / place
        if not program.exists():
            print(f"compare: {name}: {program} is not there (built only where what it needs is): its column stays empty", file=sys.stderr)
            continue
        status, found = measure_ours(program, arguments, out) if name == "GGAS" else measure_other(name, program, arguments.gpus)
        if status == NO_GPU:
            return NO_GPU, []
        worst, records = max(worst, status), records + found
    return worst, records


def command_line(argv):
    parser = argparse.ArgumentParser(
        prog="ggas compare", description=__doc__.splitlines()[0], epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--programs", type=Path, default=BUILT, metavar="DIR", help="folder of the built benchmarks (default: build/release/benchmarks)")
    what.add_argument("--records", type=Path, nargs="+", metavar="FILE", help="measure nothing; join the records of these files")
    parser.add_argument("--gpus", type=int, default=0, metavar="N", help="how many GPUs; 0: all of this computer (default)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and sizes of ours; the others are quick anyway")
    parser.add_argument("--out", type=Path, default=Path("report/compare"), metavar="DIR", help="output folder (default: %(default)s)")
    parser.add_argument("--parse-only", action="store_true", help=argparse.SUPPRESS)  # of the launcher, before it builds
    arguments = parser.parse_args(argv)
    if not 0 <= arguments.gpus <= MOST_GPUS:
        parser.error(f"--gpus: must be 0 (all) to {MOST_GPUS}, not {arguments.gpus}")
    return arguments


def write(out, records, tables):
    (out / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    rows = [{"platform": p, "nodes": n, **row} for (p, n), found in tables.items() for row in found]
    (out / "comparison.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    table.plot(tables, out / "comparison.svg")


def only_writer(folder):
    """Makes the folder; a descriptor that keeps it to this run until it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(errno.EBUSY, "is being written by another run: wait for its end or name another (--out)", str(folder)) from None
    return descriptor


def join(arguments):
    """Measures or reads; writes the files, then prints the table."""
    out = arguments.out
    if arguments.records:
        status, records = 0, [r for file in arguments.records for r in results.read(file)]
    else:
        only_writer(out)  # reported before anything is measured
        status, records = measure(arguments, out)
    if status == NO_GPU:
        print("compare: no GPU here", file=sys.stderr)
        return NO_GPU
    tables = joining.join(records)
    if arguments.records and not any(tables.values()):
        raise results.BadResults(f"{', '.join(map(str, arguments.records))}: no record of a quantity that is compared")
    if arguments.records:
        only_writer(out)
    write(out, records, tables)
    for (platform, nodes), found in tables.items():
        members = [r for r in records if (r["platform"], r["nodes"]) == (platform, nodes)]
        print(table.text(platform, nodes, found, joining.libraries(members), joining.conditions(members)))
    print(f"written: {out}/records.jsonl, comparison.json, comparison.svg", flush=True)
    return status


def main(argv=None):
    arguments = command_line(argv)
    if arguments.parse_only:
        return 0
    try:
        return join(arguments)
    except results.BadResults as e:
        print(f"compare: {e}", file=sys.stderr)
        return BAD_INPUT if arguments.records else 1
    except BrokenPipeError:  # whoever read the table has seen enough; the files are written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as e:
        print(f"compare: {e.filename}: {e.strerror}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("compare: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
