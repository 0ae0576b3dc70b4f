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
    return [mine, every, none, *barriers(records), notification(records), *messages(records), *pi(records), blocks_more(records)]


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


def of_metric(records, metric):
    return [r for r in records if r["metric"] == metric]


def without(key, records):
    """For variants of which some have a parameter that follows from the others."""
    return [{**r, "params": {k: v for k, v in r["params"].items() if k != key}} for r in records]


def compared(records, benchmark, text, most, ours, other, **wanted):
    """Two variants of a benchmark at the same points."""
    bar = Bar(text, most)
    for place, by in medians(records, benchmark, **wanted).items():
        bar.add(place, by.get(ours), by.get(other))
    return bar


def of_two_points(records, text, most, key, ours, other, **wanted):
    """A variant of message at points that differ in one key."""
    bar, found = Bar(text, most), {}
    for place, by in medians(records, "message", **wanted).items():
        params = dict(place[2:])
        value = params.pop(key, None)
        found.setdefault((*place[:2], *params.items()), {})[value] = by
    for place, by in found.items():
        for variant in by.get(ours, {}):
            bar.add((*place, ("variant", variant)), by[ours].get(variant), by.get(other, {}).get(variant))
    return bar


def messages(records):
    times, rates, bandwidths, met = (of_metric(records, m) for m in ("half_round_trip", "messages", "bandwidth", "latency"))
    pings = [r for r in times if "waiting" not in r["params"]]
    as_records = without("record_bytes", [r for r in pings if r["variant"] == "flag" or "record_bytes" in r["params"]])
    return [
        compared(records, "barrier", "barrier of all blocks of a GPU, of grid.sync()", 1.0, "one_gpu", "grid_sync", method="barrier"),
        compared(without("ranks", records), "barrier", "barrier of the blocks of all GPUs as ranks, of ggas_barrier_grid", 1.2, "ranks", "grid", method="barrier"),
        compared(pings, "message", "ping-pong of blocks, of a bare flag", 1.5, "block", "flag"),
        compared(as_records, "message", "ping-pong of blocks as one record, of a bare flag", 1.5, "block", "flag"),
        compared(rates, "message", "bare stores of as many lines, of messages of threads", 4.0, "stores", "thread"),
        compared([r for r in bandwidths if r["params"]["bytes"] == 1 << 20], "message", "ggas_put_block of 1 MB, of messages of blocks", 1 / 0.9, "put_block", "block"),
        of_two_points(times, "1,000 messages wait, of 10", 3.0, "waiting", 1000, 10),
        of_two_points(times, "any source, of a named one", 3.0, "method", "any_source", "named"),
        compared(met, "message", "the beginning of a launch, of a barrier", 1.2, "begin", "barrier"),
    ]  # fmt: skip


def pi(records):
    return [
        compared(records, "pi", "pi by a reduction, of two kernels", 1.0, "reduce", "two_kernels"),
        compared(records, "pi", "pi by a reduction, of one kernel with grid.sync()", 1.2, "reduce", "grid_sync"),
        compared(records, "pi", "pi by messages, of two kernels", 4.0, "send", "two_kernels_in_order"),
        compared(records, "pi", "allreduce of a float of 32 Ki threads, of one by hand", 1.3, "allreduce", "allreduce_by_hand"),
    ]


def blocks_more(records):
    """A block beyond a multiple of the multiprocessors costs a step: without it the kernel takes less time."""
    bar, found = Bar("a multiple of the multiprocessors, of a block more", 0.99), {}
    for (*place, blocks, _), by in medians(records, "virtualization").items():
        for variant in ("registers", "shared"):
            if variant in by:
                found[(*place, ("variant", variant)), blocks[1]] = by[variant]
    for (place, blocks), time in found.items():
        if (place, blocks - 1) in found and (place, blocks + 1) in found:
            bar.add((*place, ("blocks", blocks)), time, found[place, blocks + 1])
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
