# SPDX-License-Identifier: Apache-2.0
"""Power over time: the CSV that --power writes, and its plot."""

import csv

from plots import legend_above, plt, svg
from results import BadResults

HEAD = ["time_s", "activity"]


def number(text, where):
    """None: the sensor gave nothing."""
    try:
        return float(text) if text else None
    except ValueError:
        raise BadResults(f"{where}: '{text}' is not a number") from None


def read(file):
    """Times, what the machine did then, and the watts of each part by its name."""
    with file.open(encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    if not rows or rows[0][:2] != HEAD:
        raise BadResults(f"{file}:1: expected {','.join(HEAD)} and a column for each part")
    parts = rows[0][2:]
    for n, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise BadResults(f"{file}:{n}: {len(row)} fields; the first line has {len(rows[0])}")
    times = [number(row[0], f"{file}:{n}") or 0.0 for n, row in enumerate(rows[1:], 2)]
    watts = {part: [number(row[i], f"{file}:{n}") for n, row in enumerate(rows[1:], 2)] for i, part in enumerate(parts, 2)}
    return times, [row[1] for row in rows[1:]], watts


def plot(file):
    """None: no sensor gave anything."""
    times, activities, watts = read(file)
    figure, ax = plt.subplots(figsize=(9, 3.8))
    for part, values in watts.items():
        if any(v is not None for v in values):
            ax.plot(times, [float("nan") if v is None else v for v in values], linewidth=0.8, label=part)
    if not ax.lines:
        plt.close(figure)
        return None
    ax.set_ylim(0, ax.get_ylim()[1])
    for i, what in enumerate(activities):
        if what and (i == 0 or activities[i - 1] != what):
            ax.axvline(times[i], color="tab:gray", linewidth=0.5)
            ax.text(times[i], ax.get_ylim()[1], what, rotation=90, fontsize=7, va="top", ha="left", color="tab:gray")
    ax.set_xlabel("time / s")
    ax.set_ylabel("power / W")
    legend_above(ax)
    return svg(figure)
