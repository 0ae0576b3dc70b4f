# SPDX-License-Identifier: Apache-2.0
"""ggas-bench --provider cuda: its words on any computer, its records where there are GPUs."""

import json
import os
import subprocess

import pytest
import results

PROGRAM = os.environ.get("GGAS_BENCH_GPU", "")
if not os.path.exists(PROGRAM):  # without a GPU it is built on request only
    PROGRAM = ""
NO_GPU = 77


def gpu_bench(*arguments, cwd=None, timeout=120):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=timeout)


needs_program = pytest.mark.skipif(not PROGRAM, reason="ggas-bench-cuda is not built")
TUNER = os.path.join(os.path.dirname(PROGRAM), "ggas-tune")


def test_the_usual_program_hands_over(bench):
    """ggas-bench --provider cuda is the program for GPUs, or says why there is none."""
    done = bench("--provider", "cuda", "list")
    if PROGRAM:
        assert done.returncode == 0 and done.stdout == gpu_bench("list").stdout
    else:
        assert done.returncode == 2 and "nvcc" in done.stderr


@pytest.mark.skipif(not os.path.exists(TUNER), reason="ggas-tune is not built")
@pytest.mark.parametrize(
    "arguments, status, word",
    [
        (["--help"], 0, "GGAS_TUNING"),
        ([], 2, "usage: ggas-tune FILE [GPUS]"),
        (["--fast"], 2, "unknown option --fast"),
        (["table.toml", "1"], 2, "'1' GPUs: must be a number, 2 or more"),
        (["table.toml", "two"], 2, "'two' GPUs"),
        (["table.toml", "2", "3"], 2, "usage: ggas-tune FILE [GPUS]"),
    ],
)
def test_the_tuner_says_what_it_wants(arguments, status, word, tmp_path):
    done = subprocess.run([TUNER, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == status and word in done.stdout + done.stderr
    assert not list(tmp_path.iterdir()), "nothing is written"


@needs_program
def test_list_names_benchmarks_and_variants():
    done = gpu_bench("list")
    assert done.returncode == 0, done.stderr
    for word in ("gpu", "store_latency", "barrier", "energy", "idle", "params: threads bytes"):
        assert word in done.stdout


@needs_program
@pytest.mark.parametrize(
    "arguments, word",
    [
        (["store_latensy"], "store_latensy"),
        (["thesis"], "thesis"),  # the suite of the simulated cluster
        (["--provider", "sim", "barrier"], "sim"),
        (["barrier", "--nodes", "0"], "0"),
        (["barrier", "--nodes", "two"], "two"),
        (["barrier", "--timeout", "-1"], "-1"),
        (["barrier", "--platform", "modern"], "--platform"),
        (["barrier", "--report", "r", "--no-report"], "--no-report"),
        (["list", "barrier"], "list"),
    ],
)
def test_bad_input(arguments, word):
    done = gpu_bench(*arguments)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert word in done.stdout + done.stderr


@needs_program
def test_records(tmp_path):
    """Without driver or GPU: status 77 and why. With GPUs: records of the common format, medians of at least 5."""
    done = gpu_bench("store_latency", "barrier", "--quick", "--json", "r.jsonl", cwd=tmp_path)
    if "at least 2 GPUs" in done.stderr:
        pytest.skip("one GPU")
    if done.returncode == NO_GPU:
        assert "driver" in done.stderr or "GPU" in done.stderr
        assert not (tmp_path / "r.jsonl").exists()
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert {r["benchmark"] for r in found} == {"store_latency", "barrier"}
    for number, r in enumerate(found):
        results.check(r, f"record {number}")
        assert (r["provider"], r["nic"]) == ("cuda", "none") and "driver" in r["platform"]
        assert r["nodes"] >= 2 and r["n"] >= 5 and r["value"] == r["p50"] <= r["p99"]
