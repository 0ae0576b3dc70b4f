# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of the project in a folder of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "benchmarks" / "report"
sys.path.insert(0, str(REPORT))


def bench_program():
    return os.environ.get("GGAS_BENCH") or str(ROOT / "build" / "release" / "benchmarks" / "ggas-bench")


@pytest.fixture
def bench(tmp_path):
    """Runs ggas-bench with the arguments; the working folder is tmp_path."""

    def run(*arguments, timeout=200):
        return subprocess.run([bench_program(), *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=timeout)

    return run


@pytest.fixture
def records(bench, tmp_path):
    """Runs ggas-bench and returns its records; the run must succeed."""

    def run(*arguments, name="results.jsonl", timeout=200):
        done = bench(*arguments, "--json", name, timeout=timeout)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]

    return run
