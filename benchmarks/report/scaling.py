# SPDX-License-Identifier: Apache-2.0
"""Figures over the number of nodes, where the records come from clusters of several sizes.

A curve is a variant at one point of its benchmark: the parameters that occur with the most numbers of nodes, and of
these the last. Clusters with the RTL of the NIC have hollow marks, those with its model full ones, and no line joins the
two: they are no single series.
"""

from plots import legend_above, plt, svg
from results import scale
from summary import shows

LEAST_CLUSTERS = 3  # numbers of nodes; fewer make no curve


def same_runs(record):
    """What records of one plot have in common, but for the NIC."""
    run = record.get("run") or {}
    return (record["provider"], record["platform"], *(str(run.get(key)) for key in ("set", "faults", "commit")))


def point(record):
    """The parameters, but for a grid of all nodes, which grows with the cluster."""
    size = ("grid", "elements") if "grid" in record["params"] else ()
    return tuple((k, v) for k, v in sorted(record["params"].items()) if k not in size)


def chosen(records):
    """Of a variant the records at one point."""
    clusters = {}
    for r in records:
        clusters.setdefault(point(r), {})[r["nic"], r["nodes"]] = r
    most = max(len(found) for found in clusters.values())
    return list([found for found in clusters.values() if len(found) == most][-1].values())


def draw(metric, records):
    factor, unit = scale([r["value"] for r in records], records[0]["unit"])
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    for variant in dict.fromkeys(r["variant"] for r in records):
        members = chosen([r for r in records if r["variant"] == variant])
        colour = None
        for nic in sorted({r["nic"] for r in members}):
            x, y = zip(*sorted((r["nodes"], r["value"] / factor) for r in members if r["nic"] == nic))
            label = variant if colour is None else "_" + variant
            (line,) = ax.plot(x, y, marker="o", markersize=5, markerfacecolor="none" if nic == "rtl" else None, label=label, color=colour)
            colour = line.get_color()
    ax.set_xlabel("nodes (hollow: RTL of the NIC; full: its model)")
    ax.set_xticks(sorted({r["nodes"] for r in records}))
    ax.set_ylim(0, 1.05 * ax.get_ylim()[1])
    ax.set_ylabel(f"{metric.replace('_', ' ')}{f' / {unit}' if unit else ''}")
    legend_above(ax)
    return svg(figure)


def of_largest(records):
    nodes = max(r["nodes"] for r in records)
    return f"{nodes} nodes: {shows([r for r in records if r['nodes'] == nodes])}"


def plots(records):
    """Names of benchmarks, what the largest cluster shows, and plots: one for each metric that was measured on enough clusters."""
    found = {}
    for r in records:
        found.setdefault((same_runs(r), r["benchmark"], r["metric"]), []).append(r)
    return [(name, of_largest(members), draw(metric, members)) for (_, name, metric), members in found.items() if len({r["nodes"] for r in members}) >= LEAST_CLUSTERS]
