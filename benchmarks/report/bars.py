#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares records of ranks and notifications with their bars (docs/benchmarks.md) and lists the points that miss one.

python benchmarks/report/bars.py FILE...        exit status: 0 all met, 1 a bar missed, 2 bad input
"""

import argparse
import sys
from pathlib import Path

import results

SHORT, LONG = 1024, 65536  # bytes


def medians(records, benchmark, **wanted):
    """Of GPUs, by point: the median of each variant."""
    found = {}
    for r in records:
        if (r["provider"], r["benchmark"]) == ("cuda", benchmark) and all(r["params"].get(k) == v for k, v in wanted.items()):
            place = r["platform"], r["nodes"], *((k, v) for k, v in sorted(r["params"].items()) if k not in wanted)
            found.setdefault(place, {})[r["variant"]] = r["p50"]
    return found


def point_text(place):
    platform, nodes, *params = place
    return f"{platform}, {nodes} nodes, " + ", ".join(f"{k} {v}" for k, v in params)


class Bar:
    """`share` of the points must be at most `most` of what they are compared with."""

    def __init__(self, text, most, share=1.0):
        self.text, self.most, self.share, self.points = text, most, share, []

    def add(self, place, ours, other):
        if ours is not None and other is not None:
            self.points.append((ours / other, point_text(place)))

    def met(self):
        return sum(r <= self.most for r, _ in self.points) >= self.share * len(self.points)

    def lines(self):
        if not self.points:
            return [f"{self.text}: no records"]
        good = sum(r <= self.most for r, _ in self.points)
        head = f"{self.text}: {'met' if self.met() else 'missed'}, {good} of {len(self.points)} points at most {self.most:g}"
        return [head, *(f"  {r:.2f}  {text}" for r, text in sorted(self.points, reverse=True) if r > self.most)]


def bars(records):
    mine, every = Bar("mine, of the better of push and pull, up to 1 KB (80 %)", 0.6, 0.8), Bar("all, of the better of push and pull, up to 64 KB", 1.03)
    none = Bar("none, of all, up to 1 KB", 0.6)
    for place, by in medians(records, "upc").items():
        params = dict(place[2:])
        size = params.get("bytes", 0)
        if params.get("method") == "barrier" or size > LONG:
            continue
        reference = min((by[v] for v in ("push", "pull") if v in by), default=None)
        every.add(place, by.get("all"), reference)
        if size <= SHORT:
            mine.add(place, by.get("mine"), reference)
            none.add(place, by.get("none"), by.get("all"))
    return [mine, every, none, *barriers(records), notification(records)]


def barriers(records):
    one, two = Bar("barrier of the ranks of a GPU, of grid.sync()", 1.0), Bar("barrier of the ranks of all GPUs, of ggas_barrier_block", 1.2)
    met = medians(records, "upc", method="barrier")
    blocks = {(*place[:2], ("threads", dict(place[2:])["threads"])): by["block"] for place, by in medians(records, "barrier", method="barrier").items() if "block" in by}
    for place, by in met.items():
        params = dict(place[2:])
        if params["ranks"] == params["blocks"]:
            one.add(place, by.get("all"), by.get("grid_sync"))
        else:
            two.add(place, by.get("all"), blocks.get((*place[:2], ("threads", params["threads"]))))
    return one, two


def notification(records):
    bar = Bar("notification, of the way before", 0.6)
    for place, by in medians(records, "notification").items():
        bar.add(place, by.get("ring"), by.get("claimed"))
    return bar


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="records, JSON lines")
    arguments = parser.parse_args(argv)
    try:
        found = bars([r for file in arguments.files for r in results.read(file)])
    except results.BadResults as e:
        print(f"bars: {e}", file=sys.stderr)
        return 2
    print("\n".join(line for bar in found for line in bar.lines()))
    return 0 if all(bar.met() for bar in found) else 1


if __name__ == "__main__":
    sys.exit(main())
