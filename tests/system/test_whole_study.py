# SPDX-License-Identifier: Apache-2.0
"""./ggas bench study: all clusters in one report, and plots over the number of nodes."""

import json
import re
import subprocess
import sys

import pytest
import scaling
from conftest import ROOT

STUDY = ROOT / "benchmarks" / "sweep" / "study.py"

# Counts its runs in `runs`, writes a record; `launching` fails where its file says so.
PROGRAM = """#!/usr/bin/env python3
import json, os, sys
if "--check" in sys.argv:
    wrong = [w for w in sys.argv[1:] if w.startswith("--") and w.split("=")[0] not in ("--check", "--nodes", "--nic", "--quick", "--grid", "--rounds")]
    sys.exit(f"ggas-bench: not expected: {wrong[0]}" if wrong else 0)
if sys.argv[1] == "list":
    print("suites\\n  thesis  every benchmark below\\n\\nbenchmarks")
    print("  barrier  of all\\n      params: threads\\n      block              one block\\n  launching  of one\\n      params: bytes\\n  trace  of a file")
    sys.exit()
name = sys.argv[1]
said = dict(word.removeprefix("--").split("=") for word in sys.argv[2:4])
open("runs", "a").write(f"{name} {said['nodes']} {said['nic']}\\n")
if name == "launching" and os.path.exists("broken"):
    sys.exit("no kernel was launched")
record = {"benchmark": name, "variant": "block", "provider": "sim", "platform": "p", "nic": said["nic"], "nodes": int(said["nodes"]), "params": {"threads": 32}, "metric": "latency",
          "unit": "ns", "value": 100.0 * int(said["nodes"]), "p50": None, "p99": None, "n": 1, "reference": None, "limit": None, "sim": {}, "seed": 1, "version": "1"}
open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(record) + "\\n")
"""
RUNS = ["barrier 12 model", "barrier 2 rtl", "barrier 4 model", "barrier 8 model", "launching 2 rtl"]


@pytest.fixture
def study(tmp_path):
    program = tmp_path / "bench"
    program.write_text(PROGRAM)
    program.chmod(0o755)

    def run(*options):
        return subprocess.run([sys.executable, str(STUDY), "--program", str(program), *options], cwd=tmp_path, capture_output=True, text=True, timeout=100)

    return run


def test_clusters_of_all_sizes_in_one_report(study, tmp_path):
    done = study("--quick")
    assert done.returncode == 0, done.stderr
    assert sorted((tmp_path / "runs").read_text().splitlines()) == RUNS
    records = [json.loads(line) for line in (tmp_path / "study" / "results.jsonl").read_text().splitlines()]
    assert [r["nodes"] for r in records] == [2, 2, 4, 8, 12]
    page = (tmp_path / "study" / "index.html").read_text()
    assert page.count("By the number of nodes") == 1 and "NIC rtl, 2 nodes" in page and "NIC model, 12 nodes" in page
    assert len(re.findall(r"nodes=\d+, benchmark=\w+ \d+\.\d", done.stdout.split("most of it: ")[1])) == len(RUNS)


def test_a_run_that_failed_is_named_and_done_again(study, tmp_path):
    (tmp_path / "broken").touch()
    done = study()
    assert done.returncode == 1 and "benchmark=launching failed: status 1: no kernel was launched" in done.stderr
    (tmp_path / "broken").unlink()
    assert study().returncode == 0
    assert sorted((tmp_path / "runs").read_text().splitlines()) == sorted([*RUNS, "launching 2 rtl"])


def test_a_program_that_lists_nothing_is_named(study, tmp_path):
    (tmp_path / "bench").write_text("#!/bin/sh\nexit 3\n")
    done = study()
    assert done.returncode == 1 and "bench list: status 3" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--nodes", "--nic=rtl", "--json", "--report", "--provider", "--trace=x", "--state"])
def test_what_the_study_says_itself_is_refused(study, option):
    done = study(option, "4")
    assert done.returncode == 2 and option.split("=")[0] in done.stderr


@pytest.mark.parametrize(("words", "says"), [(["--quik"], "not expected: --quik"), (["--quick", "barrier"], "barrier: the study runs every benchmark")])
def test_what_no_run_would_take_is_refused_before_any_run(study, tmp_path, words, says):
    assert study("--quick").returncode == 0
    kept, before = (tmp_path / "study" / "results.jsonl").read_text(), (tmp_path / "runs").read_text()
    done = study(*words)
    assert done.returncode == 2 and says in done.stderr, done.stderr
    assert (tmp_path / "runs").read_text() == before and (tmp_path / "study" / "results.jsonl").read_text() == kept


def test_options_of_one_benchmark_go_to_its_runs(study, tmp_path):
    program = tmp_path / "bench"
    text = program.read_text().replace("  launching  of one", "  himeno  of one")
    program.write_text(text.replace('"runs", "a").write(', '"runs", "a").write(" ".join(w for w in sys.argv if "--grid" in w) + " " + '))
    assert study("--grid", "8x8x36").returncode == 0
    said = (tmp_path / "runs").read_text()
    assert said.count("--grid=8x8x36 himeno") == 4 and said.count("--grid") == 4


def record(nodes, nic, elements, value, **params):
    run = {"set": [], "faults": [], "commit": "c"}
    params["elements"] = elements
    return {"benchmark": "b", "variant": "v", "provider": "sim", "platform": "p", "nic": nic, "nodes": nodes, "params": params, "metric": "time", "unit": "ns", "value": value, "run": run}


def drawn(records, monkeypatch):
    monkeypatch.setattr(scaling, "svg", lambda figure: [(list(line.get_xdata()), list(line.get_ydata())) for line in figure.axes[0].lines])
    return scaling.plots(records)


def test_a_curve_is_one_point_and_no_line_joins_rtl_and_model(monkeypatch):
    sizes = [record(n, "rtl" if n == 2 else "model", e, n * e) for n in (2, 4, 8) for e in (1, 16)]
    only_here = record(8, "model", 64, 7)
    assert drawn([*sizes, only_here], monkeypatch) == [("b", "8 nodes: Time, v: 8.00 ns (elements 1) to 7.00 ns (elements 64).", [([4, 8], [64, 128]), ([2], [32])])]


def test_a_grid_grows_with_the_cluster(monkeypatch):
    weak = [record(n, "model", 10 * n, n, grid=f"1x1x{n}") for n in (4, 8, 12)]
    assert drawn(weak, monkeypatch) == [("b", "12 nodes: Time, b v time (grid 1x1x12, elements 120): 12.0 ns.", [([4, 8, 12], [4, 8, 12])])]


def test_two_clusters_or_other_overrides_make_no_plot(monkeypatch):
    other = record(8, "model", 1, 1)
    other["run"] = {"set": ["link.latency_ns=1"], "faults": [], "commit": "c"}
    assert drawn([record(2, "rtl", 1, 1), record(4, "model", 1, 1), other], monkeypatch) == []
