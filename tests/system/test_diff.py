# SPDX-License-Identifier: Apache-2.0
"""./ggas bench diff: two files of records, point by point."""

import json
import subprocess
import sys

import pytest
from conftest import REPORT

BASE = {
    "benchmark": "store_latency", "variant": "store", "provider": "sim", "platform": "modern", "nic": "rtl", "nodes": 2, "params": {"bytes": 8}, "metric": "half_round_trip",
    "unit": "ns", "value": 100.0, "p50": None, "p99": None, "n": 1, "reference": None, "limit": None, "sim": {}, "seed": 1, "version": "1",
}  # fmt: skip


def write(file, *changes):
    file.write_text("".join(json.dumps(BASE | c) + "\n" for c in changes))
    return file


@pytest.fixture
def diff(tmp_path):
    """Compares records that differ from BASE as reported; returns the process."""

    def run(before, after, *options):
        files = [write(tmp_path / name, *changes) for name, changes in (("a", before), ("b", after))]
        return subprocess.run([sys.executable, str(REPORT / "diff.py"), *map(str, files), *options], cwd=tmp_path, capture_output=True, text=True)

    return run


@pytest.mark.parametrize(
    "unit, after, result, status",
    [
        ("ns", 104.0, "worse", 1), ("ns", 96.0, "better", 0), ("ns", 102.9, "same", 0), ("B/s", 96.0, "worse", 1), ("B/s", 104.0, "better", 0), ("1/s", 96.0, "worse", 1),
        ("1/J", 96.0, "worse", 1), ("J", 104.0, "worse", 1), ("cycles", 104.0, "worse", 1), ("W", 104.0, "changed", 0), ("1", 50.0, "changed", 0),
    ],
)  # fmt: skip
def test_direction_and_limit(diff, unit, after, result, status):
    done = diff([{"unit": unit}], [{"unit": unit, "value": after}])
    assert done.returncode == status, done.stdout + done.stderr
    assert f"1 {result}" in done.stdout


def test_limit_and_every_point(diff, tmp_path):
    sizes = [{"params": {"bytes": 8 << i}} for i in range(4)]
    slower = [s | {"value": 100.0 + i} for i, s in enumerate(sizes)]
    assert diff(sizes, slower).returncode == 0
    done = diff(sizes, slower, "--limit", "1.5", "--all", "--json", "rows")
    assert done.returncode == 1 and "2 worse, 2 same" in done.stdout and "bytes=8 " in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert [r["ratio"] for r in rows] == [1.0, 1.01, 1.02, 1.03]
    assert "mean +1.5 %" in done.stdout  # geometric


def test_repetitions_count_with_their_median(diff):
    after = [{"value": v} for v in (99.0, 100.0, 500.0)]
    assert diff([{}], after).returncode == 0


def test_spreads_that_meet_are_no_difference(diff):
    def of_seeds(value, least, most):
        return [{"value": value, "seeds": {"count": 8, "least": least, "most": most}}]

    assert "within spread" in diff(of_seeds(100.0, 90.0, 110.0), of_seeds(109.0, 100.0, 118.0)).stdout
    assert diff(of_seeds(100.0, 99.0, 101.0), of_seeds(109.0, 108.0, 110.0)).returncode == 1


def test_points_of_one_side_are_counted(diff):
    done = diff([{}, {"variant": "old"}], [{}, {"variant": "new"}, {"variant": "newer"}])
    assert done.returncode == 0 and "1 only in A, 2 only in B" in done.stdout


def test_conditions_that_differ_are_named(diff):
    run = {"command": "x", "set": ["link.latency_ns=1"], "faults": [], "hosts": [], "environment": {}, "files": {}, "commit": "abc", "compiler": "gcc"}
    done = diff([{"run": run}], [{"run": run | {"set": [], "commit": "def"}}])
    assert "A: overridden: --set link.latency_ns=1; abc" in done.stdout and "B: def" in done.stdout


@pytest.mark.parametrize(
    "before, after, words",
    [
        ({}, {"platform": "galibier-k20"}, ["store_latency", "modern", "galibier-k20", "one place"]), ({}, {"nodes": 4}, ["2 nodes", "4 nodes"]),
        ({}, {"provider": "shm"}, ["provider sim", "provider shm"]), ({}, {"benchmark": "barrier"}, ["no point is in both", "store_latency", "barrier"]),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(diff, before, after, words):
    done = diff([before], [after])
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert all(w in done.stderr for w in words), done.stderr


@pytest.mark.parametrize("option", [["--limit", "-1"], ["--limit", "nan"], ["--limit", "100"], ["--limit", "x"]])
def test_bad_limit(diff, option):
    done = diff([{}], [{}], *option)
    assert done.returncode == 2 and "limit" in done.stderr
