# SPDX-License-Identifier: Apache-2.0
"""Runs every benchmark at full size on every simulated platform and writes a table of status and wall-clock time.

    python benchmarks/full_size.py build/release/benchmarks/ggas-bench --out docs/full-size.md

    python benchmarks/full_size.py build/release/benchmarks/ggas-bench --out docs/full-size.md allreduce himeno

runs those two again and keeps the other rows of the page, also after it was stopped. Exit status 1 if a run did not
end with status 0. One run at a time: their times are those of one core."""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLATFORMS = ["galibier-k20", "modern"]
HEADER = """# Every benchmark at full size

Purpose: that every benchmark of `ggas-bench` ends well at full size (without `--quick` or `--middle`) on both simulated
platforms, and how long that takes. Simulated: provider sim, NIC rtl, 2 nodes. Made by `python benchmarks/full_size.py
build/release/benchmarks/ggas-bench --out docs/full-size.md`; the tests run each quick (`system.quick.*`), the
long ones in a middle size (`system.middle.*`).

{facts}

Not run: {missing}.

| benchmark | platform | status | wall-clock time | processor time | simulated time | records |
|---|---|---|---|---|---|---|
"""


def machine():
    """The processor's name and how many of them."""
    info = Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    model = re.search(r"model name\s*: (.*)", info)
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} processors"


def benchmarks(bench):
    text = subprocess.run([bench, "list"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^  (\w+)  ", text.partition("\nbenchmarks\n")[2], re.MULTILINE)
    return [n for n in names if n != "trace"]  # it runs a file


def cpu_seconds():
    """Of programs that have ended: what the wall-clock time is where nothing else runs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(bench, name, platform_name, seed):
    """A row of the table, and whether the run ended well."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        begin, cpu_before = time.monotonic(), cpu_seconds()
        command = [bench, name, "--platform", platform_name, "--seed", str(seed), "--no-report", "--json", str(out)]
        done = subprocess.run(command, capture_output=True, text=True)
        wall, cpu = time.monotonic() - begin, cpu_seconds() - cpu_before
        records = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    simulated = sum(r["sim"]["sim_ns"] for r in records) / 1e6
    row = (f"| `{name}` | {platform_name} | {done.returncode} | {wall:.1f} s | {cpu:.1f} s | {simulated:.3g} ms "
           f"| {len(records)} |")
    return row, done.returncode == 0


SHARED = """Other work ran on the machine at the same time: the processor time is about what a run takes alone."""
ROW = re.compile(r"^\| `(\w+)` \| (\S+) \| (\S+) \| (\S+) s \| (\S+) s \|.*$", re.MULTILINE)


def rows_of(page):
    """(benchmark, platform) -> row of a page that was written before."""
    return {(m[1], m[2]): m[0] for m in ROW.finditer(page.read_text())} if page.exists() else {}


def write(page, facts, wanted, rows):
    """The page with the rows that there are, in the order of what is wanted."""
    there = [rows[w] for w in wanted if w in rows]
    wall, cpu = (sum(float(ROW.match(r)[n]) for r in there) for n in (4, 5))
    if wall > 1.2 * cpu:
        facts += "\n\n" + SHARED
    missing = ", ".join(f"`{name}` ({on})" for name, on in wanted if (name, on) not in rows) or "nothing"
    page.write_text(HEADER.format(facts=facts, missing=missing) + "".join(r + "\n" for r in there))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bench", help="the program ggas-bench")
    p.add_argument("--out", type=Path, required=True, help="the page to write")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("names", nargs="*", help="benchmarks to run; all if none is given")
    options = p.parse_intermixed_args()
    version = subprocess.run([options.bench, "--version"], capture_output=True, text=True).stdout.strip()
    facts = f"Machine: {machine()}. Seed {options.seed}. Version {version}."
    known = benchmarks(options.bench)
    if unknown := set(options.names) - set(known):
        p.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    wanted = [(name, on) for name in known for on in PLATFORMS]
    rows = rows_of(options.out) if options.names else {}
    good = True
    for name, on in wanted:
        if not options.names or name in options.names:
            rows[name, on], ok = run(options.bench, name, on, options.seed)
            good &= ok
            print(rows[name, on], flush=True)
            write(options.out, facts, wanted, rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
