# SPDX-License-Identifier: Apache-2.0
"""Headers of the device API: short ones, and details that lie by subject, in an order without circles."""
import re

import pytest
from conftest import ROOT

HEADERS = ROOT / "gpu_api" / "include" / "ggas"
# A subject includes itself and those before it.
SUBJECTS = ["platform", "access", "sync", "one_sided", "collective", "ranks", "type", "message", "mpi", "stream", "work"]
LONGEST = 250
FILES = sorted(p for p in HEADERS.rglob("*") if p.suffix in (".cuh", ".hpp", ".h"))


def name(path):
    return str(path.relative_to(HEADERS))


def included(path):
    return [HEADERS / f for f in re.findall(r'^#include "ggas/(.*)"', path.read_text(), re.M) if (HEADERS / f).exists()]


def circle(start, seen=()):
    """Files from `start` back to it, or nothing."""
    stack = [(start, (start,))]
    visited = set()
    while stack:
        path, way = stack.pop()
        for other in included(path):
            if other == start:
                return [name(p) for p in (*way, other)]
            if other not in visited:
                visited.add(other)
                stack.append((other, (*way, other)))
    return []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_nobody_includes_itself(path):
    assert circle(path) == []


@pytest.mark.parametrize("path", [p for p in FILES if p.parent == HEADERS], ids=name)
def test_public_headers_are_short(path):
    lines = path.read_text().count("\n")
    assert lines <= LONGEST, f"{lines} lines"


def test_details_lie_by_subject():
    folders = {p.parent.name for p in FILES if p.parent.parent == HEADERS / "detail"}
    assert folders == set(SUBJECTS)
    assert [p.name for p in FILES if p.parent == HEADERS / "detail"] == ["long.cuh", "plan.hpp", "ring.cuh"]


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.parent == HEADERS / "detail"], ids=name)
def test_subjects_include_what_is_before_them(path):
    rank = SUBJECTS.index(path.parent.name)
    later = [name(p) for p in included(path) if p.parent.parent == HEADERS / "detail" and SUBJECTS.index(p.parent.name) > rank]
    assert later == []


def test_rings_need_no_more_than_waits():
    subjects = {p.parent.name for p in included(HEADERS / "detail" / "ring.cuh")}
    assert subjects <= set(SUBJECTS[: SUBJECTS.index("sync") + 1])
