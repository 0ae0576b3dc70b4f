# SPDX-License-Identifier: Apache-2.0
"""HTML tables of result records."""

from html import escape

from results import deviation, human, share


def columns(records):
    """Pairs of heading and a function from record to text; a column nobody fills is left out."""
    params = list(dict.fromkeys(k for r in records for k in r["params"]))
    cols = [("variant", lambda r: r["variant"])]
    cols += [(p, lambda r, p=p: str(r["params"].get(p, ""))) for p in params]
    metrics = {r["metric"] for r in records}
    if len(metrics) > 1:
        cols.append(("metric", lambda r: r["metric"]))
    cols.append((metrics.pop() if len(metrics) == 1 else "value", lambda r: human(r["value"], r["unit"])))
    for p in ("p50", "p99"):
        cols.append((p, lambda r, p=p: human(r[p], r["unit"])))
    cols.append(("published", lambda r: f"{human(r['reference']['value'], r['unit'], 2)} ({r['reference']['source']})" if r["reference"] else ""))
    cols.append(("deviation", deviation_text))
    cols.append(("bound", lambda r: f"{'≤' if r['limit']['at_most'] else '≥'} {human(r['limit']['value'], r['unit'])}" if r["limit"] else ""))
    cols.append(("of bound", share_text))
    return [(head, get) for head, get in cols if any(get(r) for r in records)]


def deviation_text(record):
    d = deviation(record)
    if d is None:
        return ""
    return "exact" if d == 0 else f"{100 * d:+.1f} %"


def share_text(record):
    part = share(record)
    if part is None:
        return ""
    # How many times the least time reads better than a share.
    return f"{part:.2f} ×" if record["unit"] == "ns" and not record["limit"]["at_most"] else f"{100 * part:.1f} %"


def table_of(records):
    cols = columns(records)
    head = "".join(f"<th>{escape(h)}</th>" for h, _ in cols)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(get(r))}</td>" for _, get in cols) + "</tr>" for r in records)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
