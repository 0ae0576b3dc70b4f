#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two files of result records, point by point.

A point is a benchmark with its variant, parameters and metric on one provider, platform, NIC and number of nodes. A
point that a file holds several times counts with its median.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from statistics import median

import results

WORSE, BAD_INPUT = 1, 2

EXAMPLES = """examples:
  ./ggas bench diff before.jsonl after.jsonl               what became better or worse by more than 3 %
  ./ggas bench diff before.jsonl after.jsonl --limit 1     by more than 1 %
  ./ggas bench diff before.jsonl after.jsonl --all         every point
  ./ggas bench diff before.jsonl after.jsonl --json diff.jsonl

Exit status: 0 no point is worse by more than the limit, 1 one is, 2 bad input."""


def command_line(argv):
    parser = argparse.ArgumentParser(prog="ggas bench diff", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", metavar="A", type=Path, help="records before, JSON lines")
    parser.add_argument("after", metavar="B", type=Path, help="records after")
    parser.add_argument("--limit", type=float, default=3, metavar="PERCENT", help="a point may be so much worse (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="print every point, not only those beyond the limit")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every point as a JSON line")
    a = parser.parse_args(argv)
    if not (math.isfinite(a.limit) and 0 <= a.limit < 100):
        parser.error(f"--limit {a.limit:g}: must be 0 or more and below 100 percent")
    return a


def place(record):
    return record["provider"], record["platform"], record["nic"], record["nodes"]


def place_text(at):
    provider, platform, nic, nodes = at
    return f"provider {provider}, platform {platform}, NIC {nic}, {nodes} nodes"


def point(record):
    params = tuple(sorted(record["params"].items(), key=lambda item: item[0]))
    return record["benchmark"], record["variant"], place(record), params, record["metric"], record["unit"]


def points(records):
    found = {}
    for r in records:
        found.setdefault(point(r), []).append(r)
    return found


def check_places(before, after):
    """A benchmark of both files must have a place in common: other figures say nothing about each other."""
    for name in dict.fromkeys(r["benchmark"] for r in before):
        old, new = ({place(r): None for r in records if r["benchmark"] == name} for records in (before, after))
        if new and not set(old) & set(new):
            raise results.BadResults(f"{name}: A has {place_text(next(iter(old)))}, B has {place_text(next(iter(new)))}; only records of one place can be compared")


def check_common(common, before, after):
    if not common:
        names = [", ".join(sorted({r["benchmark"] for r in records})) for records in (before, after)]
        raise results.BadResults(f"no point is in both files: A has {names[0]}; B has {names[1]}")


def spread(records):
    """Least and most of a point over its seeds and repetitions."""
    seeds = [r["seeds"] or {"least": r["value"], "most": r["value"]} for r in records]
    return min(s["least"] for s in seeds), max(s["most"] for s in seeds)


def overlap(old, new):
    """True where the spreads of both sides meet: the difference may be chance."""
    (a_least, a_most), (b_least, b_most) = spread(old), spread(new)
    return a_least < a_most and b_least < b_most and a_least <= b_most and b_least <= a_most


def result_of(unit, ratio, limit, chance):
    """better, worse, same, within spread; changed where the unit has no direction."""
    share = limit / 100
    if abs(ratio - 1) <= share + 1e-12:  # 103 of 100 is no more than 3 %
        return "same"
    if chance:
        return "within spread"
    if unit in results.RATES:
        return "better" if ratio > 1 else "worse"
    if unit in results.COSTS:
        return "better" if ratio < 1 else "worse"
    return "changed"


def compare(key, old, new, limit):
    benchmark, variant, at, params, metric, unit = key
    a, b = (median(r["value"] for r in records) for records in (old, new))
    ratio = 1.0 if a == b else math.inf if a == 0 else b / a
    return {
        "benchmark": benchmark, "variant": variant, "provider": at[0], "platform": at[1], "nic": at[2], "nodes": at[3], "params": dict(params),
        "metric": metric, "unit": unit, "before": a, "after": b, "ratio": ratio if math.isfinite(ratio) else None,
        "result": result_of(unit, ratio, limit, overlap(old, new)),
    }  # fmt: skip


def label(row):
    return " ".join([row["variant"], *(f"{k}={v}" for k, v in row["params"].items())])


def change_text(row):
    return "from 0" if row["ratio"] is None else f"{100 * (row['ratio'] - 1):+.1f} %"


def line(row):
    values = [results.human(row[side], row["unit"], 4) for side in ("before", "after")]
    return f"  {label(row):58} {row['metric']:16} {values[0]:>12} {values[1]:>12} {change_text(row):>9}  {row['result']}"


def mean_text(rows):
    """The geometric mean of B over A, of points that have a ratio."""
    logs = [math.log(r["ratio"]) for r in rows if r["ratio"]]
    return f"mean {100 * (math.exp(sum(logs) / len(logs)) - 1):+.1f} %" if logs else "no mean"


def where(row):
    return row["provider"], row["platform"], row["nic"], row["nodes"]


def grouped(rows, key):
    found = {}
    for r in rows:
        found.setdefault(key(r), []).append(r)
    return found.items()


def table(rows, everything):
    out = []
    for at, here in grouped(rows, where):
        out.append(place_text(at))
        for (name, unit), members in grouped(here, lambda r: (r["benchmark"], r["unit"])):
            out.append(f" {name}: {len(members)} points in {unit}, {mean_text(members)}")
            out += [line(r) for r in members if everything or r["result"] in ("better", "worse", "changed")]
    return "\n".join(out)


def condition_lines(before, after):
    """Overrides, files and builds of the two sides where they differ."""
    old, new = (list(dict.fromkeys(results.conditions(r.get("run")) for r in records)) for records in (before, after))
    return [] if old == new else [*(f"A: {text}" for text in old), *(f"B: {text}" for text in new)]


def summary(rows, only, limit):
    count = {v: sum(r["result"] == v for r in rows) for v in ("better", "worse", "same", "within spread", "changed")}
    parts = [f"{n} {name}" for name, n in count.items() if n]
    missing = [f"{n} only in {side}" for side, n in zip("AB", only) if n]
    return f"{len(rows)} points: {', '.join(parts)} (limit {limit:g} %)" + (f"; {', '.join(missing)}" if missing else "")


def main(argv=None):
    a = command_line(argv)
    try:
        before, after = results.read(a.before), results.read(a.after)
        check_places(before, after)
        old, new = points(before), points(after)
        check_common(old.keys() & new.keys(), before, after)
        rows = [compare(key, old[key], new[key], a.limit) for key in old if key in new]
        print("\n".join([*condition_lines(before, after), table(rows, a.all), summary(rows, (len(old.keys() - new.keys()), len(new.keys() - old.keys())), a.limit)]))
        if a.json:
            a.json.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    except results.BadResults as e:
        print(f"diff: {e}", file=sys.stderr)
        return BAD_INPUT
    except OSError as e:
        print(f"diff: {e.filename}: {e.strerror}", file=sys.stderr)
        return BAD_INPUT
    return WORSE if any(r["result"] == "worse" for r in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
