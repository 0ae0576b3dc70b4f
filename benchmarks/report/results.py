# SPDX-License-Identifier: Apache-2.0
"""Result records: reading, checking, grouping, and numbers for people."""

import json
import math

REQUIRED = {
    "benchmark": str, "variant": str, "provider": str, "platform": str, "nic": str, "nodes": int, "params": dict,
    "metric": str, "unit": str, "value": (int, float), "n": int, "sim": dict, "seed": int, "version": str,
}  # fmt: skip
OPTIONAL = ("p50", "p99", "reference", "limit")


class BadResults(Exception):
    """A result file that breaks the format; the text names file, line and rule."""


def check(record, where):
    if not isinstance(record, dict):
        raise BadResults(f"{where}: a record is a JSON object")
    for key, kind in REQUIRED.items():
        if key not in record:
            raise BadResults(f"{where}: key '{key}' is missing")
        if not isinstance(record[key], kind) or isinstance(record[key], bool):
            raise BadResults(f"{where}: key '{key}' has the wrong type")
    for key in OPTIONAL:
        if key not in record:
            raise BadResults(f"{where}: key '{key}' is missing (null if unknown)")
    unknown = set(record) - set(REQUIRED) - set(OPTIONAL)
    if unknown:
        raise BadResults(f"{where}: unknown key '{sorted(unknown)[0]}'")


def parse(lines, source):
    """The records of JSON lines; `source` names them in errors."""
    records = []
    for number, line in enumerate(lines, 1):
        where = f"{source}:{number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as e:
            raise BadResults(f"{where}: {e.msg}") from None
        check(record, where)
        records.append(record)
    return records


def read(path):
    return parse(path.read_text(encoding="utf-8").splitlines(), path)


def groups(records):
    """Records that may be compared with each other, in order of appearance."""
    found = {}
    for r in records:
        key = (r["provider"], r["platform"], r["nic"], r["nodes"], r["seed"])
        found.setdefault(key, []).append(r)
    return list(found.items())


def heading(key):
    provider, platform, nic, nodes, seed = key
    if provider == "sim" and platform == "none":
        return f"Simulated: the NIC alone ({nic}), seed {seed}"
    kind = f"Simulated: platform {platform}, NIC {nic}" if provider == "sim" else f"Measured: provider {provider}, on {platform}"
    return f"{kind}, {nodes} nodes, seed {seed}"


UNITS = {"ns": [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")], "J": [(1e3, "kJ"), (1, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ")]}


def scale(values, unit):
    """Factor and unit that suit the largest of the values."""
    top = max((abs(v) for v in values), default=0)
    if unit in ("1", "cycles", "fraction"):
        return 1, {"1": "", "cycles": "cycles", "fraction": ""}[unit]
    name = unit[1:] if unit in ("1/s", "1/J") else unit
    steps = UNITS.get(unit) or [(1e12, "T" + name), (1e9, "G" + name), (1e6, "M" + name), (1e3, "k" + name), (1, name)]
    for factor, text in steps:
        if top >= factor:
            return factor, text
    return steps[-1]


def human(value, unit, digits=3):
    if value is None:
        return ""
    if unit == "fraction":
        return f"{100 * value:.1f} %"
    factor, text = scale([value], unit)
    v = value / factor
    whole = unit in ("1", "cycles") and v == int(v)
    places = 0 if whole or v == 0 else max(0, digits - 1 - math.floor(math.log10(abs(v))))
    return f"{v:.{places}f} {text}".strip()


def deviation(record):
    ref = record.get("reference")
    if not ref:
        return None
    return (record["value"] - ref["value"]) / ref["value"]


def share(record):
    """The value as a part of its bound."""
    lim = record.get("limit")
    if not lim:
        return None
    return record["value"] / lim["value"]
