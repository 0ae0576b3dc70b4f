# SPDX-License-Identifier: Apache-2.0
"""Result files as someone may have spoilt them: a page and a comparison come of them, or a message that names the file; never a traceback."""

import copy
import json
import random
import sys

import results
from conftest import REPORT, ROOT

sys.path.insert(0, str(ROOT / "benchmarks" / "compare"))

import joining  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402

TEXTS = 3000
RECORDS = 1500
PAGES = 25  # a page with its plots takes as long as a hundred comparisons

PIECES = ["{", "}", "[", "]", '"', ":", ",", "null", "true", "NaN", "Infinity", "-", "1e999", "9" * 400, "[" * 4000, "\\u0000", "\ud800", "\u2028", "é", "\n", "\0", '"value":', '"params":{}']
VALUES = [None, True, 0, -1, 1, 10**30, 1e-320, 1e300, float("nan"), float("inf"), "", "x", "\ud800", "<b>", "$\\frac{", "\n", [], [1], {}, {"value": 0}, {"value": 1, "source": "s", "at_most": True}]
KEYS = ["value", "p50", "n", "nodes", "unit", "metric", "benchmark", "variant", "provider", "params", "bytes", "limit", "reference", "source", "at_most", "sim", "new"]


def good():
    lines = (ROOT / "tests" / "system" / "data" / "cuda.jsonl").read_text().splitlines()
    return lines + (ROOT / "docs" / "results" / "compare-2.jsonl").read_text().splitlines()[::40]


def mangled(text, rng):
    """One to four changes: a letter, a part left out, a piece put in, a part said twice."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text = text[:at] + chr(rng.randrange(0x250)) + text[at + 1 :]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 40) :]
            case 2:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case _:
                begin = rng.randrange(len(text) + 1)
                text = text[:at] + text[begin : begin + rng.randrange(60)] + text[at:]
    return text


def odd(records, rng):
    """Some values of some records are what no one writes."""
    records = copy.deepcopy(rng.sample(records, rng.randint(1, 6)))
    for _ in range(rng.randint(1, 5)):
        place = rng.choice(records)
        inner = [v for v in place.values() if isinstance(v, dict)]
        if inner and rng.random() < 0.5:
            place = rng.choice(inner)
        place[rng.choice([*place, rng.choice(KEYS)])] = copy.deepcopy(rng.choice(VALUES))
    return records


def taken(lines, use):
    """Whether the lines are used without a word; a word names the source."""
    try:
        use(results.parse(lines, "file"))
    except results.BadResults as e:
        assert str(e), lines
        return False
    return True


def compare(records):
    for (platform, nodes), rows in joining.join(records).items():
        if rows:
            table.text(platform, nodes, rows).encode()


def test_mangled_text():
    rng = random.Random(1)
    text = "\n".join(good()[:6])
    count = sum(taken(mangled(text, rng).split("\n"), compare) for _ in range(TEXTS))
    assert TEXTS // 100 < count < TEXTS


def test_files_of_any_bytes(tmp_path):
    rng = random.Random(2)
    file = tmp_path / "r.jsonl"
    for _ in range(300):
        data = bytearray("\n".join(good()[:2]).encode())
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        file.write_bytes(bytes(data))
        try:
            results.read(file)
        except results.BadResults as e:
            assert str(e).startswith(str(file))


def test_odd_values_in_comparisons():
    rng, records = random.Random(3), [json.loads(line) for line in good()]
    count = sum(taken(map(json.dumps, odd(records, rng)), compare) for _ in range(RECORDS))
    assert RECORDS // 20 < count < RECORDS


def test_odd_values_on_pages():
    rng, records = random.Random(4), [json.loads(line) for line in good()]
    pages = 0
    while pages < PAGES:
        pages += taken(map(json.dumps, odd(records, rng)), lambda found: report.build(found, REPORT).encode())
