#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line, toggle and functional coverage of the hand-written RTL.

    tests/rtl/coverage.py [--build DIR] [--jobs N] [--least LINES TOGGLES] [--missing [FILE]] [--keep] [--bench NAME]
                          [--no-toggles]

Builds the RTL tests with coverage, runs them, merges the counts with verilator_coverage and prints a table by file; the same as
JSON, with everything not covered, goes to coverage.json in the build folder. A line, a bit or a functional point
(tests/rtl/points) counts as covered if it is in any instance of its module and at any datapath width. Exclusions, each
with its reason, are in coverage_exclusions.txt next to this file. Exit status 1 if lines or toggles are below the bar, or a
functional point was not reached."""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXCLUSIONS = HERE / "coverage_exclusions.txt"
POINTS = HERE / "points"
# Every bench of a unit, and the whole NIC at 64, 256 and 512 bit. What takes a million rounds adds nothing to the points covered.
BENCHES = ("common/bricks_test", "link/link_test", "net/net_test", "net/links_test", "coll/coll_test", "coll/coll_alu_test", "hostif/rtl_hostif_test",
           "smfu/rtl_smfu_test", "regs/rtl_regs_test", "atu/rtl_atu_test", "velo/rtl_velo_test", "rma/read/rtl_rma_read_test", "rma/target/rtl_rma_target_test",
           "rma/target/rtl_rma_answer_test", "rma/atomic/rtl_rma_atomic_test", "rma/notify/rtl_rma_notify_test",
           "rma/status/rtl_rma_status_test", "rma/front/rtl_rma_front_test", "rma/requester/rtl_rma_requester_test",
           "rma/fetch/rtl_rma_fetch_test", "rma/responder/rtl_rma_responder_test", "nic_top/nic_top_test")
SKIPPED = "*OneInAThousandFlits*:Model.*:*Long*:*RmaEightMegabytes*:*RmaBorderAll*/3:*RmaRandom*/4"
TOGGLE, LINE, POINT = "toggle", "line", "point"
KINDS = (LINE, TOGGLE, POINT)


def run(*command, **kwargs):
    print("+", " ".join(str(c) for c in command), flush=True)
    result = subprocess.run([str(c) for c in command], **kwargs)
    if result.returncode:
        sys.exit(f"{command[0]}: exit status {result.returncode}")
    return result


def build(*command):
    """Runs a long command without its output; the end of it if it failed."""
    print("+", " ".join(str(c) for c in command), flush=True)
    result = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{result.stdout[-3000:]}{command[0]}: exit status {result.returncode}")


def test_names(binary):
    suite, names = "", []
    listing = subprocess.run([binary, "--gtest_list_tests", f"--gtest_filter=-{SKIPPED}"], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return names


def merge(files, out):
    """Adds counts to `out` with Verilator's own tool; the many small files go."""
    inputs = [str(f) for f in files] + ([str(out)] if out.exists() else [])
    if files:
        subprocess.run(["verilator_coverage", "--write", str(out), *inputs], check=True, stdout=subprocess.DEVNULL)
    for f in files:
        f.unlink()


def run_test(binary, name, out, lock):
    """Runs one test and adds its counts to `out`; returns its output if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, GGAS_COVERAGE_DIR=folder)
        test = subprocess.run([binary, f"--gtest_filter={name}"], env=env, capture_output=True, text=True)
        if test.returncode:
            return f"{name} failed:\n{test.stdout[-3000:]}"
        with lock:
            merge(sorted(pathlib.Path(folder).glob("*.dat")), out)
    return ""


def collect(binary, out, jobs):
    """Runs test by test, so the counts on disk stay small; adds them to `out`."""
    names, lock = test_names(binary), threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(run_test, binary, name, out, lock): name for name in names}
        for i, done in enumerate(concurrent.futures.as_completed(running), 1):
            print(f"\r[{i}/{len(names)}] {running[done]:<90.90}", end="", flush=True)
            if done.result():
                pool.shutdown(cancel_futures=True)
                sys.exit("\n" + done.result())
    print()


def exclusions():
    rules = []
    for number, line in enumerate(EXCLUSIONS.read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = re.fullmatch(r"(\S+)\s+(line|toggle|point)\s+(\S+)\s+--\s+(.+)", text)
        if not match:
            sys.exit(f"{EXCLUSIONS}:{number}: want 'file kind pattern -- reason', got '{text}'")
        rules.append(match.groups())
    return rules


def kind_of(page):
    """The kind of a record of Verilator's; None: of no interest."""
    for prefix, kind in (("v_toggle", TOGGLE), ("v_line", LINE), ("v_branch", LINE), ("v_user", POINT)):
        if page.startswith(prefix):
            return kind
    return None


def source_of(name):
    """The RTL file to which a record belongs: a functional point counts for the module that it watches."""
    path = pathlib.Path(name)
    if path.parent.name != POINTS.name:
        return os.path.relpath(name, ROOT) if path.is_absolute() else name
    return next((str(f.relative_to(ROOT)) for f in ROOT.glob(f"rtl/**/{path.name}")), name)


def points(path):
    """(file, kind, line, what) -> count, over all instances and widths."""
    counts = collections.Counter()
    for raw in path.read_text(errors="replace").splitlines():
        match = re.fullmatch(r"C '(.*)' (\d+)", raw)
        if not match:
            continue
        fields = dict(f.split("\x02", 1) for f in match.group(1).split("\x01") if "\x02" in f)
        kind = kind_of(fields.get("page", ""))
        if kind:
            counts[source_of(fields["f"]), kind, int(fields["l"]), fields.get("o", "")] += int(match.group(2))
    return counts


