# SPDX-License-Identifier: Apache-2.0
"""Every number of a platform file says where it comes from: a class of source, and what that class must name."""

import json
import re
import subprocess
import sys
import tomllib

import pytest
from conftest import REPORT, ROOT
from platform_file import base_of, declared_sources, entries, values, with_base

FOLDER = ROOT / "sim" / "platforms"
NAMES = sorted(f.stem for f in FOLDER.glob("*.toml"))
EXPECTED = "source [X], measured:, fitted:, estimate:, own choice:, as KEY"


def value_of(data, path):
    for part in path.split("."):
        data = data.get(part) if isinstance(data, dict) else None
    return data


def fault(source, path, data, sources):
    """What is wrong with the source of the value at `path`; None: nothing."""
    if m := re.match(r"source \[(\w+)\]", source):
        if m[1] not in sources:
            return f"[{m[1]}] is not among the sources of the header"
        if "second hand" in sources[m[1]]:
            return f"[{m[1]}] is known second hand: an estimate"
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
    return f"begins with none of: {EXPECTED}"


def faults(name, text):
    """Everything wrong with the sources of a file, as 'file:line: key: what'; how many values were looked at."""
    data, sources, found, numbers = tomllib.loads(text), declared_sources(text), [], 0
    for e in entries(text):
        numbers += bool(e.value)
        wrong = fault(e.source, e.path, data, sources) if e.source else None if e.inherited else "has no source"
        if wrong:
            found.append(f"{name}.toml:{e.line}: {e.path}: {wrong}")
    return found, numbers


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_a_class_of_source(name):
    text = (FOLDER / f"{name}.toml").read_text()
    found, numbers = faults(name, text)
    assert not found, "\n".join(found)
    assert numbers > (0 if base_of(text) else 100)


def test_a_platform_over_another_one_has_its_own_numbers_and_the_others(tmp_path):
    base, over = (with_base((FOLDER / f"{name}.toml").read_text(), FOLDER) for name in ("galibier-k20", "galibier-k20-socket"))
    assert [e.path for e in base] == [e.path for e in over]
    assert {e.path for e, f in zip(base, over) if e != f} == {"root_complex.gpu_to_nic.latency_ns", "root_complex.nic_to_gpu.latency_ns", "root_complex.nic_to_gpu.read_bytes_per_s"}
    done = table("galibier-k20-socket", "--class", "source", cwd=tmp_path)
    assert done.returncode == 0 and "  [C] A report" in done.stdout and "  [T] L. Oden" in done.stdout


def test_what_was_fitted_stands_in_the_documentation():
    page = (ROOT / "docs" / "calibration.md").read_text().partition("## What was fitted")[2].partition("\n## ")[0]
    listed = {m for row in page.splitlines() if row.startswith("| `") for m in re.findall(r"`(\w+\.[\w.]+)`", row.split("|")[1])}
    fitted = {e.path for name in NAMES for e in values((FOLDER / f"{name}.toml").read_text()) if e.kind == "fitted"}
    assert fitted == listed


def table(*arguments, cwd):
    return subprocess.run([sys.executable, str(REPORT / "platform_table.py"), *arguments], cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_a_platform_has_every_number_once(name, tmp_path):
    done = table(name, "--json", "numbers", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "numbers").read_text().splitlines()]
    numbers = with_base((FOLDER / f"{name}.toml").read_text(), FOLDER)
    assert [r["key"] for r in rows] == [e.path for e in numbers] and all(r["class"] for r in rows)
    for r in rows:
        assert f"  {r['key']} " in done.stdout


def test_the_table_can_be_one_class(tmp_path):
    done = table("galibier-k20", "--class", "fitted", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("6 fitted") and "gpu.op_cycles" in done.stdout and "estimate:" not in done.stdout


@pytest.mark.parametrize("name, words", [("galibier", ["unknown platform 'galibier'", "galibier-k20"]), ("nowhere.toml", ["nowhere.toml", "No such file"]), ("empty.toml", ["no numbers"])])
def test_the_table_refuses_what_is_no_platform(name, words, tmp_path):
    (tmp_path / "empty.toml").write_text("")
    done = table(name, cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr and all(w in done.stderr for w in words), done.stderr


@pytest.mark.parametrize("line, says", [
    ("x = 1", "my.toml:6: a.x: has no source"),
    ("x = 1 # because", "my.toml:6: a.x: begins with none of"),
    ("x = 1 # estimate", "my.toml:6: a.x: begins with none of"),
    ("x = 1 # source [Q]: page 3", "my.toml:6: a.x: [Q] is not among the sources"),
    ("x = 1 # source [S]", "my.toml:6: a.x: [S] is known second hand"),
    ("x = 1 # source [N]", "my.toml:6: a.x: [N] of the header has no link"),
    ("x = 1 # fitted: everything", "my.toml:6: a.x: names no calibration figure"),
    ("x = 1 # measured: by me", "my.toml:6: a.x: names no file"),
    ("x = 1 # measured: docs/no_such_page.md", "my.toml:6: a.x: names no file"),
    ("x = 1 # as a.y", "my.toml:6: a.x: differs from a.y"),
    ("x = 1 # as a.x", "my.toml:6: a.x: differs from a.x"),
    ("x = true", "my.toml:6: a.x: has no source"),
])
def test_a_number_without_a_class_is_named_with_file_and_line(line, says):
    text = f"#   [N] a book\n#   [L] a page, https://example.org\n#   [S] a figure; second hand: https://example.org\nname = \"my\"\n[a]\n{line}\ny = 2 # source [L]\n"
    found, _ = faults("my", text)
    assert len(found) == 1 and found[0].startswith(says), found
