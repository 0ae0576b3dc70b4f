# SPDX-License-Identifier: Apache-2.0
"""Result records: reading, checking, grouping, and numbers for people."""

import json
import math

NUMBER = (int, float)
REQUIRED = {
    "benchmark": str, "variant": str, "provider": str, "platform": str, "nic": str, "nodes": int, "params": dict,
    "metric": str, "unit": str, "value": NUMBER, "n": int, "sim": dict, "seed": int, "version": str,
}  # fmt: skip
OPTIONAL = {"p50": NUMBER, "p99": NUMBER, "reference": dict, "limit": dict}  # null if unknown
LATER = {"run": dict, "seeds": dict}  # null or missing in records of programs that did not write it yet
RUN = {"command": str, "set": list, "faults": list, "hosts": list, "environment": dict, "files": dict, "commit": str, "compiler": str}
SEEDS = {"count": int, "least": NUMBER, "most": NUMBER}
INSIDE = {"reference": {"value": NUMBER, "source": str}, "limit": {"value": NUMBER, "source": str, "at_most": bool}}
LEAST = {"nodes": 1, "n": 0}
RATES = ("B/s", "1/s", "1/J")  # units of which more is better
COSTS = ("ns", "J", "cycles", "B")  # less is better
MOST = 1e18  # of a number: what is computed from such ones stays finite, and whole ones fit into 64 bits


class BadResults(Exception):
    """A result file that breaks the format; the text names file, line and rule."""


def is_measured(value):
    return value == 0 or 1 / MOST <= abs(value) <= MOST


def check_key(found, key, kind, where):
    if key not in found:
        raise BadResults(f"{where}: key '{key}' is missing{' (null if unknown)' if key in OPTIONAL else ''}")
    value = found[key]
    if value is None and key in OPTIONAL:
        return
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise BadResults(f"{where}: key '{key}' has the wrong type")
    if kind is NUMBER and not is_measured(value):
        raise BadResults(f"{where}: key '{key}' is {value}: must be a finite number, 0 or of a size from {1 / MOST:g} to {MOST:g}")
    if key in LEAST and value < LEAST[key]:
        raise BadResults(f"{where}: key '{key}' is {value}: must be {LEAST[key]} or more")


def check(record, where):
    if not isinstance(record, dict):
        raise BadResults(f"{where}: a record is a JSON object")
    for key, kind in (REQUIRED | OPTIONAL).items():
        check_key(record, key, kind, where)
    for outer, keys in INSIDE.items():
        for key, kind in keys.items() if record[outer] is not None else ():
            check_key(record[outer], key, kind, f"{where}: {outer}")
        if record["limit"] is not None and not isinstance(record["limit"].setdefault("goal", False), bool):
            raise BadResults(f"{where}: limit: key 'goal' has the wrong type")
        if record[outer] is not None and record[outer]["value"] == 0:
            raise BadResults(f"{where}: {outer}: key 'value' must not be 0")
    for key, value in record["params"].items():
        if not isinstance(value, str) and not (isinstance(value, NUMBER) and is_measured(value)):
            raise BadResults(f"{where}: params: '{key}' must be a finite number or a text")
    for key, kind in LATER.items():
        record.setdefault(key, None)
        if not isinstance(record[key], (kind, type(None))):
            raise BadResults(f"{where}: key '{key}' has the wrong type")
    for outer, keys in (("run", RUN), ("seeds", SEEDS)):
        for key, kind in keys.items() if record[outer] is not None else ():
            check_key(record[outer], key, kind, f"{where}: {outer}")
    unknown = set(record) - set(REQUIRED) - set(OPTIONAL) - set(LATER)
    if unknown:
        raise BadResults(f"{where}: unknown key '{sorted(unknown)[0]}'")


def parse(lines, source):
    """The records of JSON lines; `source` names them in errors."""
    records = []
    for number, line in enumerate(lines, 1):
        where = f"{source}:{number}"
        try:
            record = json.loads(line)
            json.dumps(record, ensure_ascii=False).encode()  # JSON may hold halves of letters, which no one can write
        except json.JSONDecodeError as e:
            raise BadResults(f"{where}: {e.msg}") from None
        except (ValueError, RecursionError) as e:  # those, thousands of digits, brackets within brackets
            raise BadResults(f"{where}: {e}") from None
        check(record, where)
        records.append(record)
    return records


def read(path):
    """The records of a file, at least one."""
    try:
        found = parse(path.read_text(encoding="utf-8").splitlines(), path)
    except UnicodeDecodeError:
        raise BadResults(f"{path}: not a text file of JSON lines") from None
    except OSError as e:
        raise BadResults(f"{path}: {e.strerror}") from None
    if not found:
        raise BadResults(f"{path}: no results")
    return found


def seeds_text(record):
    seeds = record.get("seeds")
    return f"medians of {seeds['count']} seeds from {record['seed']}" if seeds else f"seed {record['seed']}"


def spread_text(record):
    """Of the seeds, around the median."""
    seeds, value = record.get("seeds"), record["value"]
    if not seeds or not value:
        return ""
    return f"{100 * (seeds['least'] / value - 1):+.1f} … {100 * (seeds['most'] / value - 1):+.1f} %"


def groups(records):
    """Records that may be compared with each other, in order of appearance."""
    found = {}
    for r in records:
        key = (r["provider"], r["platform"], r["nic"], r["nodes"], seeds_text(r), conditions(r.get("run")))
        found.setdefault(key, []).append(r)
    return list(found.items())


UNKNOWN = "command, commit and compiler: not recorded"


def overrides(run):
    """What was not as program and platform have it; empty: nothing."""
    topology = [f"--topology {run['topology']}"] if run.get("topology") not in (None, "auto") else []
    lists = [f"{option} {text}" for key, option in (("set", "--set"), ("faults", "--fault"), ("hosts", "[[node]]")) for text in run[key]]
    return ", ".join([*topology, *lists, *(f"{name}={value}" for name, value in run["environment"].items())])


def conditions(run):
    """Overrides, files and build in words: records may be compared where they are the same."""
    if run is None:
        return UNKNOWN
    changed = overrides(run)
    files = [f"{path} {digest}" for path, digest in run["files"].items()]
    return "; ".join([*([f"overridden: {changed}"] if changed else []), *files, run["commit"], run["compiler"]])


def heading(key):
    provider, platform, nic, nodes, seeds, _ = key
    if provider == "sim" and platform == "none":
        return f"Simulated: the NIC alone ({nic}), {seeds}"
    kind = f"Simulated: platform {platform}, NIC {nic}" if provider == "sim" else f"Measured: provider {provider}, on {platform}"
    return f"{kind}, {nodes} nodes, {seeds}"


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


def bound(record):
    """What is possible at best; None if that is not known."""
    return None if is_goal(record) else record.get("limit")


def goal(record):
    """What was set as a goal; None if nothing was."""
    return record["limit"] if is_goal(record) else None


def is_goal(record):
    return bool(record.get("limit") and record["limit"].get("goal"))


def is_met(record):
    limit = record["limit"]
    return record["value"] <= limit["value"] if limit["at_most"] else record["value"] >= limit["value"]


def nearness(record):
    """How near a figure comes to its bound: 1 is all that is possible. None without a bound."""
    most = bound(record)
    if not most or record["value"] <= 0:
        return None
    return record["value"] / most["value"] if most["at_most"] else most["value"] / record["value"]
