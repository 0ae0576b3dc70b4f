# SPDX-License-Identifier: Apache-2.0
"""SVG plots of result records, for embedding."""

import io
import math

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from results import bound, is_met, nearness, scale  # noqa: E402

plt.rcParams.update({
    "svg.hashsalt": "ggas",  # the same results give the same picture
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
})  # fmt: skip

# What stands on the horizontal axis, by benchmark.
AXIS = {
    "store_latency": ("bytes", "bytes stored by all threads"),
    "load_latency": ("bytes", "bytes loaded by all threads"),
    "store_bandwidth": ("bytes", "bytes"),
    "load_bandwidth": ("bytes", "bytes"),
    "coalescing": ("values", "4-byte values"),
    "barrier": ("threads", "threads of the block"),
    "reduce": ("bytes", "vector, bytes"),
    "allreduce": ("bytes", "vector, bytes"),
    "random_access": ("bytes", "table of all nodes, bytes"),
    "random_stores": ("elements", "stores of all nodes"),
    "put_latency": ("bytes", "message, bytes"),
    "get_latency": ("bytes", "message, bytes"),
    "put_bandwidth": ("bytes", "message, bytes"),
    "get_bandwidth": ("bytes", "message, bytes"),
    "message_rate": ("connections", "connections, messages of 32 bytes"),
    "transfer_path": ("bytes", "message, bytes"),
    "overhead": ("bytes", "message, bytes"),
    "launching": ("kernels", "kernels"),
    "broadcast": ("bytes", "vector, bytes"),
    "allgather": ("bytes", "part of a node, bytes"),
    "alltoall": ("bytes", "part for a node, bytes"),
    "gather": ("bytes", "part of a node, bytes"),
    "scatter": ("bytes", "part for a node, bytes"),
    "permute": ("bytes", "part of a node, bytes"),
    "scan": ("bytes", "vector, bytes"),
    "upc": ("bytes", "part of a rank, bytes"),
    "upc_cases": ("bytes", "part of a rank, bytes"),
    "message": ("bytes", "message, bytes"),
    "pi": ("intervals", "intervals of a rank"),
    "virtualization": ("blocks", "blocks"),
    "global_reduction": ("elements", "numbers"),
}
# Where records say by how many blocks of a grid they were made, or have no bytes: that instead.
BLOCKS = ("blocks", "blocks of the kernel")
ELEMENTS = ("elements", "elements of all nodes")
LOG_VALUE = {
    "coalescing",
    "reduce",
    "allreduce",
    "broadcast",
    "allgather",
    "alltoall",
    "gather",
    "scatter",
    "permute",
    "scan",
    "upc",
    "upc_cases",
    "store_latency",
    "load_latency",
    "put_latency",
    "get_latency",
    "message_rate",
    "overhead",
    "launching",
}


def svg(figure):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]


def draw_references(ax, records, key, factor):
    """Published figures: a mark for each, joined by a dashed line if they belong to one curve."""
    by_source = {}
    for r in records:
        if r["reference"]:
            by_source.setdefault(r["reference"]["source"], []).append((r["params"][key], r["reference"]["value"] / factor))
    one_curve = len({r["variant"] for r in records}) == 1
    for source, points in by_source.items():
        style = {"linestyle": "--" if one_curve else "", "marker": "D", "markersize": 6, "markerfacecolor": "none", "color": "black"}
        ax.plot(*zip(*sorted(set(points))), zorder=5, label=f"published: {source}", **style)


def draw_seeds(ax, records, key, factor, colour):
    """From the least to the most of the seeds."""
    for r in records:
        if r.get("seeds"):
            ax.vlines(r["params"][key], r["seeds"]["least"] / factor, r["seeds"]["most"] / factor, color=colour, linewidth=1.5)


def draw_limits(ax, records, key, factor):
    by_source = {}
    for r in records:
        if bound(r):
            by_source.setdefault(r["limit"]["source"], []).append((r["params"][key], r["limit"]["value"] / factor))
    for source, points in by_source.items():
        points = sorted(set(points))
        style = {"linestyle": ":", "color": "tab:red", "label": f"bound: {source}"}
        if len(points) == 1:
            ax.axhline(points[0][1], **style)
        else:
            ax.plot(*zip(*points), **style)


def legend_above(ax):
    """Over the axes, where it covers no line."""
    count = len(ax.get_legend_handles_labels()[1])
    ax.legend(fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=min(3, count), borderaxespad=0.2)


