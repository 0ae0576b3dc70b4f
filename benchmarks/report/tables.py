# SPDX-License-Identifier: Apache-2.0
"""HTML tables of result records."""

from html import escape

from results import bound, deviation, goal, human, is_met, spread_text


def columns(records):
    """Pairs of heading and a function from record to text; a column no one fills is left out."""
    params = list(dict.fromkeys(k for r in records for k in r["params"]))
    cols = [("variant", lambda r: r["variant"])]
    cols += [(p, lambda r, p=p: str(r["params"].get(p, ""))) for p in params]
    metrics = {r["metric"] for r in records}
    if len(metrics) > 1:
        cols.append(("metric", lambda r: r["metric"]))
    cols.append((metrics.pop() if len(metrics) == 1 else "value", lambda r: human(r["value"], r["unit"])))
    cols.append(("spread", spread_text))
    if any(r["p50"] not in (None, r["value"]) for r in records):
        cols.append(("p50", lambda r: human(r["p50"], r["unit"])))
    cols.append(("p99", lambda r: human(r["p99"], r["unit"])))
    cols.append(("published", lambda r: f"{human(r['reference']['value'], r['unit'], 2)} ({r['reference']['source']})" if r["reference"] else ""))
    cols.append(("deviation", deviation_text))
    cols += [("bound", lambda r: limit_text(r, bound(r))), ("of bound", share_text)]
    cols += [("goal", lambda r: limit_text(r, goal(r))), ("is", goal_text)]
    return [(head, get) for head, get in cols if any(get(r) for r in records)]


def deviation_text(record):
    d = deviation(record)
    if d is None:
        return ""
    return "exact" if d == 0 else f"{100 * d:+.1f} %"


def limit_text(record, limit):
    return f"{'≤' if limit['at_most'] else '≥'} {human(limit['value'], record['unit'])}" if limit else ""


def share_text(record):
    most = bound(record)
    if not most:
        return ""
    part = record["value"] / most["value"]
    # How many times the least time reads better than a share.
    return f"{part:.2f} ×" if record["unit"] == "ns" and not most["at_most"] else f"{100 * part:.1f} %"


def goal_text(record):
    if not goal(record):
        return ""
    return "met" if is_met(record) else f"missed by {100 * abs(record['value'] / record['limit']['value'] - 1):.1f} %"


def html(head, rows):
    """A table of texts."""
    heading = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>\n<thead><tr>{heading}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def table_of(records):
    cols = columns(records)
    return html([h for h, _ in cols], [[get(r) for _, get in cols] for r in records])
