# SPDX-License-Identifier: Apache-2.0
"""Command lines of the scripts next to the RTL: what is wrong is named, with exit status 2, before anything is built."""

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
        ("tests/rtl/coverage.py", ["--bench", "nothing"], "--bench: no bench has 'nothing' in its path"),
        ("tests/rtl/coverage.py", ["--keep", "--build", "nowhere"], "no counts of an earlier run (nowhere/coverage)"),
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


def record(file, page, line, what, count):
    fields = {"f": file, "l": str(line), "n": "1", "page": page, "o": what, "h": "TOP.i"}
    return "C '" + "".join(f"\x01{k}\x02{v}" for k, v in fields.items()) + f"' {count}\n"


def test_coverage_of_several_benches(tmp_path):
    """Counts of the benches add up; what no bench reached stays in the table, a functional point next to its module."""
    folder = tmp_path / "coverage"
    folder.mkdir()
    point = str(ROOT / "tests/rtl/points/link_rx.sv")
    source = str(ROOT / "rtl/link/link_rx.sv")
    head = "# SystemC::Coverage-3\n"
    lines = [record(point, "v_user/link_rx_points", 20, "repeated", 3), record(point, "v_user/link_rx_points", 21, "gap", 0),
             record(source, "v_line/link_rx", 100, "block", 0)]
    (folder / "link-link_test.dat").write_text(head + "".join(lines))
    (folder / "net-net_test.dat").write_text(head + record(source, "v_line/link_rx", 100, "block", 2))
    done = subprocess.run([sys.executable, str(ROOT / "tests/rtl/coverage.py"), "--keep", "--missing", "--build", str(tmp_path)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "not covered: rtl/link/link_rx.sv:21 point gap" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("rtl/link/link_rx.sv"))
    assert row.split()[1:] == ["1/1", "100.0", "%", "1/2", "50.0", "%"]
    assert "counts of 2 of" in done.stdout
    assert "exclusion without effect" not in done.stdout  # that is known only when every bench has counts


def test_an_excluded_point_is_not_missing(tmp_path):
    """A functional point that coverage_exclusions.txt names is left out, unless it was reached all the same."""
    folder = tmp_path / "coverage"
    folder.mkdir()
    point = str(ROOT / "tests/rtl/points/hostif_rx.sv")
    for count, cells, excluded in ((0, ["1/1", "100.0", "%"], 1), (2, ["2/2", "100.0", "%"], 0)):
        lines = [record(point, "v_user/hostif_rx_points", 9, "units_wait", 1),
                 record(point, "v_user/hostif_rx_points", 10, "non_posted_waits_for_room", count)]
        (folder / "hostif-rtl_hostif_test.dat").write_text("# SystemC::Coverage-3\n" + "".join(lines))
        done = subprocess.run([sys.executable, str(ROOT / "tests/rtl/coverage.py"), "--keep", "--missing", "--no-toggles", "--build",
                               str(tmp_path)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "not covered" not in done.stdout
        row = next(line for line in done.stdout.splitlines() if line.startswith("rtl/hostif/hostif_rx.sv"))
        assert row.split()[1:] == cells
        assert f"{excluded} points excluded" in done.stdout
