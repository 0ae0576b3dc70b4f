# SPDX-License-Identifier: Apache-2.0
"""Waves, message traces and packet captures of a benchmark run."""

import json
import shutil
import subprocess

import pytest

RUN = ["load_latency", "--quick", "--provider", "sim"]


def test_trace_is_json_with_events(bench, tmp_path):
    done = bench(*RUN, "--trace", "run.json")
    assert done.returncode == 0, done.stderr
    trace = json.loads((tmp_path / "run.json").read_text())
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    assert len(events) > 100


def test_no_trace_is_named_without_a_cluster(bench):
    done = bench(*RUN, "--trace", "run.json", "--pcap", "run.pcapng", "--topology", "full", "--nodes", "64")
    assert done.returncode != 0 and "traces in" not in done.stdout, done.stdout + done.stderr


def test_waves_in_a_window(bench, tmp_path):
    done = bench(*RUN, "--waves", "nic.fst", "--window", "5:15")
    assert done.returncode == 0, done.stderr
    files = list(tmp_path.glob("nic*.fst"))
    assert len(files) == 2 and all(f.stat().st_size > 500 for f in files)


def test_capture_is_read_by_tshark(bench, tmp_path):
    if not shutil.which("tshark"):
        pytest.skip("no tshark")
    done = bench(*RUN, "--pcap", "run.pcapng")
    assert done.returncode == 0, done.stderr
    seen = subprocess.run(["tshark", "-r", "run.pcapng"], cwd=tmp_path, capture_output=True, text=True)
    assert seen.returncode == 0, seen.stderr
    assert len(seen.stdout.splitlines()) > 100
