#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the published comparison again from its records: tables, lists, README's excerpt and plots; no one copies figures.

Each FILE holds records of `./ggas compare`; those of N GPUs become docs/results/compare-N.jsonl, and failures.json
next to the FILE, which says why cells are empty, becomes compare-N.failures.json. Without a FILE the records that are there are
published again. What is written stands between <!-- name --> and <!-- end of name -->.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks" / "report"), str(ROOT / "benchmarks" / "compare")]

import joining  # noqa: E402
import pictures  # noqa: E402
import results  # noqa: E402
import table  # noqa: E402

RESULTS = ROOT / "docs" / "results"
GPUS = (4, 2)  # whose tables are published
BEHIND = 1.03  # a ratio above it is reported
EXCERPT_GPUS = 2
EXCERPT = (
    "store ping-pong, 1 thread", "put + signal, 8 B, one block", "tagged put + take, 8 B, one block", "barrier with quiet, one block a GPU",
    "allreduce, graph node, 1 float", "allreduce, graph node, 256 Ki floats", "allreduce, graph node, 32 Mi floats", "alltoall, graph node, 1 Mi floats",
    "allreduce by a block, 1 float", "allreduce by a grid, 16 Ki floats", "broadcast by a block, 64 floats", "RandomAccess, any method",
    "put in a kernel, 1 GiB, all SMs", "get in a kernel, 1 GiB, at most 16 SMs", "8-byte puts of threads, all SMs",
)  # fmt: skip


def failures_file(gpus):
    return RESULTS / f"compare-{gpus}.failures.json"


def failures_of(gpus):
    file = failures_file(gpus)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def tables():
    """By number of GPUs: platform, rows, libraries, conditions."""
    found = {}
    for gpus in GPUS:
        records = results.read(RESULTS / f"compare-{gpus}.jsonl")
        ((platform, nodes), rows), = joining.join(records, failures_of(gpus)).items()  # fmt: skip
        if nodes != gpus:
            raise results.BadResults(f"compare-{gpus}.jsonl: records of {nodes} GPUs")
        found[gpus] = platform, rows, joining.libraries(records), joining.conditions(records)
    return found


def fenced(lines):
    return "\n".join(["```", *lines, "```"])


def full_table(gpus, platform, rows, libraries, conditions):
    return fenced(line for line in table.text(platform, gpus, rows, libraries, conditions).splitlines() if line and not line.startswith("Medians"))


def excerpt(_, rows, *__):
    """Without ratios and bars."""
    some = [row for row in rows if row["quantity"] in EXCERPT]
    columns = table.columns_of(some)
    head = ["quantity", *(title for _, title in columns)]
    return fenced(table.aligned([head, *(table.cells(row, columns)[: len(head)] for row in some)]))


def behind(gpus, rows):
    """Rows in which another library is faster by more than 3 %, with what bare CUDA needs."""
    lines = []
    for row in sorted(rows, key=lambda r: -(r["ratio"] or 0)):
        if (row["ratio"] or 0) <= BEHIND:
            continue
        others = ", ".join(f"{title} {table.human(row[key], row['unit'])}" for key, title in table.COLUMNS[1:] if row[key])
        lines.append(f"* {row['quantity']}: {100 * (row['ratio'] - 1):.0f} % (GGAS {table.human(row['ggas'], row['unit'])}; {others})")
    return "\n".join([f"{gpus} GPUs:", "", *(lines or ["* none"])])


def behind_in_words(found):
    """The same for README: names and percentages."""
    said = []
    for gpus, (_, rows, *_) in sorted(found.items()):
        late = sorted((row for row in rows if (row["ratio"] or 0) > BEHIND), key=lambda r: -r["ratio"])
        names = "; ".join(f"{row['quantity']} ({100 * (row['ratio'] - 1):.0f} %)" for row in late)
        compared, verb = sum(row["ratio"] is not None for row in rows), "is" if len(late) == 1 else "are"
        text = f"On {gpus} GPUs {len(late)} of {compared} rows {verb} slower than the best other library by more than 3 %"
        said.append(text + (f": {names}." if late else "."))
    return "\n".join(said)


def texts(found):
    """What stands between which marks of which page."""
    comparison = {f"table of {gpus} GPUs": full_table(gpus, *found[gpus]) for gpus in GPUS}
    comparison["rows behind"] = "\n\n".join(behind(gpus, found[gpus][1]) for gpus in GPUS)
    readme = {"excerpt": excerpt(*found[EXCERPT_GPUS]), "rows behind": behind_in_words(found)}
    return {ROOT / "docs" / "comparison.md": comparison, ROOT / "README.md": readme}


def replaced(page, name, text):
    """The page with the text between the marks of that name."""
    pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(\n<!-- end of {re.escape(name)} -->)", re.DOTALL)
    new, count = pattern.subn(lambda m: m[1] + text + m[2], page)
    if count != 1:
        raise results.BadResults(f"marks of '{name}': {count} of them, not 1")
    return new


def pages():
    """The pages as they must be, by path."""
    new = {}
    for path, parts in texts(tables()).items():
        new[path] = path.read_text(encoding="utf-8")
        for name, text in parts.items():
            new[path] = replaced(new[path], name, text)
    return new


def state_of_tree():
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def write_state(name, state):
    """In the last column of the row of a file in docs/results/README.md."""
    page = RESULTS / "README.md"
    rows = [re.sub(r"\| [^|]* \|$", f"| {state} |", row) if row.startswith(f"| `{name}`") else row for row in page.read_text(encoding="utf-8").splitlines()]
    page.write_text("\n".join(rows) + "\n", encoding="utf-8")


def take(files, state):
    """Records of N GPUs become docs/results/compare-N.jsonl; the page next to them says of which state they are."""
    taken, failures = {}, {}
    for file in files:
        records, beside = results.read(file), file.with_name("failures.json")
        for r in records:
            taken.setdefault(r["nodes"], []).append(r)
        if beside.exists():
            failures.setdefault(records[0]["nodes"], []).extend(json.loads(beside.read_text(encoding="utf-8")))
    for gpus, records in taken.items():
        if gpus not in GPUS:
            raise results.BadResults(f"records of {gpus} GPUs: there are pages for {' and '.join(map(str, GPUS))}")
        name = f"compare-{gpus}.jsonl"
        (RESULTS / name).write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
        failures_file(gpus).write_text(json.dumps(failures.get(gpus, []), indent=1) + "\n", encoding="utf-8")
        write_state(name, state)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="records.jsonl of ./ggas compare, of any numbers of GPUs")
    parser.add_argument("--state", default=state_of_tree(), help="what was measured, for docs/results/README.md (default: this commit)")
    arguments = parser.parse_args(argv)
    try:
        take(arguments.files, arguments.state)
        for path, text in pages().items():
            path.write_text(text, encoding="utf-8")
            print(path)
    except (results.BadResults, OSError) as e:
        print(f"publish: {e}", file=sys.stderr)
        return 2
    pictures.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
