#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthesises the NIC for an ECP5-85 and routes its units: LUT, FF, EBR and DSP by unit, Fmax by unit.

Every unit is mapped by itself, and routed by itself in a ring of registers (docs/pnr.md). Results are kept: what did
not change is not done again. The table goes to the standard output, the same as JSON lines into a file.

Exit status: 0 done (also if the NIC does not fit), 1 a tool failed, 2 wrong options, 3 the tools cannot be had.
"""

import argparse
import concurrent.futures
import fcntl
import json
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import netlist  # noqa: E402
import route  # noqa: E402
import sources  # noqa: E402
import toolchain  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Rows of the table. What lies between them (wiring, arbiters, register stages) counts for the unit above.
TOP = "nic_ecp5"
UNITS = (
    TOP,
    "nic_top",
    "hostif",
    "smfu",
    "smfu_lookup",
    "smfu_egress",
    "smfu_loads",
    "smfu_match",
    "smfu_quiet",
    "smfu_ingress",
    "smfu_rob",
    "net",
    "link",
    "regs",
    "counters",
    "event_queue",
    "msix",
    "rma",
    "rma_context",
    "rma_page",
    "rma_slots",
    "rma_queue",
    "rma_front",
    "rma_requester",
    "rma_status",
    "rma_fetch",
    "rma_answer",
    "rma_target",
    "rma_responder",
    "rma_atomic",
    "rma_notify",
    "velo_mailbox",
    "atu",
    "coll",
)
OPTIONS = ("rma_queue", "rma_responder", "rma_atomic", "velo_mailbox", "coll")  # units that a build may be without
COLUMNS = ("lut4", "ff", "ebr", "dsp")
TITLES = {"lut4": "LUT4", "ff": "FF", "ebr": "EBR", "dsp": "DSP", "lutram": "of LUT4 RAM"}


class Progress:
    """One line on a terminal that says what is under way; a line a step elsewhere."""

    def __init__(self):
        self.lock, self.begun, self.line = threading.Lock(), time.monotonic(), sys.stderr.isatty()
        self.now, self.done, self.all = [], 0, 0

    def step(self, text):
        return _Step(self, text)

    def show(self, ended=None):
        passed = time.monotonic() - self.begun
        if self.line:
            print(
                f"\r\x1b[K{passed:5.0f} s  {self.done}/{self.all}  {', '.join(self.now)}"[:150],
                end="",
                file=sys.stderr,
                flush=True,
            )
        elif ended:
            print(f"pnr: {passed:5.0f} s  {self.done}/{self.all}  {ended}", file=sys.stderr, flush=True)

    def clear(self):
        if self.line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Step:
    def __init__(self, progress, text):
        self.progress, self.text = progress, text

    def __enter__(self):
        with self.progress.lock:
            self.progress.now.append(self.text)
            self.progress.show()

    def __exit__(self, *_):
        with self.progress.lock:
            self.progress.now.remove(self.text)
            self.progress.done += 1
            self.progress.show(self.text)


def rows_of(tools, design, names, cache):
    """[(Unit, instances, Unit with everything below it)] of the chosen units."""
    chosen = names or UNITS
    count = design.instances("\\" + TOP)
    rows = []
    for plain in chosen:
        found = [n for n in design.find(plain) if count[n]]
        if not found and plain in OPTIONS and not names:
            continue
        if not found:
            raise netlist.Failed(f"unit {plain}: no such module in the NIC; rows of the table: {', '.join(UNITS)}")
        for name in found:
            whole = netlist.Unit(tools, design, name, (), cache)
            borders = () if names else [u for u in UNITS if u != plain]
            rows.append((netlist.Unit(tools, design, name, borders, cache), count[name], whole))
    return rows


def work(rows, opts):
    """Areas and routed frequencies: one record a row."""
    progress = Progress()
    routed = (
        {} if opts.area or opts.whole else {whole.key: whole for _, _, whole in rows if whole.plain not in (TOP, "nic_top", "rma")}
    )
    progress.all = len(rows) + len(routed)
    areas, fmax = {}, {}

    def area(unit):
        with progress.step(f"map {unit.plain}"):
            areas[unit.key] = unit.area()

    def frequency(unit):
        with progress.step(f"route {unit.plain}"):
            got = unit.area()
            if route.fits(got):
                fmax[unit.key] = route.route(unit, opts.mhz, opts.seed, opts.limit)
            else:
                fmax[unit.key] = {"error": "does not fit"}

    with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
        todo = [pool.submit(area, unit) for unit, _, _ in rows] + [
            pool.submit(frequency, unit) for unit in routed.values()
        ]
        try:
            for one in concurrent.futures.as_completed(todo):
                one.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            progress.clear()
    return [
        {"kind": "unit", "unit": unit.plain, "instances": n, **areas[unit.key], **fmax.get(whole.key, {})}
        for unit, n, whole in rows
    ]


def table(records):
    lines = [
        f"{'unit':<18}{'n':>3}"
        + "".join(f"{TITLES[c]:>9}" for c in COLUMNS)
        + f"{TITLES['lutram']:>13}  Fmax of the unit"
    ]
    for r in sorted(records, key=lambda r: -r["lut4"] * r["instances"]):
        clocks = r.get("fmax_mhz", {})
        text = ", ".join(f"{mhz:.0f} MHz" for mhz in clocks.values()) or r.get("error", "")
        lines.append(
            f"{r['unit']:<18}{r['instances']:>3}"
            + "".join(f"{r[c]:>9}" for c in COLUMNS)
            + f"{6 * r['lutram']:>13}  {text}".rstrip()
        )
    return lines


def total(records):
    return {c: sum(r[c] * r["instances"] for r in records) for c in COLUMNS}


def whole_nic(rows, records, opts):
    """Prints what the NIC takes in all; routes it if it fits."""
    whole = total(records)
    print(f"{'in all':<21}" + "".join(f"{whole[c]:>9}" for c in COLUMNS))
    print(f"{'ECP5-85 has':<21}" + "".join(f"{route.HAS[c]:>9}" for c in COLUMNS))
    record = {"kind": "total", **whole, "fits": route.fits(whole)}
    if not record["fits"]:
        over = [c for c in COLUMNS if whole[c] > route.HAS[c]]
        print("does not fit: " + ", ".join(f"{TITLES[c]} {100 * whole[c] / route.HAS[c]:.0f} %" for c in over))
    elif opts.area:
        print("fits by its counts; not routed")
    else:
        progress = Progress()
        progress.all = 1
        with progress.step("route the whole NIC"):
            units = [unit for unit, _, _ in rows]
            record.update(route.route_all(units, opts.cache.resolve(), opts.mhz, opts.seed, opts.limit, toolchain.newest(opts.newest)))
        progress.clear()
        clocks = ", ".join(f"{clock} {mhz:.0f} MHz" for clock, mhz in record.get("fmax_mhz", {}).items())
        print(record.get("error") or f"routed: {clocks}")
    return record


def arguments():
    args = argparse.ArgumentParser(
        prog="./ggas pnr", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    args.add_argument("--unit", nargs="+", metavar="NAME", help="only these modules, each with what lies below it")
    args.add_argument("--contexts", type=int, choices=(16, 64, 256), help="contexts of the NIC (256, lite: 16)")
    args.add_argument("--lite", action="store_true", help="the smallest NIC")
    args.add_argument("--without", nargs="+", default=(), choices=sources.UNITS, help="units that the NIC is built without")
    args.add_argument("--coll", action="store_true", help="with the unit for collectives")
    args.add_argument("--data-w", type=int, choices=(64, 256, 512), default=64, help="datapath width in bits (64)")
    args.add_argument("--area", action="store_true", help="synthesis only, nothing is routed")
    args.add_argument("--whole", action="store_true", help="the NIC in all is routed, but no unit alone")
    args.add_argument("--mhz", type=float, default=125, help="clock that the router aims at (125)")
    args.add_argument("--seed", type=int, default=1, help="seed of the placer (1)")
    args.add_argument(
        "--limit",
        type=int,
        default=3600,
        help="seconds to place and route a unit, or the NIC; then it has no Fmax (3600)",
    )
    args.add_argument("--jobs", type=int, default=os.cpu_count(), help="tools that run at a time (one a processor)")
    args.add_argument(
        "--json", type=pathlib.Path, default=pathlib.Path("pnr.jsonl"), help="file for the JSON lines (pnr.jsonl)"
    )
    args.add_argument(
        "--generated", type=pathlib.Path, default=ROOT / "build/release/generated", help=argparse.SUPPRESS
    )
    args.add_argument("--tools", type=pathlib.Path, default=ROOT / ".tools/ecp5", help="where the tools are unpacked")
    args.add_argument("--newest", type=pathlib.Path, default=ROOT / ".tools/nextpnr", help="where the nextpnr of PyPI is installed")
    args.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/pnr", help="where results are kept")
    opts = args.parse_args()
    if opts.jobs < 1:
        args.error("--jobs: at least 1")
    if opts.limit < 1:
        args.error("--limit: at least 1")
    if not 1 <= opts.mhz <= 1000:
        args.error("--mhz: 1 to 1000")
    if not opts.json.resolve().parent.is_dir():
        args.error(f"--json: {opts.json.parent}: no such folder")
    return opts


def main():
    opts = arguments()
    opts.cache.mkdir(parents=True, exist_ok=True)
    # Two runs would take each other's elaborated text for their own.
    with open(opts.cache / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"pnr: --cache: another run is at work in {opts.cache}: wait for it, or name another folder")
        measure(opts)


def measure(opts):
    tools = toolchain.find(opts.tools)
    contexts = opts.contexts or (16 if opts.lite else 256)
    defines = [*sources.defines(opts), f"-DGGAS_CONTEXTS={contexts}", f"-DGGAS_COLL={int(opts.coll)}"]
    design = netlist.elaborate(
        tools,
        sources.files(opts.generated) + sources.board_files("ecp5"),
        TOP,
        opts.data_w,
        defines,
        opts.cache.resolve(),
    )
    rows = rows_of(tools, design, opts.unit, opts.cache.resolve())
    records = work(rows, opts)
    head = {
        "kind": "run",
        "tools": tools.versions,
        "device": route.DEVICE,
        "data_w": opts.data_w,
        "contexts": contexts,
        "lite": opts.lite,
        "without": list(opts.without),
    }
    print(f"DATA_W={opts.data_w}, {'lite, ' * opts.lite}{contexts} contexts, {route.DEVICE}, {tools.versions}")
    print("\n".join(table(records)))
    lines = [head, *records]
    if not opts.unit:
        lines.append(whole_nic(rows, records, opts))
    opts.json.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except toolchain.Missing as error:
        print(f"pnr: {error}", file=sys.stderr)
        sys.exit(3)
    except netlist.Failed as error:
        sys.exit(f"pnr: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
