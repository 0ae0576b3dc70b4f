# SPDX-License-Identifier: Apache-2.0
"""Every number of a platform file says where it comes from: a class of source, and what that class must name."""

import re
import tomllib

import pytest
from conftest import ROOT

FOLDER = ROOT / "sim" / "platforms"
NAMES = sorted(f.stem for f in FOLDER.glob("*.toml"))
TABLE = re.compile(r"\[([\w.]+)\]\s*(?:#\s*(.*))?$")
VALUE = re.compile(r"(\w+)\s*=\s*([^#\"]+?)\s*(?:#\s*(.*))?$")
DECLARED = re.compile(r"#\s+\[(\w+)\]\s")
CLASSES = "source [X], measured:, fitted:, estimate:, own choice:, as KEY"


def value_of(data, path):
    for part in path.split("."):
        data = data.get(part) if isinstance(data, dict) else None
    return data


def declared_sources(text):
    """Tags of the header with what is said of each, up to the next one."""
    header = text.partition("\nname")[0]
    parts = DECLARED.split(header)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def fault(source, path, data, sources):
    """What is wrong with the source of the value at `path`; None: nothing."""
    if m := re.match(r"source \[(\w+)\]", source):
        if m[1] not in sources:
            return f"[{m[1]}] is not among the sources of the header"
        return None if "https://" in sources[m[1]] else f"[{m[1]}] of the header has no link"
    if m := re.match(r"as ([\w.]+)$", source):
        other = value_of(data, m[1])
        return None if other is not None and m[1] != path and other == value_of(data, path) else f"differs from {m[1]}"
    if source.startswith("measured: "):
        files = re.findall(r"[\w./-]+\.(?:md|cu)\b", source)
        return None if files and all((ROOT / f).is_file() for f in files) else "names no file of the repository with the measurement"
    if source.startswith("fitted: "):
        return None if re.match(r"fitted: C[1-8]\b", source) else "names no calibration figure"
    if re.match(r"(estimate|own choice): \S", source):
        return None
    return f"begins with none of: {CLASSES}"


def faults(name, text):
    """Everything wrong with the sources of a file, as 'file:line: key: what'; how many values were looked at."""
    data, sources, found, values = tomllib.loads(text), declared_sources(text), [], 0
    table, of_table, line_of_table = "", "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if m := TABLE.match(line):
            table, of_table, line_of_table = m[1], m[2] or "", number
            if of_table and (wrong := fault(of_table, table, data, sources)):
                found.append(f"{name}.toml:{number}: {table}: {wrong}")
        elif m := VALUE.match(line):
            values += 1
            path = f"{table}.{m[1]}" if table else m[1]
            wrong = fault(m[3], path, data, sources) if m[3] else None if of_table else "has no source"
            if wrong:
                found.append(f"{name}.toml:{number}: {path}: {wrong}")
    return found, values


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_a_class_of_source(name):
    text = (FOLDER / f"{name}.toml").read_text()
    found, values = faults(name, text)
    assert not found, "\n".join(found)
    assert values > 100


def test_what_was_fitted_stands_in_the_documentation():
    page = (ROOT / "docs" / "calibration.md").read_text().partition("## What was fitted")[2].partition("\n## ")[0]
    listed = {m for row in page.splitlines() if row.startswith("| `") for m in re.findall(r"`(\w+\.[\w.]+)`", row.split("|")[1])}
    table, fitted = "", set()
    for line in (FOLDER / "galibier-k20.toml").read_text().splitlines():
        if m := TABLE.match(line):
            table = m[1]
        elif (m := VALUE.match(line)) and (m[3] or "").startswith("fitted:"):
            fitted.add(f"{table}.{m[1]}")
    assert fitted == listed


@pytest.mark.parametrize("line, says", [
    ("x = 1", "my.toml:5: a.x: has no source"),
    ("x = 1 # because", "my.toml:5: a.x: begins with none of"),
    ("x = 1 # estimate", "my.toml:5: a.x: begins with none of"),
    ("x = 1 # source [Q]: page 3", "my.toml:5: a.x: [Q] is not among the sources"),
    ("x = 1 # source [N]", "my.toml:5: a.x: [N] of the header has no link"),
    ("x = 1 # fitted: everything", "my.toml:5: a.x: names no calibration figure"),
    ("x = 1 # measured: by me", "my.toml:5: a.x: names no file"),
    ("x = 1 # measured: docs/no_such_page.md", "my.toml:5: a.x: names no file"),
    ("x = 1 # as a.y", "my.toml:5: a.x: differs from a.y"),
    ("x = 1 # as a.x", "my.toml:5: a.x: differs from a.x"),
    ("x = true", "my.toml:5: a.x: has no source"),
])
def test_a_number_without_a_class_is_named_with_file_and_line(line, says):
    text = f"#   [N] a book\n#   [L] a page, https://example.org\nname = \"my\"\n[a]\n{line}\ny = 2 # source [L]\n"
    found, _ = faults("my", text)
    assert len(found) == 1 and found[0].startswith(says), found