def matches(rule, name, kind, line, what):
    files, rule_kind, pattern, _ = rule
    if kind != rule_kind or not fnmatch.fnmatch(name, files):
        return False
    if kind == LINE:
        return pattern == str(line)
    if kind == POINT:
        return pattern == what
    signal, bit = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", what).groups()
    wanted, _, bits = pattern.partition(":")
    if not fnmatch.fnmatch(signal.replace("[", "(").replace("]", ")"), wanted):
        return False
    low, _, high = bits.partition("-")
    return not bits or (bit is not None and int(low) <= int(bit) <= int(high or low))


def hand_written(name):
    return name.startswith("rtl/") and name.endswith(".sv")


def report(counts, rules, missing, whole, out):
    table = collections.defaultdict(lambda: {k: [0, 0] for k in KINDS})
    used, excluded, open_points = set(), 0, []
    for (name, kind, line, what), count in sorted(counts.items()):
        if not hand_written(name):
            continue
        hits = [] if count else [r for r in rules if matches(r, name, kind, line, what)]
        if hits:
            used.update(hits)
            excluded += 1
            continue
        table[name][kind][0] += count > 0
        table[name][kind][1] += 1
        if count:
            continue
        open_points.append({"file": name, "line": line, "kind": kind, "what": what})
        if missing is not None and fnmatch.fnmatch(name, f"*{missing}*"):
            print(f"not covered: {name}:{line} {kind} {what}")
    print(f"\n{'file':<34}{'lines':>16}{'toggles':>20}{'points':>20}")
    total = {k: [0, 0] for k in KINDS}
    for name, row in sorted(table.items()):
        print(f"{name:<34}{cells(row)}")
        for k in total:
            total[k] = [a + b for a, b in zip(total[k], row[k])]
    print(f"{'all':<34}{cells(total)}")
    print(f"{excluded} points excluded by {EXCLUSIONS.name}")
    for rule in rules:
        if whole and rule not in used:
            print(f"exclusion without effect: {' '.join(rule[:3])}")
    reached = {k: percent(*total[k]) for k in total}
    files = [{"file": name, **{k: dict(zip(("covered", "points"), row[k])) for k in row}} for name, row in sorted(table.items())]
    out.write_text(json.dumps({"percent": reached, "excluded": excluded, "files": files, "not_covered": open_points}) + "\n")
    return reached


def cells(row):
    return "".join(f"{row[k][0]:>6}/{row[k][1]:<6}{percent(*row[k]):5.1f} %" if row[k][1] else " " * 20 for k in KINDS)


def percent(hit, all_points):
    return 100.0 * hit / all_points if all_points else 100.0


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", type=pathlib.Path,
                      help="build folder (build/coverage; with --no-toggles build/coverage-lines)")
    args.add_argument("--jobs", type=int, default=os.cpu_count(), help="parallel compiler runs and tests")
    args.add_argument("--least", type=float, nargs=2, metavar=("LINES", "TOGGLES"), default=(95.0, 90.0),
                      help="percent that must be covered (95 90)")
    args.add_argument("--missing", nargs="?", const="", help="list the points not covered, of files whose name holds the argument")
    args.add_argument("--bench", metavar="NAME", help="run only the benches whose path holds NAME, as link/; of the others earlier counts are taken")
    args.add_argument("--no-toggles", action="store_true",
                      help="count lines and functional points only: models build in a part of the time")
    args.add_argument("--keep", action="store_true", help="run nothing: take the counts that are there")
    opts = args.parse_args()
    opts.build = opts.build or ROOT / ("build/coverage-lines" if opts.no_toggles else "build/coverage")
    if opts.jobs < 1:
        args.error(f"--jobs: must be 1 or more, not {opts.jobs}")
    least = {**dict(zip((LINE, TOGGLE), opts.least)), POINT: 100.0}
    for percentage in opts.least:
        if not 0 <= percentage <= 100:
            args.error(f"--least: must be percentages, not {percentage:g}")
    benches = [b for b in BENCHES if (opts.bench or "") in b]
    if not benches:
        args.error(f"--bench: no bench has '{opts.bench}' in its path: {', '.join(BENCHES)}")
    data = {b: opts.build / "coverage" / (b.replace("/", "-") + ".dat") for b in BENCHES}
    if opts.keep and not any(d.is_file() for d in data.values()):
        args.error(f"--keep: there are no counts of an earlier run ({opts.build / 'coverage'})")
    if not opts.keep:
        python = ROOT / ".venv/bin/python"
        run("cmake", "--preset", "coverage", "-S", ROOT, "-B", opts.build, f"-DGGAS_PYTHON={python if python.exists() else sys.executable}",
            f"-DGGAS_COVERAGE_TOGGLES={'OFF' if opts.no_toggles else 'ON'}", stdout=subprocess.DEVNULL, cwd=ROOT)
        build("ninja", "-C", opts.build, f"-j{opts.jobs}", *(pathlib.Path(b).name for b in benches))
        (opts.build / "coverage").mkdir(exist_ok=True)
        for bench in benches:
            data[bench].unlink(missing_ok=True)
            collect(opts.build / "tests/rtl" / bench, data[bench], opts.jobs)
    there = [d for d in data.values() if d.is_file()]
    counts = collections.Counter()
    for d in there:
        counts.update(points(d))  # a sum would leave out what was never reached
    whole = len(there) == len(data)
    reached = report(counts, exclusions(), opts.missing, whole and not opts.no_toggles, opts.build / "coverage.json")
    if not whole:
        print(f"counts of {len(there)} of {len(data)} benches: the bars are not judged")
        return 0
    for kind, value in reached.items():
        if value < least[kind]:
            print(f"{kind} coverage {value:.1f} % is below {least[kind]:g} %")
    return int(any(value < least[kind] for kind, value in reached.items()))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
