# SPDX-License-Identifier: Apache-2.0
"""A test that no list names is built by no one and never fails."""

import re

import pytest
from conftest import ROOT

TESTS = ROOT / "tests"
KINDS = {"*_test.cpp": "", "*.cu": "", "test_*.py": "test_"}


def is_listed(file, prefix=""):
    """Whether a CMakeLists.txt of the folder or of one above it has the file's name, or what a pattern completes."""
    names = {file.stem, file.stem.removeprefix(prefix).removesuffix("_test")}
    folders = [f for f in file.parents if f.is_relative_to(TESTS)]
    lists = [(f / "CMakeLists.txt").read_text() for f in folders if (f / "CMakeLists.txt").exists()]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names for text in lists)


@pytest.mark.parametrize("pattern", KINDS)
def test_every_test_is_built(pattern):
    files = sorted(TESTS.rglob(pattern))
    assert files
    assert not [str(f.relative_to(ROOT)) for f in files if not is_listed(f, KINDS[pattern])]


def test_a_file_in_no_list_is_found():
    assert not is_listed(TESTS / "gpu_api" / "nobody_builds_this_test.cpp")
