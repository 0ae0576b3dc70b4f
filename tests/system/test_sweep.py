# SPDX-License-Identifier: Apache-2.0
"""./ggas sweep: benchmarks over ranges of parameters."""

import importlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT, bench_program

SWEEP = ROOT / "benchmarks" / "sweep" / "sweep.py"

# Counts its runs in `runs`, writes one record; sleeps or fails as the swept value says.
PROGRAM = """#!/usr/bin/env python3
import json, sys, time
words = sys.argv[1:]
if "--check" in words:
    sys.exit("ggas-bench: no such value" if "c.d=bad" in words else 0)
value = next(w for w in words if w.startswith("a.b=")).removeprefix("a.b=")
open("runs", "a").write(value + "\\n")
if value == "13":
    sys.exit("13 brings bad luck")
if value == "99":
    time.sleep(60)
record = {"benchmark": words[0], "variant": "v", "provider": "sim", "platform": "p", "nic": "rtl", "nodes": 2, "params": {"bytes": 8}, "metric": "time", "unit": "ns",
          "value": float(value), "p50": None, "p99": None, "n": 1, "reference": None, "limit": None, "sim": {}, "seed": 1, "version": "1"}
open(words[words.index("--json") + 1], "w").write(json.dumps(record) + "\\n")
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "bench"
    file.write_text(PROGRAM)
    file.chmod(0o755)
    return file


@pytest.fixture
def sweep(tmp_path, program):
    def run(*options, using=program, env=None):
        arguments = [sys.executable, str(SWEEP), "--program", str(using), *options]
        return subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, timeout=100, env=env)

    return run


def swept(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def test_points_records_and_page(sweep, tmp_path):
    done = sweep("--over", "a.b=1:8:x2", "--over", "c.d=x,y", "--", "barrier")
    assert done.returncode == 0, done.stderr
    records = swept(tmp_path / "sweep")
    assert [(r["params"]["a.b"], r["params"]["c.d"], r["value"]) for r in records] == [(v, w, float(v)) for v in (1, 2, 4, 8) for w in "xy"]
    assert all(r["params"]["bytes"] == 8 for r in records)
    page = (tmp_path / "sweep" / "index.html").read_text()
    assert page.count("<svg") == 1 and "a.b" in page


def test_it_goes_on_where_it_stopped(sweep, tmp_path):
    assert sweep("--over", "a.b=1:5:1", "--", "barrier").returncode == 0
    assert sweep("--over", "a.b=1:7:1", "--", "barrier").returncode == 0
    assert sorted((tmp_path / "runs").read_text().split()) == [str(v) for v in range(1, 8)]
    assert len(swept(tmp_path / "sweep")) == 7
    assert sweep("--over", "a.b=1:7:1", "--", "allreduce").returncode == 0  # other arguments: no point is taken over
    assert len((tmp_path / "runs").read_text().split()) == 14


def test_a_failed_point_is_named_and_the_others_are_kept(sweep, tmp_path):
    done = sweep("--over", "a.b=12,13,14", "--", "barrier")
    assert done.returncode == 1 and "a.b=13 failed: status 1: 13 brings bad luck" in done.stderr
    assert [r["value"] for r in swept(tmp_path / "sweep")] == [12.0, 14.0]


def test_interrupted(program, tmp_path):
    arguments = [sys.executable, str(SWEEP), "--program", str(program), "--over", "a.b=1,99", "--jobs", "1", "--", "barrier"]
    running = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while "99" not in ((tmp_path / "runs").read_text() if (tmp_path / "runs").exists() else ""):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)  # the point that sleeps a minute is ended, too
    assert running.returncode == 130 and "goes on" in said
    assert len(list((tmp_path / "sweep/points").glob("*.jsonl"))) == 1


def test_a_point_that_ignores_the_interrupt_is_killed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SWEEP.parent)
    points = importlib.import_module("points")
    monkeypatch.setattr(points, "GRACE_S", 0.2)
    started = tmp_path / "started"
    deaf = points.Point({"a.b": 1}, ["sh", "-c", f"trap '' TERM; echo $$ > {started}; while :; do sleep 0.1; done"], tmp_path / "deaf.jsonl")
    processes = points.Processes()
    running = threading.Thread(target=processes.run, args=[deaf])
    running.start()
    deadline = time.monotonic() + 30
    while not (started.exists() and started.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    processes.stop()
    running.join(timeout=10)
    assert not running.is_alive() and not deaf.done
    while os.path.exists(f"/proc/{started.read_text().strip()}"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_slurm(sweep, tmp_path):
    """An sbatch that runs the tasks of the array one after the other."""
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text('#!/bin/sh\necho "$@" > options\nfor script; do :; done\nfor i in 0 1 2; do SLURM_ARRAY_TASK_ID=$i sh "$script"; done\n')
    sbatch.chmod(0o755)
    env = os.environ | {"PATH": f"{sbatch.parent}:{os.environ['PATH']}"}
    done = sweep("--over", "a.b=3,4,5", "--slurm", "--time=5 --partition=short", "--", "barrier", env=env)
    assert done.returncode == 0, done.stderr
    assert [r["value"] for r in swept(tmp_path / "sweep")] == [3.0, 4.0, 5.0]
    options = (tmp_path / "options").read_text()
    assert "--array=0-2" in options and "--partition=short" in options and "--wait" in options


def test_slurm_that_is_not_there(sweep, tmp_path):
    done = sweep("--over", "a.b=1", "--slurm", "", "--", "barrier", env={"PATH": "/nonexistent"})
    assert done.returncode == 1 and "sbatch" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "over, words",
    [
        ("a.b", ["expected KEY=RANGE"]), ("a.b=", ["expected KEY=RANGE"]), ("a.b=1:", ["no end"]), ("a.b=1::2", ["no end"]), ("a.b=1:2:0", ["STEP", "1:2:1"]),
        ("a.b=1:5:-2", ["STEP", "1:5:2"]), ("a.b=5:1:2", ["TO is below FROM", "1:5:2"]), ("a.b=0:8:x2", ["above 0", "1:8:x2"]), ("a.b=1:8:x1", ["factor", "1:8:x2"]),
        ("a.b=1:1e9:1", ["more than 10000 values"]), ("a.b=1,,2", ["empty value"]), ("a.b=1:1e:3", ["'1e' is not a number"]), ("speed=1,2", ["expected TABLE.KEY", "nodes"]),
    ],
)  # fmt: skip
def test_bad_ranges(sweep, tmp_path, over, words):
    done = sweep("--over", over, "--", "barrier")
    assert done.returncode == 2 and "Traceback" not in done.stderr and not (tmp_path / "runs").exists()
    assert all(w in done.stderr for w in words), done.stderr


BAD = ["--over a.b=1", "-- barrier", "--over a.b=1 --jobs 0 -- barrier", "--over a.b=1 -- barrier --json x", "--over a.b=1 --over a.b=2 -- barrier"]


@pytest.mark.parametrize("arguments", map(str.split, BAD))
def test_bad_command_lines(sweep, arguments):
    done = sweep(*arguments)
    assert done.returncode == 2 and "Traceback" not in done.stderr and done.stderr


def test_a_simulated_latency_grows_with_the_link(sweep, tmp_path):
    done = sweep("--over", "link.latency_ns=100,300", "--", "store_latency", "--quick", "--nic", "model", using=bench_program())
    assert done.returncode == 0, done.stderr
    times = {r["params"]["link.latency_ns"]: r["value"] for r in swept(tmp_path / "sweep") if r["params"]["bytes"] == 8}
    assert times[300] == pytest.approx(times[100] + 200, rel=0.02)


def test_options_of_a_topology_belong_to_it(sweep, tmp_path):
    words = "torus:4x4,fat-tree:4x2,forward_ns=200,gbit_per_s=100,ring"
    assert sweep("--over", f"topology={words}", "--over", "a.b=1", "--", "barrier").returncode == 0
    assert [r["params"]["topology"] for r in swept(tmp_path / "sweep")] == ["torus:4x4", "fat-tree:4x2,forward_ns=200,gbit_per_s=100", "ring"]
    done = sweep("--over", "topology=ring,,torus:4x4", "--", "barrier")
    assert done.returncode == 2 and "empty value" in done.stderr


def test_an_unknown_parameter_is_named_with_those_there_are(sweep):
    done = sweep("--over", "link.latncy_ns=100", "--", "store_latency", "--quick", using=bench_program())
    assert done.returncode == 2 and "unknown key 'latncy_ns'; [link] has" in done.stderr and "the nearest is latency_ns" in done.stderr


def test_a_value_that_no_run_takes_is_refused_before_any_run(sweep, tmp_path):
    done = sweep("--over", "a.b=1,2", "--over", "c.d=good,bad", "--", "barrier")
    assert done.returncode == 2 and "a.b=1, c.d=bad: no such value" in done.stderr and not (tmp_path / "runs").exists()
    assert sweep("--over", "a.b=1,2", "--over", "c.d=good", "--", "barrier").returncode == 0
    kept = (tmp_path / "sweep" / "results.jsonl").read_text()
    assert sweep("--over", "a.b=1,2", "--over", "c.d=good,bad", "--", "barrier").returncode == 2
    assert (tmp_path / "sweep" / "results.jsonl").read_text() == kept  # nothing is lost


WRONG = {
    "--quik": ["not expected: --quik", "The nearest option is --quick"],
    "--grid=30x18x12": ["--grid 30x18x12: X must be a multiple of 4", "the nearest is 32x18x12"],
    "--nic=mdel": ["nic 'mdel'"],
    "--topology=torus:3x3": ["it has 9 nodes"],
    "--fault=* drp rate 1": ["drp"],
}


@pytest.mark.parametrize("word", WRONG)
def test_options_of_the_program_are_checked_first(sweep, tmp_path, word):
    done = sweep("--over", "link.latency_ns=100,200", "--", "himeno", "--quick", word, using=bench_program())
    assert done.returncode == 2 and all(text in done.stderr for text in WRONG[word]), done.stderr
    assert not list((tmp_path / "sweep" / "points").iterdir())


def test_the_examples_of_its_help_are_allowed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SWEEP.parent)
    sweep = importlib.import_module("sweep")
    points = importlib.import_module("points")
    lines = [line.strip() for line in sweep.EXAMPLES.splitlines() if line.startswith("  ./ggas sweep ")]
    assert len(lines) > 2
    for line in lines:
        a = sweep.command_line(["--program", bench_program(), *shlex.split(line)[2:]])
        a.out = tmp_path
        points.check(points.points_of(sweep.combinations(sweep.parameters(a.over), a.arguments), a), 2)
