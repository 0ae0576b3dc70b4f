#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the RTL of a unit in small ways, one at a time, and reports which changes its tests do not notice.

    ./ggas mutate [UNIT...] [--count N] [--named] [--list]

A unit is a table of mutants.toml next to this file: its files, its bench, mutants by name, and survivors with a reason.
Without UNIT: all of them. Exit status 1 if a mutant survives that is not listed there, or if one that is listed dies.
docs/mutation.md describes the operators and how to read the result.

All mutants are built into the models at once, each after a number, so that a unit is compiled once."""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys
import time
import tomllib

import operators

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RTL = ROOT / "rtl"
LIST = HERE / "mutants.toml"
BUILD = ROOT / "build" / "mutate"
SOURCES = BUILD / "rtl"
COUNT = 20  # of each unit
TIMEOUT_MS, GRACE_S = 4, 20  # a mutant that takes so many times as long as the unit, and this, hangs


@dataclasses.dataclass
class Chosen:
    number: int  # of all units' mutants
    file: str
    line: int
    mutant: operators.Mutant
    reason: str = ""  # why it may survive

    def __str__(self):
        return f"rtl/{self.file}:{self.line}: {' => '.join(self.mutant.key())}"


def choose(unit, count, first):
    """The mutants by name, and of the others those with the smallest hashes, so that few change with the RTL."""
    texts = {f: (RTL / f).read_text() for f in unit["files"]}
    reasons = {(s["file"], *squeezed(s["was"], s["now"])): s["because"] for s in unit.get("survivors", [])}
    named = []
    for file, before, after in unit.get("named", []):
        mutant = operators.named(texts[file], before, after)
        if mutant is None:
            sys.exit(f"mutate: {LIST.name}: '{before}' is in no expression of {file}; say what it is now")
        named.append((file, mutant))
    drawn = [(file, m) for file, text in texts.items() for m in operators.mutants(text)]
    drawn.sort(key=lambda d: hashlib.sha256(repr((d[0], d[1].key())).encode()).digest())
    once = {(f, m.start, m.key()): (f, m) for f, m in named + drawn[:count]}  # one by name may be drawn, too
    return [Chosen(first + i, f, texts[f].count("\n", 0, m.start) + 1, m, reasons.get((f, *m.key()), ""))
            for i, (f, m) in enumerate(once.values())]


def squeezed(*texts):
    return tuple(" ".join(t.split()) for t in texts)


def write(chosen):
    """The files with their mutants, and none of an earlier run."""
    texts = {}
    for file in {c.file for c in chosen}:
        mutants = {c.number: c.mutant for c in chosen if c.file == file}
        texts[SOURCES / file] = operators.with_mutants((RTL / file).read_text(), mutants)
    for path in SOURCES.rglob("*.sv"):
        if path not in texts:
            path.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def quietly(*command):
    result = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{result.stdout[-4000:]}\nmutate: {command[0]} failed (exit status {result.returncode})")


def build(benches, options):
    quietly("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DGGAS_MUTANTS={SOURCES}",
            f"-DGGAS_PYTHON={options.python}")
    quietly("ninja", "-C", BUILD, "-j", options.jobs, *sorted({pathlib.Path(b).name for b in benches}))


def run(unit, number, limit=None):
    """True if the tests pass with this mutant, or with none (0)."""
    binary = BUILD / "tests/rtl" / unit["bench"]
    command = [binary, "--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={unit.get('tests', '*')}"]
    try:
        return subprocess.run(command, env={**os.environ, "GGAS_MUTANT": str(number)}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=limit, cwd=binary.parent).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def mutate(name, unit, chosen, jobs):
    """Runs all mutants of a unit and prints what came of them; the number of complaints."""
    begin = time.monotonic()
    if not run(unit, 0):
        print(f"{name}: {unit['bench']} fails without a mutant; repair it first", flush=True)
        return 1
    limit = TIMEOUT_MS * (time.monotonic() - begin) + GRACE_S
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        survives = list(pool.map(lambda c: run(unit, c.number, limit), chosen))
    complaints = 0
    for c, alive in zip(chosen, survives):
        complaints += alive != bool(c.reason)
        if alive:
            print(f"{name}: survives{f', as {c.reason}' if c.reason else ''}: {c}")
        elif c.reason:
            print(f"{name}: dies, but is listed as a survivor: {c}")
    print(f"{name}: {len(chosen) - sum(survives)} of {len(chosen)} mutants killed", flush=True)
    return complaints


def main():
    args = argparse.ArgumentParser(prog="./ggas mutate", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("units", nargs="*", metavar="UNIT", help="tables of mutants.toml")
    args.add_argument("--count", type=int, default=COUNT,
                      help=f"mutants of a unit beside those by name (default {COUNT})")
    args.add_argument("--named", action="store_true", help="only those by name")
    args.add_argument("--list", action="store_true", help="only print them")
    args.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    args.add_argument("--python", default=sys.executable, help=argparse.SUPPRESS)
    options = args.parse_args()
    if options.count < 0 or options.jobs < 1:
        args.error("--count must be 0 or more, --jobs 1 or more")
    units = tomllib.loads(LIST.read_text())
    unknown = [u for u in options.units if u not in units]
    if unknown:
        args.error(f"no unit named {', '.join(unknown)}; there are {', '.join(units)}")
    names = options.units or list(units)
    chosen = {n: choose(units[n], 0 if options.named else options.count, 1 + 1000 * i) for i, n in enumerate(names)}
    if options.list:
        print("\n".join(f"{n}: {c}" for n in names for c in chosen[n]))
        return
    write([c for n in names for c in chosen[n]])
    build([units[n]["bench"] for n in names], options)
    complaints = sum([mutate(n, units[n], chosen[n], options.jobs) for n in names])
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
