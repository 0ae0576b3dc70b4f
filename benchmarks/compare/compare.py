#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures GGAS, NVSHMEM, NCCL and bare CUDA on the same GPUs in one run and prints the ratios.

Writes records.jsonl (every record of the run), failures.json (why cells are empty), comparison.json (the table) and comparison.svg into the output folder.
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
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "report"))

import joining  # noqa: E402
import results  # noqa: E402
import table  # noqa: E402
from quantities import ENERGY, NCCL_GROUPS, NVSHMEM_GROUPS, QUANTITIES  # noqa: E402

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


LIBRARY = {"GGAS": "ggas", "bare CUDA": "raw", "NVSHMEM": "nvshmem", "NCCL": "nccl", "Yaksa": "yaksa"}  # variants of their records
FAILURES = "failures.json"  # next to the records: why cells are empty


EXAMPLES = """examples:
  ./ggas compare                                       all GPUs of this computer, some minutes
  ./ggas compare --gpus 2 --quick --out report/two     two GPUs, fewer sizes of ours
  ./ggas compare --gpus 2 --energy --quick             joules of barriers, allreduces, alltoalls and puts, 5 minutes
  ./ggas compare --records docs/results/compare-4.jsonl    the table of a run that was recorded: needs no GPU

Libraries that were not found when this was built leave their column empty: docs/comparison.md says where they are looked for.
Exit status: 0 done, 1 a program failed or its data were wrong, 2 bad input, 77 no GPU."""


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""


def run(name, command):
    """Runs a program; its exit status, what it printed, and why it failed (empty: it did not). Its messages go to the terminal when it has ended."""
    begin = time.monotonic()
    print(f"compare: {name} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryFile("w+", errors="replace") as messages:
        try:
            done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, stderr=messages, text=True, timeout=TIMEOUT_S, check=False)
            status, out, why = done.returncode, done.stdout, f"exit status {done.returncode}" if done.returncode not in (0, NO_GPU) else ""
        except subprocess.TimeoutExpired as late:
            status, out, why = 1, (late.stdout or b"").decode(errors="replace"), f"no end after {TIMEOUT_S} s"
        messages.seek(0)
        reported = messages.read()
    sys.stderr.write(reported)
    if why:
        print(f"compare: {name}: {why}", file=sys.stderr)
    print(f"compare: {name}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return (status if status >= 0 else 1), out, f"{name}: {why}{last_line(reported)}" if why else ""  # below 0: it died of a signal


def ours(energy):
    """What our program is asked for."""
    chosen = [q for q in QUANTITIES if (q.benchmark == ENERGY) == energy]
    loads = dict.fromkeys(q.ours[0] for q in chosen) if energy else ()
    return [*dict.fromkeys(q.benchmark for q in chosen), *(word for load in loads for word in ("--load", load))]


def groups(name, energy):
    """Of another library's program, each measured in a process of its own; "": all that it has."""
    if energy:
        return (ENERGY,) if name in ("NVSHMEM", "NCCL") else ()
    return {"NVSHMEM": NVSHMEM_GROUPS, "NCCL": NCCL_GROUPS}.get(name, ("",))


def measure_ours(program, arguments, out):
    file = out / "ggas.jsonl"
    file.unlink(missing_ok=True)
    names = ours(arguments.energy)
    nodes = ["--nodes", arguments.gpus] if arguments.gpus else []
    command = [program, *names, *nodes, *(["--quick"] if arguments.quick else []), "--no-report", "--json", file]
    status, _, why = run("GGAS", [str(word) for word in command])
    records = results.read(file) if file.exists() and file.stat().st_size else []
    file.unlink(missing_ok=True)
    yield "", status, records, why


def measure_other(name, program, gpus, energy):
    """Group by group; what a group printed before it failed stands."""
    for group in groups(name, energy):
        words = [group] if group else []
        status, text, why = run(" ".join([name, *words]), [str(program), str(gpus), *words])
        lines = text.splitlines(keepends=True)
        if why and lines and not lines[-1].endswith("\n"):
            lines.pop()  # cut short
        yield group, status, results.parse((line.rstrip("\n") for line in lines), program.name), why


def versions(arguments, place):
    """The programs of a library: that of its first version, and those of others that were built next to it."""
    first = arguments.programs / place
    return [first, *sorted(first.parent.glob(f"{first.name}_[0-9]*"))]


def measure(arguments, out):
    """All records of the run, what failed, and the worst exit status."""
    worst, records, failures = 0, [], []
    for name, program in ((name, program) for name, place in PROGRAMS.items() for program in versions(arguments, place)):
        if not program.exists():
            print(f"compare: {name}: {program} does not exist (it is built only if its library is found): its column stays empty", file=sys.stderr)
            failures.append({"library": LIBRARY[name], "group": "", "why": f"{name}: {program.name} was not built"})
            continue
        for group, status, found, why in measure_ours(program, arguments, out) if name == "GGAS" else measure_other(name, program, arguments.gpus, arguments.energy):
            if status == NO_GPU:
                return NO_GPU, [], []
            worst, records = max(worst, status), records + found
            if why:
                failures.append({"library": LIBRARY[name], "group": group, "why": why})
    return worst, records, failures


def command_line(argv):
    parser = argparse.ArgumentParser(
        prog="ggas compare", description=__doc__.splitlines()[0], epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--programs", type=Path, default=BUILT, metavar="DIR", help="folder of the built benchmarks (default: build/release/benchmarks)")
    what.add_argument("--records", type=Path, nargs="+", metavar="FILE", help="measure nothing; join the records of these files")
    parser.add_argument("--gpus", type=int, default=0, metavar="N", help="how many GPUs; 0: all of this computer (default)")
    parser.add_argument("--energy", action="store_true", help="joules of the same calls instead of times")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and sizes of ours; the others are quick anyway")
    parser.add_argument("--out", type=Path, default=Path("report/compare"), metavar="DIR", help="output folder (default: %(default)s)")
    parser.add_argument("--parse-only", action="store_true", help=argparse.SUPPRESS)  # of the launcher, before it builds
    arguments = parser.parse_args(argv)
    if not 0 <= arguments.gpus <= MOST_GPUS:
        parser.error(f"--gpus: must be 0 (all) to {MOST_GPUS}, not {arguments.gpus}")
    return arguments


def failures_beside(files):
    """What failed in the runs of these files of records."""
    return [f for file in files if (file.parent / FAILURES).is_file() for f in json.loads((file.parent / FAILURES).read_text(encoding="utf-8"))]


def write(out, records, failures, tables):
    (out / FAILURES).write_text(json.dumps(failures, indent=1) + "\n", encoding="utf-8")
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
        status, records, failures = 0, [r for file in arguments.records for r in results.read(file)], failures_beside(arguments.records)
    else:
        only_writer(out)  # reported before anything is measured
        status, records, failures = measure(arguments, out)
    if status == NO_GPU:
        print("compare: no GPU here", file=sys.stderr)
        return NO_GPU
    tables = joining.join(records, failures)
    if arguments.records and not any(tables.values()):
        raise results.BadResults(f"{', '.join(map(str, arguments.records))}: no record of a quantity that is compared")
    if arguments.records:
        only_writer(out)
    write(out, records, failures, tables)
    for (platform, nodes), found in tables.items():
        members = [r for r in records if (r["platform"], r["nodes"]) == (platform, nodes)]
        print(table.text(platform, nodes, found, joining.libraries(members), joining.conditions(members)))
    print(f"written: {out}/records.jsonl, failures.json, comparison.json, comparison.svg", flush=True)
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
    except BrokenPipeError:  # the one that read the table has seen enough; the files are written
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
