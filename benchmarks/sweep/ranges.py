# SPDX-License-Identifier: Apache-2.0
"""Ranges of a parameter: KEY=A,B,C or KEY=FROM:TO:STEP or KEY=FROM:TO:xFACTOR."""

from decimal import Decimal, InvalidOperation

MOST_VALUES = 10_000
RULE = "expected A,B,C or FROM:TO:STEP or FROM:TO:xFACTOR"


class BadRange(Exception):
    """The text names the range and the rule."""


def number(text, whole):
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = None
    if value is None or not value.is_finite():
        raise BadRange(f"--over {whole}: '{text}' is not a number; {RULE}")
    return value


def plain(value):
    """As a person writes it: 100, 0.5; whole numbers as int, others as float."""
    return int(value) if value == value.to_integral_value() else float(value)


def steps(text, whole):
    parts = text.split(":")
    if len(parts) != 3 or not all(parts):
        raise BadRange(f"--over {whole}: the range has no end or no step; {RULE}")
    times = parts[2].startswith("x")
    start, end, step = number(parts[0], whole), number(parts[1], whole), number(parts[2].removeprefix("x"), whole)
    if times and (start <= 0 or step <= 1):
        raise BadRange(f"--over {whole}: FROM must be above 0 and the factor above 1; the nearest is {parts[0] if start > 0 else 1}:{parts[1]}:x{step if step > 1 else 2}")
    if not times and step <= 0:
        raise BadRange(f"--over {whole}: STEP must be above 0; the nearest is {parts[0]}:{parts[1]}:{abs(step) or 1}")
    if end < start:
        raise BadRange(f"--over {whole}: TO is below FROM; the nearest is {parts[1]}:{parts[0]}:{parts[2]}")
    found = []
    while start <= end:
        found.append(plain(start))
        if len(found) > MOST_VALUES:
            raise BadRange(f"--over {whole}: more than {MOST_VALUES} values; take a larger step")
        start = start * step if times else start + step
    return found


def single(text):
    """A value of a list: a number where it reads as one."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    return plain(value) if value.is_finite() else text


def topologies(values):
    """What a list names: options after a topology, as in fat-tree:4x2,forward_ns=200, are part of it."""
    found = []
    for part in values.split(","):
        if "=" in part and found:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def read_over(text):
    """Key and values."""
    key, equals, values = text.partition("=")
    if not key or not equals or not values:
        raise BadRange(f"--over {text}: expected KEY=RANGE; {RULE}")
    if key == "topology":
        found = topologies(values)  # torus:4x4 is no range
    elif ":" in values and "," not in values:
        return key, steps(values, text)
    else:
        found = [single(v) for v in values.split(",")]
    if "" in found:
        raise BadRange(f"--over {text}: an empty value; {RULE}")
    return key, list(dict.fromkeys(found))
