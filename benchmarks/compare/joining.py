# SPDX-License-Identifier: Apache-2.0
"""Puts the records of GGAS, NVSHMEM, NCCL and bare CUDA beside each other."""

import results
from quantities import FOREIGN, QUANTITIES

LIBRARIES = ("nvshmem", "nccl", "nccl_window", "yaksa")  # those that GGAS is compared with; `raw` is the limit
FEWEST = 5  # samples behind a median


def fits(value, wanted):
    return value in wanted if isinstance(wanted, (set, range)) else value == wanted


def is_of(variant, quantity, library):
    if library in FOREIGN:
        return variant == library
    return variant in quantity.ours if quantity.ours else variant not in FOREIGN


def belongs(record, quantity, library):
    scaled = {key: part * record["nodes"] for key, part in quantity.params_per_gpu.items()}
    wanted = quantity.params | quantity.own_params.get(library, {}) | scaled
    return (
        (record["benchmark"], record["metric"]) == (quantity.benchmark, quantity.metric)
        and is_of(record["variant"], quantity, library)
        and all(key in record["params"] and fits(record["params"][key], value) for key, value in wanted.items())
    )


def median(record):
    where = f"{record['benchmark']}, {record['variant']}, {record['params']}"
    if record["p50"] is None or record["n"] < FEWEST:
        raise results.BadResults(f"{where}: a comparison needs the median of {FEWEST} samples or more, not of {record['n']}")
    if record["p50"] <= 0:
        raise results.BadResults(f"{where}: the median is {record['p50']}: must be above 0")
    return record["p50"]


def best(records, quantity, library):
    """The best record of a library for a quantity; None if there is none."""
    found = [r for r in records if belongs(r, quantity, library)]
    return (max if quantity.is_rate else min)(found, key=median, default=None)


def shape(record):
    """Blocks and threads of each by which a figure was reached, where its record says so: "16x256"."""
    params = record["params"] if record else {}
    return f"{params['blocks']}x{params['threads']}" if params.get("blocks") and params.get("threads") else None


def ratio(ours, other, quantity):
    """Our time as a part of the other's; of rates the other's as a part of ours. Below 1 we are faster."""
    return other / ours if quantity.is_rate else ours / other


def ceiling(records, quantity, nodes):
    """The best that bare CUDA does: measured, or for large allreduces the time of the bytes that have to leave a GPU."""
    raw = best(records, quantity, "raw")
    if raw:
        return median(raw)
    if quantity.benchmark != "allreduce" or nodes < 2 or quantity.params["elements"] < 1 << 22:
        return None
    sends = [r for r in records if (r["benchmark"], r["variant"], r["params"].get("connections")) == ("put_bandwidth", "raw", nodes * (nodes - 1))]
    rates = [median(r) for r in sends if r["params"]["method"] != "copy_engine"]
    return 1e9 * 2 * (nodes - 1) / nodes * 4 * quantity.params["elements"] / max(rates) if rates else None


def bar_of(quantity, others):
    """The bar and whether it was measured here: a part of the best other's figure, or a figure for 8 GPUs."""
    if quantity.bar_ratio and others:
        return max(others) / quantity.bar_ratio if quantity.is_rate else quantity.bar_ratio * min(others)
    return quantity.bar


def row(records, quantity, nodes):
    """None if nobody has a figure."""
    by = {library: best(records, quantity, library) for library in ("ggas", *FOREIGN)}
    if not any(by.values()) or (quantity.only_with_ours and not by["ggas"]):
        return None
    medians = {library: median(r) if r else None for library, r in by.items()}
    shapes = {library: shape(r) for library, r in by.items()}
    others = [medians[library] for library in LIBRARIES if medians[library]]
    ours, bar = medians["ggas"], bar_of(quantity, others)
    fastest = (max if quantity.is_rate else min)(others, default=None)
    limit = ceiling(records, quantity, nodes)
    return {
        "quantity": quantity.text,
        "unit": next(r["unit"] for r in by.values() if r),
        "ggas": ours,
        **{library: medians[library] for library in LIBRARIES},
        "limit": limit,
        "ratio": ratio(ours, fastest, quantity) if ours and fastest else None,
        "to_limit": ratio(ours, limit, quantity) if ours and limit else None,
        "bar": bar,
        "bar_met": None if ours is None or bar is None else (ours >= bar if quantity.is_rate else ours <= bar),
        "bus_bytes": quantity.bus_bytes(nodes),
        "shapes": {"ggas": shapes["ggas"], **{library: shapes[library] for library in LIBRARIES}, "limit": shapes["raw"]},
        "params": {library: r["params"] for library, r in by.items() if r},
    }


def libraries(records):
    """Names and versions of the libraries that were measured, in order of appearance."""
    return list(dict.fromkeys(r["params"]["library"] for r in records if "library" in r["params"]))


def join(records):
    """Tables by (platform, nodes), in order of appearance: a list of rows each."""
    tables = {}
    for r in records:
        tables.setdefault((r["platform"], r["nodes"]), []).append(r)
    found = {key: [row(members, q, key[1]) for q in QUANTITIES] for key, members in tables.items()}
    return {key: [r for r in rows if r] for key, rows in found.items()}
