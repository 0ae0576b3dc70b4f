# SPDX-License-Identifier: Apache-2.0
"""Formatters, linters and licence tags over the tree. Their versions are those of requirements.txt."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TOOLS = Path(sys.executable).parent
FOLDERS = (".ci", "benchmarks", "cmake", "examples", "gpu_api", "kernel", "programs", "rtl", "sim", "tests", "userlib")
FORMATTED = {".c", ".cpp", ".cu", ".cuh", ".h", ".hpp"}
TAGGED = FORMATTED | {".cmake", ".map", ".py", ".rdl", ".sbatch", ".sh", ".sv", ".toml"}
OF_THE_KERNEL = (ROOT / "kernel", ROOT / "tests" / "kernel")  # its style; checkpatch looks at it (programs/vm/checks.py)


def files():
    found = [f for folder in FOLDERS for f in (ROOT / folder).rglob("*") if f.is_file() and "__pycache__" not in f.parts]
    return sorted([*found, ROOT / "ggas", ROOT / "CMakeLists.txt"])


def run(tool, *words):
    done = subprocess.run([TOOLS / tool, *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def test_clang_format():
    sources = [f for f in files() if f.suffix in FORMATTED and not any(folder in f.parents for folder in OF_THE_KERNEL)]
    assert len(sources) > 500
    run("clang-format", "--dry-run", "-Werror", *sources)


def test_ruff():
    run("ruff", "check", "--no-cache", *FOLDERS)


def is_script(file):
    with file.open("rb") as opened:
        return re.match(rb"#!/bin/(busybox )?(ba)?sh\b", opened.readline())


def test_shellcheck():
    scripts = [f for f in files() if is_script(f)]
    assert {ROOT / "ggas", ROOT / ".ci" / "run"} <= set(scripts)
    run("shellcheck", *scripts)


TAG = re.compile(r"SPDX-License-Identifier: ([^*#>\n]+)")


def licences(tag):
    """Names of licences and exceptions in an expression."""
    return set(re.findall(r"[\w.-]+", tag)) - {"AND", "OR", "WITH"}


@pytest.mark.parametrize("folder", [*FOLDERS, "."])
def test_licence_tags(folder):
    texts = {f.stem for f in (ROOT / "LICENSES").iterdir()}
    for file in files():
        inside = file.parent == ROOT if folder == "." else (ROOT / folder) in file.parents
        if inside and (file.suffix in TAGGED or file.name in ("CMakeLists.txt", "Kbuild") or is_script(file)):
            tag = TAG.search("".join(file.read_text().splitlines(True)[:3]))
            assert tag, f"{file.relative_to(ROOT)}: no SPDX-License-Identifier in its first three lines"
            assert licences(tag[1].strip()) <= texts, f"{file.relative_to(ROOT)}: no text of {tag[1]} in LICENSES/"
