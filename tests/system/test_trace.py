# SPDX-License-Identifier: Apache-2.0
"""./ggas bench trace: schedules of messages and computations in GOAL, execution traces in Chakra."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

PING = """num_ranks 2
rank 0 {
  a: send 64b to 1 tag 3
  b: recv 64b from 1 tag 4
  b requires a
}
rank 1 {
  a: recv 64b from 0 tag 3
  c: calc 10000
  b: send 64b to 0 tag 4
  c requires a
  b requires c
}
"""


@pytest.fixture
def trace(bench, tmp_path):
    """Runs a schedule; its figures by metric."""

    def run(text, *words):
        path = tmp_path / "s.goal"
        path.write_text(text)
        out = tmp_path / "out.jsonl"
        done = bench("trace", path, "--json", out, *words)
        assert done.returncode == 0, done.stderr
        return {r["metric"]: r["value"] for r in map(json.loads, out.read_text().splitlines())}

    return run


def test_time_is_computing_and_messages(trace):
    figures = trace(PING)
    assert figures["computing"] == 10_000
    # Two messages of a host at a put's latency of some microseconds.
    assert 12_000 < figures["time"] < 30_000


def test_model_is_near_the_rtl(trace):
    rtl, model = trace(PING)["time"], trace(PING, "--nic", "model")["time"]
    assert abs(model / rtl - 1) < 0.05


def test_computations_of_one_cpu_follow_each_other(trace):
    one = trace("num_ranks 1\nrank 0 {\na: calc 5000 cpu 0\nb: calc 5000 cpu 0\n}\n")["time"]
    two = trace("num_ranks 1\nrank 0 {\na: calc 5000 cpu 0\nb: calc 5000 cpu 1\n}\n")["time"]
    assert 10_000 <= one < 11_000 and 5_000 <= two < 6_000


def test_irequires_waits_for_the_begin(trace):
    text = "num_ranks 1\nrank 0 {{\na: calc 5000 cpu 0\nb: calc 5000 cpu 1\nb {} a\n}}\n"
    assert trace(text.format("requires"))["time"] >= 10_000 > trace(text.format("irequires"))["time"]


def test_large_messages_are_cut(trace):
    figures = trace("num_ranks 2\nrank 0 {\na: send 9000000b to 1\n}\nrank 1 {\na: recv 9000000b from 0\n}\n",
                    "--nic", "model", "--platform", "modern")
    assert figures["time"] > 9_000_000 / 64  # ns at 64 GB/s


def test_training_step_hides_communication(trace, tmp_path):
    script = ROOT / "examples/traces/make_training_step.py"
    text = subprocess.run([sys.executable, script, "--ranks", "3", "--step-us", "300", "--scale", "2000"],
                          capture_output=True, text=True, check=True).stdout
    figures = trace(text, "--nic", "model")
    assert figures["computing"] <= figures["time"] < 2 * figures["computing"]


def chakra(tmp_path, *words):
    """The Chakra trace of a training step."""
    script = ROOT / "examples/traces/make_chakra.py"
    subprocess.run([sys.executable, script, *words, tmp_path / "step"], check=True)
    return tmp_path / "step.et"


@pytest.fixture
def run_chakra(bench, tmp_path):
    """Runs the trace of a training step; its figures by metric."""

    def run(path, *words):
        out = tmp_path / "out.jsonl"
        done = bench("trace", path, "--json", out, *words)
        assert done.returncode == 0, done.stderr
        records = [json.loads(line) for line in out.read_text().splitlines()]
        return {r["metric"]: r["value"] for r in records} | records[0]["params"]

    return run


def test_chakra_model_is_near_the_rtl(run_chakra, tmp_path):
    path = chakra(tmp_path, "--ranks", "4", "--layers", "1", "--scale", "1000")
    rtl, model = run_chakra(path), run_chakra(path, "--nic", "model")
    assert rtl["messages"] == model["messages"] == 4 * (4 * 2 + 1 + 1 + 2)
    assert abs(model["time"] / rtl["time"] - 1) < 0.05


def test_chakra_communication_is_hidden(run_chakra, tmp_path):
    path = chakra(tmp_path, "--ranks", "8", "--tensor", "1", "--layers", "3", "--scale", "1000", "--tflops", "0.1")
    figures = run_chakra(path, "--nic", "model")
    assert figures["computing"] < figures["time"] < 1.3 * figures["computing"]


def test_chakra_rank_is_missing(bench, tmp_path):
    path = chakra(tmp_path, "--ranks", "4", "--layers", "1")
    (tmp_path / "step.2.et").unlink()
    done = bench("trace", path)
    assert done.returncode == 2 and "step.2.et: rank 2 is missing, the highest is 3" in done.stderr, done.stderr


def test_chakra_file_is_cut_off(bench, tmp_path):
    path = chakra(tmp_path, "--ranks", "2", "--layers", "1")
    part = tmp_path / "step.1.et"
    part.write_bytes(part.read_bytes()[:-3])
    done = bench("trace", path)
    assert done.returncode == 2 and "step.1.et: byte " in done.stderr and "the file ends inside" in done.stderr


@pytest.mark.parametrize(("words", "says"), [
    (["--ranks", "6", "--tensor", "4"], "--tensor 4: expected a divisor of --ranks 6"),
    (["--ranks", "0"], "--ranks 0: expected at least 1"),
    (["--tflops", "0"], "--tflops 0.0: expected more than 0"),
])
def test_chakra_script_names_what_is_wrong(tmp_path, words, says):
    script = ROOT / "examples/traces/make_chakra.py"
    done = subprocess.run([sys.executable, script, *words, tmp_path / "s"], capture_output=True, text=True)
    assert done.returncode == 1 and says in done.stderr


@pytest.mark.parametrize(("text", "says"), [
    ("rank 0 {\n}\n", "s.goal:1: rank 0: num_ranks is 0"),
    ("num_ranks 0\n", "s.goal:1: expected num_ranks N, N at least 1"),
    ("num_ranks 2\nrank 2 {\n}\n", "s.goal:2: rank 2: num_ranks is 2"),
    ("num_ranks 1\nrank 0 {\na: jump 3\n}\n", "s.goal:3: unknown operation 'jump'"),
    ("num_ranks 1\nrank 0 {\na: calc 3\na: calc 4\n}\n", "s.goal:4: label 'a' a second time"),
    ("num_ranks 1\nrank 0 {\na: calc 3\na requires b\n}\n", "s.goal:4: no label 'b'"),
    ("num_ranks 1\nrank 0 {\na: calc 3\nb: calc 3\na requires b\nb requires a\n}\n", "s.goal:3: rank 0: this operation waits"),
    ("num_ranks 2\nrank 0 {\na: send 8b to 1\n}\n", "s.goal:3: rank 0 sends 1 messages of tag 0 to rank 1, which receives 0"),
    ("num_ranks 2\nrank 0 {\na: send 9b to 1\n}\nrank 1 {\na: recv 8b from 0\n}\n", "s.goal:3: message 1 of tag 0 from rank 0 to rank 1 has 9 bytes, its receive 8"),
    ("num_ranks 2\nrank 0 {\na: send 8b to 1 tug 3\n}\n", "s.goal:3: 'tug': expected tag N"),
    ("num_ranks 2\nrank 0 {\na: send 99999999999999999999b to 1\n}\n", "s.goal:3: '99999999999999999999'"),
    ("num_ranks 1\nrank 0 {\n", "the file ends inside rank 0"),
    ("", "no num_ranks"),
])
def test_what_is_wrong_is_named(bench, tmp_path, text, says):
    path = tmp_path / "s.goal"
    path.write_text(text)
    done = bench("trace", path)
    assert done.returncode == 2 and says in done.stderr, done.stderr


def test_ranks_that_wait_for_each_other_end(bench, tmp_path):
    path = tmp_path / "s.goal"
    path.write_text("num_ranks 2\n" + "".join(
        f"rank {r} {{\ns: send 8b to {1 - r}\nr: recv 8b from {1 - r}\ns requires r\n}}\n" for r in range(2)))
    done = bench("trace", path, "--timeout", "5")
    assert done.returncode == 1 and "0 of 2 operations have ended" in done.stderr, done.stderr
    assert "--timeout 5: milliseconds of simulated time" in done.stderr


# What txt2bin of LogGOPSim reads: comments over lines, no labels, any rank and tag, no bytes, messages to the rank itself.
WHOLE_GRAMMAR = """/* three
   ranks */
