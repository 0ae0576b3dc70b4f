# SPDX-License-Identifier: Apache-2.0
"""Energy of simulated points by part: stacked bars, and a table of energy and delay."""

from plots import legend_above, plt, svg
from results import human, scale
from tables import html

TOTAL, ABOVE, ALL = "energy_per_operation", "energy_above_idle_per_operation", "all"
MOST_BARS = 40


def is_energy(record):
    return "part" in record["params"] and record["metric"] in (TOTAL, ABOVE)


def place(record):
    return (record["variant"], *(f"{k} {v}" for k, v in record["params"].items() if k != "part"))


def by_point(records):
    """Joules of an operation by metric and part, for each point."""
    points = {}
    for r in records:
        points.setdefault(place(r), {})[r["metric"], r["params"]["part"]] = r["value"]
    return points


def stacked_bars(records):
    """None: there is no energy."""
    points = by_point(records)
    if not points:
        return None
    shown = list(points.items())[:MOST_BARS]
    parts = list(dict.fromkeys(r["params"]["part"] for r in records if r["params"]["part"] != ALL))
    factor, unit = scale([joules.get((TOTAL, ALL), 0) for _, joules in shown], "J")
    figure, ax = plt.subplots(figsize=(7, 1 + 0.26 * len(shown)))
    left = [0.0] * len(shown)
    for part in parts:
        width = [joules.get((TOTAL, part), 0) / factor for _, joules in shown]
        ax.barh(range(len(shown)), width, left=left, label=part)
        left = [a + b for a, b in zip(left, width)]
    ax.set_yticks(range(len(shown)), [", ".join(point) for point, _ in shown], fontsize=7)
    ax.invert_yaxis()
    ax.set_xlabel(f"energy per operation / {unit}, idle included")
    legend_above(ax)
    return svg(figure)


def delay_table(records, energy):
    """Energy, delay and their product of each point whose value is a time; None: there is none."""
    delay = {place(r): r["value"] for r in records if r["unit"] == "ns"}
    rows = []
    for point, joules in by_point(energy).items():
        if point in delay:
            total = joules[TOTAL, ALL]
            rows.append([", ".join(point), human(total, "J"), human(joules[ABOVE, ALL], "J"), human(delay[point], "ns"), f"{total * delay[point] * 1e-9:.3g} J·s"])
    return html(["point", "energy", "above idle", "delay", "energy × delay"], rows) if rows else None
