# SPDX-License-Identifier: Apache-2.0
"""ggas-bench-work: its records say what was measured, where and by which command."""

import json
import os
import signal
import subprocess

PROGRAM = os.environ["GGAS_BENCH_WORK"]


def test_records_name_platform_and_command(tmp_path):
    file = tmp_path / "work.jsonl"
    done = subprocess.run([PROGRAM, "--quick", "--json", file], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in file.read_text().splitlines()]
    names = "ping_pong launch request chain overlap copies period busy memory control short next_to_long idle stop remote merge"
    assert {r["benchmark"] for r in records} == set(names.split())
    assert {"by_hand, 1.05 MB", "fifo, 1.02 kB"} <= {r["variant"] for r in records if r["benchmark"] == "copies"}
    for benchmark in ("request", "chain", "short", "next_to_long"):
        assert any(r["variant"].startswith("workers") for r in records if r["benchmark"] == benchmark)
    assert any(r["variant"] == "streams, runs" for r in records if r["benchmark"] == "request")
    assert {r["variant"] for r in records if r["benchmark"] == "idle"} == {"workers that spin", "workers that pause"}
    assert {r["variant"] for r in records if r["benchmark"] == "remote"} == {"from_kernel", "local", "put_with_signal"}
    assert {r["variant"] for r in records if r["benchmark"] == "period"} == {"no methods", "1 messages", "10 messages", "100 messages"}
    assert {"GPU, 1.02 kB", "pinned, 67.1 MB", "in, 1.00 B", "out, 1.05 MB"} <= {r["variant"] for r in records if r["benchmark"] == "memory"}
    for r in records:
        assert (r["provider"], r["nic"], r["nodes"]) == ("shm", "none", 2 if r["benchmark"] == "remote" else 1)
        assert ", Linux " in r["platform"] and r["value"] > 0 and r["n"] >= 1
        assert r["run"]["command"] == "ggas-bench-work --quick"


def test_benchmarks_are_chosen_by_name_as_those_of_the_other_programs(tmp_path):
    file = tmp_path / "work.jsonl"
    done = subprocess.run([PROGRAM, "ping_pong", "--quick", "--no-report", "--json", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["benchmark"] for line in file.read_text().splitlines()} == {"ping_pong"}


def test_bad_input_is_refused():
    for words in (["--provider", "sim"], ["nothing"]):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and words[-1] in done.stderr


def test_a_signal_ends_it_with_the_records_so_far(tmp_path):
    file = tmp_path / "work.jsonl"
    with subprocess.Popen([PROGRAM, "--json", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        while not run.stdout.readline().startswith("ping_pong"):
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGINT
    assert "ggas-bench-work: ended by SIGINT; not run:" in errors and "merge" in errors
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert records[0]["benchmark"] == "ping_pong" and all(r["benchmark"] != "merge" for r in records)