num_ranks 3
rank 0 {
send 10b to 1 tag 5 cpu 0 nic 0   // no label
send 0b to 2
l1: recv 12b from -1
l2: calc 1000 cpu 1
l2 requires l1
}
rank 1 {
any: recv 10b from -1 tag -1
a: send 64b to 1 tag 9
a requires any
b:recv 64 b from 1 tag 9
c: send 12b to 0 tag 0
c requires b /* its own message first */ }
rank 2 { recv 0b from 0
}
"""


@pytest.mark.parametrize("nic", ["rtl", "model"])
def test_the_whole_grammar_runs(trace, nic):
    assert trace(WHOLE_GRAMMAR, "--nic", nic)["time"] > 1000


def test_a_message_that_does_not_fit_its_receive_ends_the_run(bench, tmp_path):
    (tmp_path / "s.goal").write_text("num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\nrecv 8b from -1\n}\n")
    done = bench("trace", "s.goal", "--nic", "model")
    assert done.returncode == 1 and "rank 1: a message of 9 bytes from rank 0 for a receive of 8" in done.stderr, done.stderr


def test_what_a_file_computes_does_not_end_it(trace):
    """Three seconds: more than the usual time-out."""
    assert trace("num_ranks 1\nrank 0 {\ncalc 3000000000\n}\n", "--nic", "model")["time"] >= 3e9


def test_chakra_in_json(run_chakra, tmp_path):
    for rank, way in enumerate(("dst", "src")):
        node = {"Id": 1, "NodeType": 5 + rank, "data_deps": [], "comm_size": 4096, f"comm_{way}": 1 - rank, "comm_tag": 3}
        (tmp_path / f"step.{rank}.json").write_text(json.dumps({"workload_graph": [node]}))
    figures = run_chakra(tmp_path / "step.json", "--nic", "model")
    assert (figures["messages"], figures["bytes"]) == (1, 4096) and figures["time"] > 0


@pytest.mark.parametrize("words", [["trace"], ["trace", "nowhere.goal"], ["trace", "nowhere.et"], ["trace", "a.goal", "barrier"]])
def test_usage(bench, words):
    assert bench(*words).returncode == 2
