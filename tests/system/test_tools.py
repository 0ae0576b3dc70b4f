# SPDX-License-Identifier: Apache-2.0
"""Command lines of the scripts beside the RTL: what is wrong is named, with exit status 2, before anything is built."""

import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.parametrize(
    "script, arguments, word",
    [
        ("rtl/synth.py", ["--data-w", "65"], "65"),
        ("tests/rtl/coverage.py", ["--jobs", "0"], "--jobs: must be 1 or more"),
        ("tests/rtl/coverage.py", ["--least", "nan", "90"], "--least: must be percentages"),
        ("tests/rtl/coverage.py", ["--keep", "--build", "nowhere"], "no counts of an earlier run (nowhere/coverage.dat)"),
        ("tests/rtl/formal/prove.py", ["fifo"], "--generated"),
        ("tests/rtl/formal/prove.py", ["--generated", "nowhere"], "nowhere: ggas_regs_pkg.sv is not there"),
        ("tests/rtl/formal/prove.py", ["--generated", ".", "--jobs", "-2"], "--jobs: must be 1 or more"),
        ("tests/rtl/formal/prove.py", ["--generated", ".", "nosuch"], "no proof named nosuch"),
    ],
)
def test_bad_input(script, arguments, word, tmp_path):
    (tmp_path / "ggas_regs_pkg.sv").write_text("")
    done = subprocess.run([sys.executable, str(ROOT / script), *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and word in done.stderr and "Traceback" not in done.stderr, done.stderr
