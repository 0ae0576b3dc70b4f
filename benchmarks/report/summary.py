# SPDX-License-Identifier: Apache-2.0
"""What a report says first: how far from published figures, how near to bounds, which goals are missed, the best point of each way."""

from results import COSTS, RATES, deviation, goal, human, is_met, nearness
from tables import deviation_text, goal_text, html, limit_text, share_text

NEAR = 0.1  # a deviation of 10 % at most


def place_of(record):
    return ", ".join(f"{key} {value}" for key, value in record["params"].items())


def what(record):
    """Benchmark, variant and place of a figure in words."""
    place = place_of(record)
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


def common_place(records):
    """Of the places that most variants have the last, which is the largest: its records by variant."""
    places = {}
    for r in records:
        places.setdefault(place_of(r), {})[r["variant"]] = r
    most = max(len(found) for found in places.values())
    return [found for found in places.values() if len(found) == most][-1]


def comparison(found):
    """The best and the worst of several ways at one place."""
    ranked = sorted(found.values(), key=lambda r: r["value"], reverse=next(iter(found.values()))["unit"] in RATES)
    best, worst = ranked[0], ranked[-1]
    least, most = sorted((abs(best["value"]), abs(worst["value"])))
    by = f", {most / least:.3g} times" if least else ""
    texts = [f"{r['variant']} {human(r['value'], r['unit'])}" for r in (best, worst)]
    return f"{place_of(best) or 'all points'}: best {texts[0]}, worst {texts[1]}{by}"


def course(members):
    """From the first to the last point of a variant that has several."""
    first, last = members[0], members[-1]
    if first is last:
        return f"{what(first)}: {human(first['value'], first['unit'])}"
    return f"{first['variant']}: {human(first['value'], first['unit'])} ({place_of(first)}) to {human(last['value'], last['unit'])} ({place_of(last)})"


def shows(records):
    """One sentence on what the figures of a benchmark show: the ways compared at the largest place, or the course of the only one."""
    if not records:
        return ""
    metric, unit = records[0]["metric"], records[0]["unit"]
    members = [r for r in records if (r["metric"], r["unit"]) == (metric, unit)]
    found = common_place(members)
    compared = len(found) > 1 and unit in (*RATES, *COSTS)
    text = comparison(found) if compared else course([r for r in members if r["variant"] == members[0]["variant"]])
    return f"{metric.replace('_', ' ').capitalize()}, {text}."


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
