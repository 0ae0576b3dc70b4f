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


def built(variable, target):
    """The program that a variable names (ctest sets it), or else that of the usual build; a test that needs it is skipped where nothing is built."""
    program = os.environ.get(variable) or str(ROOT / "build" / "release" / target)
    if not os.environ.get(variable) and not os.path.exists(program):
        pytest.skip(f"there is no {program}: ./ggas test builds it, or {variable} names another")
    return program


# What ctest sets for the tests is no switch of a run: programs under test see what the user of a test sets, or the test itself.
FOR_TESTS = {name for name in os.environ if name.startswith("GGAS_")}


def users_environment():
    return {name: value for name, value in os.environ.items() if name not in FOR_TESTS}


def bench_program():
    return built("GGAS_BENCH", "benchmarks/ggas-bench")


@pytest.fixture
def bench(tmp_path):
    """Runs ggas-bench with the arguments; the working folder is tmp_path."""
    program = bench_program()

    def run(*arguments, timeout=200):
        return subprocess.run([program, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=timeout, env=users_environment())

    return run


@pytest.fixture
def records(bench, tmp_path):
    """Runs ggas-bench and returns its records; the run must succeed."""

    def run(*arguments, name="results.jsonl", timeout=200):
        done = bench(*arguments, "--json", name, timeout=timeout)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]

    return run
