# SPDX-License-Identifier: Apache-2.0
"""The page of a sweep: each metric over the first swept parameter, a curve for each combination of the others."""

import sys
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))
import results  # noqa: E402
from plots import legend_above, plt, svg  # noqa: E402
from report import write  # noqa: E402
from tables import html, table_of  # noqa: E402

MOST_CURVES = 12  # of a plot; more cannot be distinguished


def curves(records, swept):
    """Points by label: what distinguishes records in addition the first parameter."""
    first = swept[0]
    varying = [k for k in dict.fromkeys(k for r in records for k in r["params"]) if k != first and len({str(r["params"].get(k)) for r in records}) > 1]
    found = {}
    for r in records:
        label = " ".join([r["variant"], *(f"{k}={r['params'][k]}" for k in varying if k in r["params"])])
        found.setdefault(label, []).append((r["params"][first], r["value"]))
    return found


def draw(records, swept):
    lines = list(curves(records, swept).items())[:MOST_CURVES]
    factor, unit = results.scale([r["value"] for r in records], records[0]["unit"])
    figure, ax = plt.subplots(figsize=(9, 4))
    for label, points in lines:
        words = isinstance(points[0][0], str)
        points = points if words else sorted(points)
        ax.plot([str(x) if words else x for x, _ in points], [y / factor for _, y in points], marker="o", markersize=4, label=label)
    ax.set_xlabel(swept[0])
    ax.set_ylabel(f"{records[0]['metric']} / {unit}" if unit else records[0]["metric"])
    legend_above(ax)
    return svg(figure)


def section(name, records, swept):
    figures = []
    for metric in dict.fromkeys((r["metric"], r["unit"]) for r in records):
        members = [r for r in records if (r["metric"], r["unit"]) == metric]
        figures.append(f"<figure>{draw(members, swept)}</figure>")
        extra = len(curves(members, swept)) - MOST_CURVES
        if extra > 0:
            figures.append(f"<p>{extra} more curves are in the table.</p>")
    return f"<h2>{escape(name)}</h2>\n{''.join(figures)}\n<div class='wide'>{table_of(records)}</div>"


STYLE = """body { font: 15px/1.45 system-ui, sans-serif; max-width: 78rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: .86rem; } th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #e4e4e4; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }"""


def facts(records):
    """What the records have in common."""
    keys = {"provider": "provider", "platform": "platform", "NIC": "nic", "nodes": "nodes", "seed": "seed", "version": "version"}
    return html(list(keys), [[", ".join(dict.fromkeys(str(r[key]) for r in records)) for key in keys.values()]])


def write_page(out, swept):
    records = results.read(out / "results.jsonl")
    names = list(dict.fromkeys(r["benchmark"] for r in records))
    body = "\n".join(section(n, [r for r in records if r["benchmark"] == n], swept) for n in names)
    title = f"Sweep over {', '.join(swept)}"
    write(
        out / "index.html",
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n{facts(records)}\n{body}\n</body></html>\n",
    )
