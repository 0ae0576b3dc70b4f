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
import threading
import tomllib

import operators

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RTL = ROOT / "rtl"
LIST = HERE / "mutants.toml"
BUILD = ROOT / "build" / "mutate"
SOURCES = BUILD / "rtl"
COUNT = 20  # of each unit
# A test that takes so many times the processor time that it takes without a mutant, and these seconds, hangs. Its time by
# the clock, which depends on the machine's load, may be longer by the last factor.
TIMES, GRACE_S, LOAD = 4, 20, 10
LONGEST_S = 3000  # of a test without a mutant


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


def bench(unit):
    return BUILD / "tests/rtl" / unit["bench"]


def ran(unit, test, number, limit=None):
    """Seconds of processor time of a test with this mutant, or with none (0); None if it fails or hangs."""
    bounded = ["prlimit", f"--cpu={limit}"] if limit else []
    with subprocess.Popen([*bounded, bench(unit), "--gtest_brief=1", f"--gtest_filter={test}"], cwd=bench(unit).parent,
                          env={**os.environ, "GGAS_MUTANT": str(number)}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        end = threading.Timer(LOAD * limit if limit else LONGEST_S, process.kill)
        end.start()
        _, status, usage = os.wait4(process.pid, 0)
        end.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime if process.returncode == 0 else None


def tests_of(unit):
    """Names of the tests that the unit's mutants run with."""
    suite, names = "", []
    listed = subprocess.run([bench(unit), "--gtest_list_tests", f"--gtest_filter={unit.get('tests', '*')}"],
                            stdout=subprocess.PIPE, text=True, check=True)
    for line in listed.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return names


def survives(unit, tests, number):
    """Whether all tests pass with this mutant. The fastest ones are first: most mutants die by one of them."""
    return all(ran(unit, test, number, round(TIMES * seconds) + GRACE_S) is not None for seconds, test in tests)


def mutate(name, unit, chosen, jobs):
    """Runs all mutants of a unit and prints what came of them; the number of complaints."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        names = tests_of(unit)
        times = list(pool.map(lambda test: ran(unit, test, 0), names))
        if None in times or not times:
            failing = [n for n, t in zip(names, times) if t is None]
            print(f"{name}: {unit['bench']} fails without a mutant; repair it first: {' '.join(failing) or 'no tests'}",
                  flush=True)
            return 1
        tests = sorted(zip(times, names))
        print(f"{name}: {len(tests)} tests, {sum(times):.0f} s of processor time without a mutant, the longest "
              f"{tests[-1][1]} {tests[-1][0]:.0f} s", flush=True)
        alive = list(pool.map(lambda c: survives(unit, tests, c.number), chosen))
    complaints = 0
    for c, lives in zip(chosen, alive):
        complaints += lives != bool(c.reason)
        if lives:
            print(f"{name}: survives{f', as {c.reason}' if c.reason else ''}: {c}")
        elif c.reason:
            print(f"{name}: dies, but is listed as a survivor: {c}")
    print(f"{name}: {len(chosen) - sum(alive)} of {len(chosen)} mutants killed", flush=True)
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
