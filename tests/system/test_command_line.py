# SPDX-License-Identifier: Apache-2.0
"""Bad input gets a message that names it, and exit status 2."""

import json
import re
import signal
import subprocess
import time

import pytest
from conftest import ROOT, bench_program

NAMES = "nic_cycles store_latency load_latency store_bandwidth load_bandwidth coalescing barrier reduce allreduce random_access".split()
NAMES += "put_latency get_latency put_bandwidth get_bandwidth message_rate atomic_latency transfer_path".split()


def refused(done, *words):
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    text = done.stdout + done.stderr
    for word in words:
        assert word in text, text
    assert "terminate called" not in text


def test_help_names_every_option(bench):
    done = bench("--help")
    assert done.returncode == 0
    for option in "--provider --platform --nodes --nic --seed --quick --json --report --waves --window --trace --pcap --faults --set --wall".split():
        assert option in done.stdout


def test_version(bench):
    done = bench("--version")
    assert (done.returncode, done.stdout) == (0, re.search(r"project\(ggas VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1) + "\n")


def test_list_names_every_benchmark_and_variant(bench):
    done = bench("list")
    assert done.returncode == 0
    for name in [*NAMES, "thesis", "consecutive_store", "strided_load", "gather", "allgather", "mailbox", "host_assisted", "gpu_notify_gpu", "queue_host", "gpu_to_host"]:
        assert name in done.stdout


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["store_latensy"], ["store_latensy", "store_latency"]),
        (["list", "barrier"], ["list"]),
        (["--nonsense"], ["--nonsense"]),
        (["barrier", "--provider", "quantum"], ["quantum"]),
        (["barrier", "--provider", "CUDA"], ["CUDA"]),
        (["barrier", "--nic", "paper"], ["paper"]),
        (["barrier", "--platform", "abacus"], ["abacus", "galibier-k20"]),
        (["barrier", "--platform", "missing.toml"], ["missing.toml"]),
        (["barrier", "--set", "nic.colour=3"], ["nic.colour"]),
        (["barrier", "--set", "nic.data_width=65"], ["65"]),
        (["barrier", "--set", "nic"], ["nic"]),
        (["barrier", "--faults", "missing.faults"], ["missing.faults"]),
        (["barrier", "--nodes", "0"], ["0"]),
        (["barrier", "--nodes", "-3"], ["-3"]),
        (["barrier", "--nodes", "two"], ["two"]),
        (["barrier", "--nodes", "2.5"], ["2.5"]),
        (["barrier", "--nodes", "1"], ["barrier", "at least 2"]),
        (["barrier", "--nodes", "70000"], ["70000"]),
        (["barrier", "--seed", "x"], ["--seed", "'x'"]),
        (["barrier", "--seed", "-1"], ["--seed", "'-1'"]),
        (["barrier", "--seed", "99999999999999999999999"], ["--seed", "2^64"]),
        (["barrier", "--timeout", "-1"], ["--timeout", "'-1'"]),
        (["barrier", "--timeout", "soon"], ["--timeout", "'soon'"]),
        (["barrier", "--timeout", "nan"], ["--timeout", "'nan'"]),
        (["barrier", "--timeout", "1e300"], ["--timeout", "at most"]),
        (["barrier", "--json", ""], ["--json"]),
        (["barrier", "--faults", "."], ["fault script '.'"]),
        (["barrier", "--provider", "shm", "--platform", "modern"], ["--platform needs --provider sim"]),
        (["barrier", "--provider", "shm", "--nic", "rtl"], ["--nic needs --provider sim"]),
        (["barrier", "--provider", "shm", "--faults", "f"], ["--faults needs --provider sim"]),
        (["store_latency", "--waves", "/dev/null/w.fst"], ["/dev/null/w.node0.fst", "cannot be written"]),
        (["store_latency", "--trace", "/dev/null/t"], ["/dev/null/t", "cannot be written"]),
        (["store_latency", "--pcap", "."], [".: cannot be written"]),
        (["store_latency", "--window", "1:2"], ["--window", "--waves"]),
        (["store_latency", "--waves", "w.fst", "--window", "9:2"], ["9:2"]),
        (["store_latency", "--waves", "w.fst", "--window", "now"], ["now"]),
        (["store_latency", "--waves", "w.fst", "--window", "0:inf"], ["0:inf"]),
        (["store_latency", "--waves", "w.fst", "--window", "1e300:"], ["1e300:"]),
        (["store_latency", "barrier", "--trace", "t.json"], ["one benchmark"]),
        (["barrier", "--provider", "shm", "--pcap", "p.pcapng"], ["--provider sim"]),
        (["coalescing", "--provider", "shm"], ["coalescing", "shm"]),
        (["barrier", "--provider", "shm", "--json", "/dev/null/x"], ["/dev/null/x: cannot be written"]),
        (["barrier", "--report", "r", "--no-report"], ["--no-report"]),
        (["barrier", "--json", "--quick"], ["--json", "'--quick'", "./--quick"]),
        (["barrier", "--provider", "shm", "--state", "-s"], ["--state", "'-s'"]),
        (["--set", "nic.clock_mhz=100", "barier"], ["unknown benchmark or suite 'barier'"]),
        (["--fault", "0->1 drop at 30", "barier"], ["unknown benchmark or suite 'barier'"]),
        (["--scenario=nowhere.toml"], ["scenario 'nowhere.toml': cannot be read"]),
        (["--scenario"], ["--scenario"]),
        (["barrier", "--scenario", ""], ["--scenario"]),
        (["barrier", "--provider", "shm", "--json", "same", "--state", "same"], ["same: is being written"]),
        (["barrier", "--provider", "shm", "--json", "r/results.jsonl", "--report", "r"], ["r/results.jsonl: is being written"]),
    ],
)
def test_bad_input(bench, arguments, words):
    refused(bench(*arguments, timeout=30), *words)


