# SPDX-License-Identifier: Apache-2.0
"""Puts the records of GGAS, NVSHMEM, NCCL and bare CUDA next to each other."""

import results
from quantities import ENERGY, FOREIGN, QUANTITIES, group_of

LIBRARIES = ("nvshmem", "nccl", "nccl_window", "yaksa")  # those that GGAS is compared with; `raw` is the limit
FEWEST, FEWEST_WINDOWS = 5, 3  # samples after a median; of energy each is a window of 5 s


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
        (record["benchmark"], record["metric"]) == (quantity.own_benchmark.get(library, quantity.benchmark), quantity.metric)
        and is_of(record["variant"], quantity, library)
        and all(key in record["params"] and fits(record["params"][key], value) for key, value in wanted.items())
    )


def median(record):
    where = f"{record['benchmark']}, {record['variant']}, {record['params']}"
    fewest = FEWEST_WINDOWS if record["benchmark"] == ENERGY else FEWEST
    if record["p50"] is None or record["n"] < fewest:
        raise results.BadResults(f"{where}: a comparison needs the median of {fewest} samples or more, not of {record['n']}")
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


def library_of(record):
    """"NCCL 2.28.9", as the program said; records from elsewhere may have anything there."""
    return str(record["params"].get("library", ""))


def columns(records):
    """Pairs of key and library, with a column for each version of a library: "nccl", or "nccl 2.28.9" and "nccl 2.32.3"."""
    found = [("ggas", "ggas", records)]
    for library in FOREIGN:
        of_it = [r for r in records if r["variant"] == library]
        versions = list(dict.fromkeys(library_of(r).split(" ")[-1] for r in of_it))
        if len(versions) < 2:
            found.append((library, library, of_it))
        else:
            found += [(f"{library} {v}", library, [r for r in of_it if library_of(r).endswith(v)]) for v in versions]
    return found


def why_empty(quantity, library, failures):
    """What failed when this figure was to be measured; None: nothing is known to have."""
    group = group_of(quantity, library)
    found = [f for f in failures if library.startswith(f["library"]) and group is not None and f["group"] in ("", group)]
    return found[0]["why"] if found else None


def row(records, quantity, nodes, failures=()):
    """None if no one has a figure."""
    all_columns = columns(records)
    by = {key: best(of_it, quantity, library) for key, library, of_it in all_columns}
    if not any(by.values()) or (quantity.only_with_ours and not by["ggas"]):
        return None
    medians = {key: median(r) if r else None for key, r in by.items()}
    shapes = {key: shape(r) for key, r in by.items()}
    others = [medians[key] for key, library, _ in all_columns if library in LIBRARIES and medians[key]]
    why = {key: why_empty(quantity, library, failures) for key, library, _ in all_columns if medians[key] is None}
    shown = [key for key, library, _ in all_columns if library in LIBRARIES]
    ours, bar = medians["ggas"], bar_of(quantity, others)
    fastest = (max if quantity.is_rate else min)(others, default=None)
    limit = ceiling(records, quantity, nodes)
    return {
        "quantity": quantity.text,
        "unit": next(r["unit"] for r in by.values() if r),
        "ggas": ours,
        **{key: medians[key] for key in shown},
        "limit": limit,
        "ratio": ratio(ours, fastest, quantity) if ours and fastest else None,
        "to_limit": ratio(ours, limit, quantity) if ours and limit else None,
        "bar": bar,
        "bar_met": None if ours is None or bar is None else (ours >= bar if quantity.is_rate else ours <= bar),
        "bus_bytes": quantity.bus_bytes(nodes),
        "shapes": {"ggas": shapes["ggas"], **{key: shapes[key] for key in shown}, "limit": shapes.get("raw")},
        "why": {{"raw": "limit"}.get(key, key): text for key, text in why.items() if text},
        "params": {library: r["params"] for library, r in by.items() if r},
    }


def libraries(records):
    """Names and versions of the libraries that were measured, in order of appearance."""
    return list(dict.fromkeys(r["params"]["library"] for r in records if "library" in r["params"]))


def conditions(records):
    """Overrides and builds of the runs, in order of appearance."""
    return list(dict.fromkeys(results.conditions(r.get("run")) for r in records))


def join(records, failures=()):
    """Tables by (platform, nodes), in order of appearance: a list of rows each. `failures`: programs, or groups of theirs, that did not end well."""
    tables = {}
    for r in records:
        tables.setdefault((r["platform"], r["nodes"]), []).append(r)
    found = {key: [row(members, q, key[1], failures) for q in QUANTITIES] for key, members in tables.items()}
    return {key: [r for r in rows if r] for key, rows in found.items()}
