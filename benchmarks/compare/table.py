# SPDX-License-Identifier: Apache-2.0
"""The comparison for people: a table on the terminal and a picture of the ratios."""

import matplotlib
from results import human

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLUMNS = (("ggas", "GGAS"), ("nvshmem", "NVSHMEM"), ("nccl", "NCCL"), ("nccl_window", "NCCL window"), ("yaksa", "Yaksa"), ("limit", "bare CUDA"))
RATIOS = (("ratio", "ratio"), ("to_limit", "to bare"))
BAR_GPUS = 8  # the bars were set for so many


def bar_text(row):
    if row["bar"] is None:
        return ""
    return {True: "met", False: "missed", None: ""}[row["bar_met"]]


def reasons(rows):
    """Why cells are empty, by the number that is in them."""
    return {text: number for number, text in enumerate(dict.fromkeys(text for row in rows for text in row.get("why", {}).values()), 1)}


def figure_text(row, key, notes):
    """A figure with the blocks and threads by which it was reached: 1.30 µs 1x128. Without one the number of the reason."""
    if row.get(key) is None:
        why = row.get("why", {}).get(key)
        return f"[{notes[why]}]" if why in notes else ""
    text, shape = human(row[key], row["unit"]), row["shapes"].get(key)
    return f"{text} {shape:>7}" if text and shape else text


def versions(key, title, rows):
    """A column for each version of a library, where there are several."""
    several = list(dict.fromkeys(k for row in rows for k in row if k.startswith(f"{key} ")))
    return [(k, f"{title} {k.split(' ')[-1]}") for k in several] or [(key, title)]


def columns_of(rows):
    """Yaksa has none where it was not measured: it only packs."""
    shown = [c for c in COLUMNS if c[0] != "yaksa" or any(k.startswith("yaksa") and row[k] for row in rows for k in row)]
    return [column for key, title in shown for column in versions(key, title, rows)]


def cells(row, columns, notes=()):
    unit = row["unit"]
    ratios = ["" if row[key] is None else f"{row[key]:.2f}" for key, _ in RATIOS]
    return [row["quantity"], *(figure_text(row, key, notes) for key, _ in columns), *ratios, human(row["bar"], unit), bar_text(row)]


def aligned(lines):
    width = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, width))).rstrip() for line in lines]


def bus_lines(rows, columns=COLUMNS):
    """Long collectives as NCCL's bus bandwidth; nothing if there are none."""
    long = [row for row in rows if row["bus_bytes"]]
    lines = [[row["quantity"], *("" if row.get(key) is None else human(1e9 * row["bus_bytes"] / row[key], "B/s") for key, _ in columns)] for row in long]
    return aligned([["bus bandwidth", *(title for _, title in columns)], *lines]) if long else []


def text(platform, nodes, rows, libraries=(), conditions=()):
    """A table with the explanation that it needs."""
    rows = list(rows)
    columns = columns_of(rows)
    head = ["quantity", *(title for _, title in (*columns, *RATIOS)), "bar", ""]
    notes = reasons(rows)
    body = aligned([head, *(cells(row, columns, notes) for row in rows)])
    body += [f"[{number}] {why}" for why, number in notes.items()]
    note = (
        "Medians; behind a figure blocks x threads. ratio: time of GGAS / time of the best of the others (of rates the inverse): "
        f"below 1 GGAS is faster; to bare: the same compared with bare CUDA. Bars were set for {BAR_GPUS} GPUs."
    )
    return "\n".join([", ".join([f"{nodes} x {platform}", *libraries]), *conditions, *body, *bus_lines(rows, columns), note, ""])


SERIES = (("ratio", "o", "compared with the best of NVSHMEM, NCCL and Yaksa"), ("to_limit", "|", "compared with bare CUDA"))
TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5)


def plot(tables, file):
    """A line of points for each quantity, a colour for each number of GPUs: next to the best of the others and next to bare CUDA."""
    names = list(dict.fromkeys(row["quantity"] for rows in tables.values() for row in rows if row["ratio"] or row["to_limit"]))
    plt.rcParams.update({"svg.hashsalt": "ggas", "font.size": 8})  # the same results give the same picture
    figure, ax = plt.subplots(figsize=(8, 1.5 + 0.22 * len(names)))
    seen = [1.0]
    for colour, ((platform, nodes), rows) in enumerate(tables.items()):
        for key, marker, text in SERIES:
            points = [(row[key], names.index(row["quantity"])) for row in rows if row[key]]
            seen += [x for x, _ in points]
            if points:
                ax.plot(*zip(*points), linestyle="", marker=marker, markersize=6, markeredgewidth=1.5, color=f"C{colour}", label=f"{nodes} x {platform}, {text}")
    ax.axvline(1, color="black", linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlim(0.9 * min(seen), 1.1 * max(seen))
    ax.set_xticks([x for x in TICKS if 0.9 * min(seen) <= x <= 1.1 * max(seen)], minor=False)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.set_xlabel("time of GGAS / time of the other (of rates the inverse); left of the line GGAS is faster")
    ax.grid(alpha=0.3)
    if names:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
