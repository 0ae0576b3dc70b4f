#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table and plot of the benchmark upc_cases (docs/benchmarks.md#upc_cases).

  python benchmarks/report/upc_cases.py FILE... --out DIR      writes DIR/upc_cases.csv and DIR/upc_cases.svg

A report (report.py) of records that hold the benchmark has both files, too.

Exit status: 0 written, 2 bad input.
"""

import argparse
import csv
import sys
from pathlib import Path

import results
from plots import legend_above, plt, svg

COLUMNS = ("provider", "platform", "nic", "nodes", "case", "method", "scheme", "bytes", "collective_ns", "computing_ns", "overall_ns", "slowest_rank")
METRICS = ("collective", "computing", "overall")


def rows(records):
    """One of each point: the three times of its slowest ranks, and which one was the slowest in the call."""
    found = {}
    for r in records:
        if r["benchmark"] != "upc_cases":
            continue
        params = r["params"]
        place = r["provider"], r["platform"], r["nic"], r["nodes"], r["variant"], params["method"], params["scheme"], params["bytes"]
        row = found.setdefault(place, dict(zip(COLUMNS, place, strict=False)))
        row[f"{r['metric']}_ns"] = r["value"]
        if r["metric"] == "collective":
            row["slowest_rank"] = params["slowest"]
    for place, row in found.items():
        if missing := [m for m in METRICS if f"{m}_ns" not in row]:
            raise results.BadResults(f"{place}: no record of {', '.join(missing)}")
    if not found:
        raise results.BadResults("no record of upc_cases")
    return list(found.values())


def picture(table):
    """Of the largest size of each method: the time of the call in each case."""
    figure, ax = plt.subplots(figsize=(8, 3.2))
    cases = list(dict.fromkeys(row["case"] for row in table))
    for method in dict.fromkeys(row["method"] for row in table):
        of_method = [row for row in table if row["method"] == method]
        largest = max(row["bytes"] for row in of_method)
        points = {row["case"]: row["collective_ns"] / 1000 for row in of_method if row["bytes"] == largest}
        ax.plot([cases.index(c) for c in points], list(points.values()), marker="o", linestyle="", label=f"{method}, {largest} bytes")
    ax.set_xticks(range(len(cases)), [c.removeprefix("case_") for c in cases], fontsize=7)
    ax.set_yscale("log")
    ax.set_xlabel("case")
    ax.set_ylabel("time of a call, µs")
    legend_above(ax)
    return svg(figure)


def write(records, folder):
    table = rows(records)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "upc_cases.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(table)
    (folder / "upc_cases.svg").write_text(picture(table), encoding="utf-8")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="records, JSON lines")
    parser.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="output folder (default: %(default)s)")
    arguments = parser.parse_args(argv)
    try:
        write([r for file in arguments.files for r in results.read(file)], arguments.out)
    except results.BadResults as e:
        print(f"upc_cases: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"upc_cases: {e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    print(f"written: {arguments.out}/upc_cases.csv, upc_cases.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
