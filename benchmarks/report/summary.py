# SPDX-License-Identifier: Apache-2.0
"""What a report says first: how far from published figures, how near to bounds, which goals are missed, the best point of each way."""

from results import deviation, goal, human, is_met, nearness
from tables import deviation_text, goal_text, html, limit_text, share_text

NEAR = 0.1  # a deviation of 10 % at most


def what(record):
    """Benchmark, variant and place of a figure in words."""
    place = ", ".join(f"{key} {value}" for key, value in record["params"].items())
    return " ".join((record["benchmark"], record["variant"], record["metric"].replace("_", " "))) + (f" ({place})" if place else "")


def sentences(records):
    lines = []
    published = [r for r in records if r["reference"]]
    if published:
        worst = max(published, key=lambda r: abs(deviation(r)))
        near = sum(abs(deviation(r)) <= NEAR for r in published)
        lines.append(f"{near} of {len(published)} figures with a published one are within {100 * NEAR:.0f} % of it; farthest: {what(worst)}, {deviation_text(worst)}.")
    goals = [r for r in records if goal(r)]
    if goals:
        lines.append(f"{sum(map(is_met, goals))} of {len(goals)} goals are met.")
        lines += [f"Goal {goal_text(r)}: {what(r)}, {human(r['value'], r['unit'])}, not {limit_text(r, goal(r))}." for r in goals if not is_met(r)]
    return lines


def best_points(records):
    """Of each way to do something with a bound the record that comes nearest to it."""
    best = {}
    for r in records:
        if nearness(r) is None:
            continue
        way = (r["benchmark"], r["variant"], r["metric"], str(r["params"].get("method", "")))
        if way not in best or nearness(r) > nearness(best[way]):
            best[way] = r
    return list(best.values())


def table_of_best(records):
    rows = [[what(r), human(r["value"], r["unit"]), limit_text(r, r["limit"]), share_text(r)] for r in best_points(records)]
    return html(["nearest to its bound", "value", "bound", "of bound"], rows) if rows else ""