def size_text(v):
    for factor, suffix in ((1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")):
        if v >= factor:
            return f"{v / factor:g} {suffix}"
    return f"{v:g}"


def logarithmic_sizes(ax):
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda v, _: size_text(v))
    least, most = ax.get_xlim()
    if 2 ** math.floor(math.log2(most)) < least:  # no power of two to name: the places themselves
        ax.set_xticks(sorted({x for line in ax.lines for x in line.get_xdata() if least <= x <= most}))


def logarithmic_values(ax):
    ax.set_yscale("log")
    for axis_part in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        axis_part(lambda v, _: f"{v:g}" if f"{v:.0e}"[0] in "125" else "")


def series(records, key):
    """Curves by label: the variant, and what else distinguishes records at the same place of the axis."""
    points = {}
    for r in records:
        points.setdefault((r["variant"], r["params"][key]), []).append(r["params"])
    apart = {}
    for (variant, _), at in points.items():
        for p in dict.fromkeys(p for params in at for p in params):
            if len({params.get(p) for params in at}) > 1:
                apart.setdefault(variant, {})[p] = True
    found = {}
    for r in records:
        more = (f"{p} {r['params'][p]}" for p in apart.get(r["variant"], ()) if p in r["params"])
        found.setdefault(", ".join((r["variant"], *more)), []).append(r)
    return found


DECADE = 4  # a logarithmic axis of less has hardly a number next to it


def is_place(value):
    """On a logarithmic axis."""
    return isinstance(value, (int, float)) and value > 0


def curves(name, records):
    """A plot of the records made by kernels of so many blocks for each metric, and one of the first metric of the others."""
    by_blocks = [r for r in records if is_place(r["params"].get("blocks"))]
    others = [r for r in records if r not in by_blocks]
    found = [curve(name, [r for r in by_blocks if r["metric"] == metric], *BLOCKS) for metric in dict.fromkeys(r["metric"] for r in by_blocks)]
    if name == "message_rate":
        others = [r for r in others if r["params"].get("bytes") == 32]
    places = [r for r in others if is_place(r["params"].get(AXIS[name][0]))]
    return [*found, curve(name, places, *AXIS[name]) if places else curve(name, others, *ELEMENTS)]


def curve(name, records, key, label):
    records = [r for r in records if is_place(r["params"].get(key)) and r["metric"] == records[0]["metric"]]
    if not records:
        return None
    unit = records[0]["unit"]
    factor, text = scale([r["value"] for r in records], unit)
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    for text_of_series, members in series(records, key).items():
        x, y, p99 = zip(*sorted((r["params"][key], r["value"] / factor, (r["p99"] or r["value"]) / factor) for r in members))
        (drawn,) = ax.plot(x, y, marker="o", markersize=4, label=text_of_series)
        if any(b > a for a, b in zip(y, p99)):
            ax.fill_between(x, y, [max(a, b) for a, b in zip(y, p99)], alpha=0.15, color=drawn.get_color(), linewidth=0)
        draw_seeds(ax, members, key, factor, drawn.get_color())
    draw_references(ax, records, key, factor)
    draw_limits(ax, records, key, factor)
    logarithmic_sizes(ax)
    values = [r["value"] for r in records]
    if (name in LOG_VALUE or key == "blocks") and 0 < DECADE * min(values) < max(values):
        logarithmic_values(ax)
    else:
        ax.set_ylim(0, 1.05 * ax.get_ylim()[1])
    ax.set_xlabel(label)
    ax.set_ylabel(f"{records[0]['metric'].replace('_', ' ')}{f' / {text}' if text else ''}")
    legend_above(ax)
    return svg(figure)


def grid_bars(records):
    """Himeno: a group of bars for each grid, a bar for each way, and what memory allows."""
    records = [r for r in records if "grid" in r["params"] and r["metric"] == "flops"]
    if not records:
        return None
    grids, ways = (list(dict.fromkeys(found)) for found in ((str(r["params"]["grid"]) for r in records), (r["variant"] for r in records)))
    factor, text = scale([r["value"] for r in records], records[0]["unit"])
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    for i, way in enumerate(ways):
        values = {str(r["params"]["grid"]): r["value"] / factor for r in records if r["variant"] == way}
        width = 0.8 / len(ways)
        ax.bar([n + width * (i - (len(ways) - 1) / 2) for n in range(len(grids))], [values.get(g, 0) for g in grids], width=0.9 * width, label=way)
    for source, limit in {(r["limit"]["source"], r["limit"]["value"] / factor) for r in records if bound(r)}:
        ax.axhline(limit, color="tab:red", linestyle=":", label=f"bound: {source}")
    ax.set_xticks(range(len(grids)), grids)
    ax.set_xlabel("grid of all nodes, points")
    ax.set_ylabel(f"{records[0]['metric']} / {text}")
    legend_above(ax)
    return svg(figure)


COSTS = {"gpu_instructions": "instructions", "gpu_pcie_reads": "PCIe reads", "gpu_pcie_writes": "PCIe writes"}


def cost_bars(records):
    """What the GPU does for a message: instructions, reads and writes on PCIe, a group of bars for each variant."""
    records = [r for r in records if r["metric"] in COSTS]
    if not records:
        return None
    variants = list(dict.fromkeys(r["variant"] for r in records))
    figure, ax = plt.subplots(figsize=(6.4, 0.9 + 0.5 * len(variants)))
    for i, (metric, text) in enumerate(COSTS.items()):
        values = {r["variant"]: r["value"] for r in records if r["metric"] == metric}
        bars = ax.barh([n + 0.27 * (i - 1) for n in range(len(variants))], [values.get(v, 0) for v in variants], height=0.25, label=text)
        ax.bar_label(bars, fmt="%.3g", fontsize=7, padding=2)
    ax.set_yticks(range(len(variants)), variants)
    ax.invert_yaxis()
    ax.margins(x=0.1)
    ax.set_xlabel(f"for a message of {records[0]['params'].get('bytes', '')} bytes, by the GPU")
    legend_above(ax)
    return svg(figure)


def call_bars(records):
    """The time of a call, a group of bars for each variant, a bar for each call and memory of the rings."""
    records = [r for r in records if r["metric"] == "time"]
    if not records:
        return None
    kinds, variants = (list(dict.fromkeys(found)) for found in (((r["params"]["method"], r["params"]["memory"]) for r in records), (r["variant"] for r in records)))
    factor, text = scale([r["value"] for r in records], records[0]["unit"])
    figure, ax = plt.subplots(figsize=(6.4, 0.9 + 0.7 * len(variants)))
    width = 0.8 / len(kinds)
    for i, (method, memory) in enumerate(kinds):
        values = {r["variant"]: r["value"] / factor for r in records if (r["params"]["method"], r["params"]["memory"]) == (method, memory)}
        places = [n + width * (i - (len(kinds) - 1) / 2) for n in range(len(variants))]
        bars = ax.barh(places, [values.get(v, 0) for v in variants], height=0.9 * width, label=f"{method}, rings in {memory} memory")
        ax.bar_label(bars, fmt="%.3g", fontsize=7, padding=2)
    ax.set_yticks(range(len(variants)), variants)
    ax.invert_yaxis()
    ax.margins(x=0.1)
    ax.set_xlabel(f"time of a call / {text}")
    legend_above(ax)
    return svg(figure)


def nearness_bars(records):
    """How near each way to do something comes to its bound, at its best point; 1 is all that is possible."""
    best = {}
    for r in records:
        near = nearness(r)
        if near is None:
            continue
        label = " ".join((r["benchmark"], r["variant"], str(r["params"].get("method", "")))).strip()
        best[label] = max(best.get(label, 0), near)
    if not best:
        return None
    figure, ax = plt.subplots(figsize=(6.4, 0.5 + 0.28 * len(best)))
    bars = ax.barh(range(len(best)), list(best.values()), height=0.7)
    ax.bar_label(bars, [f"{100 * v:.0f} %" for v in best.values()], fontsize=7, padding=2)
    ax.axvline(1, color="tab:red", linestyle=":")
    ax.set_yticks(range(len(best)), best)
    ax.invert_yaxis()
    ax.margins(x=0.1)
    ax.set_xlabel("of what is possible")
    return svg(figure)


def nic_label(record):
    width = f", {record['params']['data_w']} bit" if "data_w" in record["params"] else ""
    return f"{record['metric'].replace('_', ' ')}{width} {'≤' if record['limit']['at_most'] else '≥'}"


def nic_bars(records):
    """Figures of the NIC as parts of their goals."""
    records = [r for r in records if r["limit"] and r["limit"]["value"]]
    if not records:
        return None
    figure, ax = plt.subplots(figsize=(6.4, 0.5 + 0.34 * len(records)))
    for row, r in enumerate(reversed(records)):
        bar = ax.barh(row, r["value"] / r["limit"]["value"], color="tab:blue" if is_met(r) else "tab:orange")
        ax.bar_label(bar, ["met" if is_met(r) else "missed"], fontsize=7, padding=2)
    ax.axvline(1, color="tab:red", linestyle=":")
    ax.set_yticks(range(len(records)), [nic_label(r) for r in reversed(records)])
    ax.margins(x=0.1)
    ax.set_xlabel("value / goal; the goal is to be at most (≤) or at least (≥) 1")
    return svg(figure)


def plots_of(name, records):
    if name == "nic_cycles":
        found = [nic_bars(records)]
    elif name == "himeno":
        found = [grid_bars(records)]
    elif name == "post_and_poll":
        found = [call_bars(records)]
    else:
        found = [*(curves(name, records) if name in AXIS else []), cost_bars(records)]
    return [plot for plot in found if plot]