def test_folder_of_platforms_without_platforms(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("GGAS_PLATFORMS", str(tmp_path / "nowhere"))
    refused(bench("barrier"), "galibier-k20", "nowhere")


def test_records_that_could_not_be_written_are_reported(bench):
    done = bench("barrier", "--quick", "--provider", "shm", "--json", "/dev/full")
    assert done.returncode == 1 and "/dev/full: cut short, holds 0 of" in done.stderr


def test_records_so_far_are_kept_when_nobody_reads_the_table_any_more(tmp_path):
    """`ggas-bench ... | head -1` ends it at its next table."""
    command = [bench_program(), "barrier", "reduce", "--quick", "--provider", "shm", "--json", "r.jsonl"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE)
    run.stdout.close()
    assert run.wait(timeout=60) == -signal.SIGPIPE
    assert {json.loads(line)["benchmark"] for line in (tmp_path / "r.jsonl").read_text().splitlines()} == {"barrier"}


def test_unknown_key_in_a_platform_file(bench, tmp_path):
    text = (ROOT / "sim" / "platforms" / "galibier-k20.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace("[nic]\n", "[nic]\ncolour = 3\n", 1))
    refused(bench("barrier", "--platform", "mine.toml"), "mine.toml", "colour")


def test_platform_file_that_is_no_toml(bench, tmp_path):
    (tmp_path / "mine.toml").write_text("[nic\n")
    refused(bench("barrier", "--platform", "mine.toml"), "mine.toml")


def test_a_suite_skips_what_a_provider_cannot_do(bench):
    done = bench("thesis", "--quick", "--provider", "shm")
    assert done.returncode == 0, done.stderr
    assert "coalescing: skipped" in done.stdout
    for name in set(NAMES) - {"coalescing", "nic_cycles", "transfer_path"}:
        assert f"{name}: " in done.stdout


def test_time_out_ends_a_run_with_status_1(bench):
    done = bench("store_bandwidth", "--quick", "--provider", "sim", "--timeout", "0.01")
    assert done.returncode == 1
    assert "store_bandwidth" in done.stderr and "--timeout 0.01: milliseconds of simulated time a point may take" in done.stderr


@pytest.mark.parametrize("output", ["--json", "--report", "--state", "--trace", "--pcap", "--waves"])
def test_a_second_run_does_not_take_the_output_of_the_first(bench, tmp_path, output):
    """The first one runs until a signal ends it, which is sent when the second one has come back."""
    words = ["store_bandwidth", output, "out"]
    first = subprocess.Popen([bench_program(), *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        file = tmp_path / {"--report": "out/results.jsonl", "--waves": "out.node0.fst"}.get(output, "out")
        while not file.exists() and first.poll() is None:
            time.sleep(0.01)
        refused(bench(*words, "--quick"), "is being written by another run", "name another")
        assert first.poll() is None
    finally:
        first.terminate()
        first.communicate(timeout=60)
    assert file.exists()
