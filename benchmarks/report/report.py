#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns result files (JSON lines) into one self-contained HTML page with plots.

Results of different providers, platforms or NIC models never share a plot or a table: each such group has a section of its own.
"""

import argparse
import sys
from pathlib import Path

import energy
import power
import results
import scaling
import upc_cases
from jinja2 import Environment, FileSystemLoader
from plots import nearness_bars, plots_of
from summary import sentences, shows, table_of_best
from tables import table_of

TITLES = {
    "nic_cycles": "NIC alone, in core cycles",
    "store_latency": "Store latency: half a round trip",
    "load_latency": "Load latency: load, local store, fence",
    "store_bandwidth": "Store bandwidth",
    "load_bandwidth": "Load bandwidth",
    "coalescing": "Requests that enter the NIC",
    "barrier": "Barrier",
    "reduce": "Reduce",
    "allreduce": "Allreduce",
    "random_access": "RandomAccess",
    "random_stores": "Stores to random nodes",
    "put_latency": "Put latency: half a round trip",
    "get_latency": "Get latency",
    "put_bandwidth": "Put bandwidth, GPU to GPU",
    "get_bandwidth": "Get bandwidth, GPU to GPU",
    "message_rate": "Message rate",
    "atomic_latency": "Latency of a fetch-add",
    "transfer_path": "Puts between memories of hosts and GPUs",
    "overhead": "What a transfer costs a processor that works",
    "post_and_poll": "Posting a request and polling a completion",
    "launching": "Launching and synchronisation",
    "broadcast": "Broadcast",
    "allgather": "Allgather",
    "alltoall": "Alltoall",
    "gather": "Gather",
    "scatter": "Scatter",
    "permute": "Permute",
    "scan": "Scan",
    "upc": "Collectives of UPC by ranks",
    "message": "Messages in kernels",
    "pi": "pi by MPI in kernels",
    "virtualization": "Time over blocks",
    "himeno": "Himeno",
    "global_reduction": "Global reduction",
    "energy": "Energy",
}


def section(name, all_records):
    of_parts = [r for r in all_records if energy.is_energy(r)]
    records = [r for r in all_records if not energy.is_energy(r)]
    stacked = energy.stacked_bars(of_parts)
    return {
        "name": name,
        "title": TITLES.get(name, name),
        "shows": shows(records),
        "plots": plots_of(name, records) + ([stacked] if stacked else []),
        "energy_delay": energy.delay_table(records, of_parts),
        "table": table_of(records),
        "limits": sorted({f"{'goal' if results.is_goal(r) else 'bound'}: {r['limit']['source']}" for r in records if r.get("limit")}),
    }


def commands(records):
    return list(dict.fromkeys(r["run"]["command"] for r in records if r.get("run")))


def build(records, template_folder, power_plot=None):
    groups = []
    for number, (key, members) in enumerate(results.groups(records)):
        names = list(dict.fromkeys(r["benchmark"] for r in members))
        sections = [section(n, [r for r in members if r["benchmark"] == n]) for n in names]
        overview = nearness_bars(members) if key[0] == "cuda" and len(names) > 1 else None
        groups.append({
            "id": f"group{number}", "heading": results.heading(key), "conditions": key[-1], "commands": commands(members), "summary": sentences(members), "best": table_of_best(members),
            "overview": overview, "sections": sections,
        })  # fmt: skip
    # Plots and tables are made here and marked safe in the template; every other text is escaped.
    env = Environment(loader=FileSystemLoader(template_folder), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return env.get_template("report.html.j2").render(groups=groups, scaling=scaling.plots(records), power=power_plot, version=records[0]["version"], published=any(r["reference"] for r in records))


def write(file, page):
    """All of the page or, where the disk is full, the page that was there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    try:
        new.write_text(page, encoding="utf-8")
        new.replace(file)
    except OSError as e:
        new.unlink(missing_ok=True)
        e.filename = file
        raise


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path, help="JSON lines written by ggas-bench")
    parser.add_argument("--out", type=Path, default=Path("report"), help="folder of index.html (default: %(default)s)")
    parser.add_argument("--power", type=Path, help="power over time, CSV written by ggas-bench --power")
    args = parser.parse_args(argv)
    try:
        records = [r for f in args.results for r in results.read(f)]
        page = build(records, Path(__file__).parent, power.plot(args.power) if args.power else None)
        write(args.out / "index.html", page)
        if any(r["benchmark"] == "upc_cases" for r in records):
            upc_cases.write(records, args.out)
    except results.BadResults as e:
        print(f"report: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"report: {e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
