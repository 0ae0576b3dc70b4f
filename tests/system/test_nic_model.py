# SPDX-License-Identifier: Apache-2.0
"""The model of the NIC next to the RTL, and clusters of more than two nodes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = os.environ["GGAS_BENCH"]
ROOT = Path(__file__).resolve().parents[2]
LONG = pytest.mark.skipif("GGAS_LONG" not in os.environ, reason="system.nic_model_8")


def bench(*args, check=True):
    done = subprocess.run([BENCH, *args], capture_output=True, text=True, timeout=300)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


# All widths: system.nic_model_8.
def test_times_are_those_of_the_rtl():
    program = Path(BENCH).with_name("ggas-nic-times")
    width = [] if "GGAS_LONG" in os.environ else ["--width", "64"]
    done = subprocess.run([program, "--check", *width], capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, (
        f"{done.stdout}The RTL has changed: {program} > sim/nic/model/model_times.inc, and see docs/nic-model.md")


# Figures that are further off than the bar, for a reason in docs/nic-model.md#how-far-off-it-is: percent, by platform,
# nodes and figure.
KNOWN = {("modern", 2): {"message_rate queue_gpu bytes=32 connections=32 messages": 7.0}}


def beyond_the_bar(platform, nodes, *args):
    """Figures of the model that are further off than they may be, and all that was printed."""
    done = subprocess.run([sys.executable, ROOT / "benchmarks/nic/error.py", BENCH, "--quick", "--platform", platform,
                           "--nodes", str(nodes), *args], capture_output=True, text=True)
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines() if line.endswith(" % |")]
    print(done.stdout)
    assert rows and not done.stderr, done.stdout + done.stderr
    off = {}
    for row in rows:
        figure = " ".join(row[1:5])
        off[figure] = max(abs(float(row[8].split()[0])), off.get(figure, 0))
    known = KNOWN.get((platform, nodes), {})
    return {k: v for k, v in off.items() if v > known.get(k, 5)}


# Some of what system.nic_gate.* does.
@pytest.mark.parametrize(("platform", "nodes", "names"), [
    ("galibier-k20", 2, ["store_bandwidth", "put_latency"]),
    ("galibier-k20", 3, ["load_latency", "random_stores"]),
    ("modern", 2, ["put_bandwidth"]),
    pytest.param("galibier-k20", 2, ["--topology", "leaf-spine:2x1x1,cut_through=false", "put_latency", "store_bandwidth"],
                 marks=LONG)])
def test_off_by_less_than_the_bar(platform, nodes, names):
    assert beyond_the_bar(platform, nodes, *names) == {}


@pytest.mark.skipif("GGAS_GATE" not in os.environ, reason="system.nic_gate.*")
def test_gate():
    platform, nodes = os.environ["GGAS_GATE"].split()
    assert beyond_the_bar(platform, int(nodes), "--all", "--seeds", "8") == {}


# Results are verified by the benchmarks themselves.
@pytest.mark.parametrize("nodes", ["3", pytest.param("8", marks=LONG)])
def test_benchmarks_with_more_than_two_nodes(nodes):
    bench("store_latency", "load_bandwidth", "barrier", "reduce", "allreduce", "alltoall", "himeno", "global_reduction",
          "random_access", "put_latency", "get_bandwidth", "message_rate", "--nic", "model", "--nodes", nodes,
          "--quick")


# Results are verified by the benchmarks themselves.
@pytest.mark.parametrize("topology", ["file", *(pytest.param(t, marks=LONG) for t in ("leaf-spine:2x1x2", "torus:2:2"))])
def test_switches(topology, tmp_path):
    if topology == "file":
        topology = tmp_path / "net"
        topology.write_text("router 0 node 0 node 1 router 1 3\nrouter 1 node 2 router 2\nrouter 2 node 3 router 0\n")
    bench("barrier", "put_latency", "store_latency", "--nic", "model", "--nodes", "4", "--quick", "--topology",
          str(topology))


def test_the_same_twice(tmp_path):
    texts = []
    for i in range(2):
        out = tmp_path / f"{i}.jsonl"
        bench("allreduce", "random_access", "--nic", "model", "--nodes", "6", "--quick", "--json", str(out))
        texts.append(out.read_text())
    assert texts[0] == texts[1]
    assert all(json.loads(line)["nic"] == "model" for line in texts[0].splitlines())


@pytest.mark.parametrize(("args", "text"), [
    (["--nodes", "65"], "1 to 64 are possible with the cycle-accurate NIC"),
    (["--nic", "model", "--nodes", "8", "--topology", "full"], "a NIC has 6 links, so full joins 7 nodes"),
    (["--nic", "model", "--nodes", "8", "--topology", "star"], "expected auto, full, ring, mesh:AxB[xC]"),
    (["--nodes", "5", "--topology", "torus:3x3"], "it has 9 nodes"),
    (["--nic", "model", "--nodes", "5", "--topology", "leaf-spine:2x2x4"], "it has 8 nodes"),
    (["--nic", "model", "--nodes", "4", "--topology", "fat-tree:2x2,gbit_per_s=0"], "must be above 0"),
    (["--nic", "model", "--nodes", "4", "--topology", "fat-tree:2x2", "--fault", "* cut from 3"],
     "faults need NICs that are connected to each other"),
    (["--nodes", "4", "--topology", "leaf-spine:2x1x2", "--fault", "* drop rate 1e-4"],
     "faults need NICs that are connected to each other"),
    (["--nodes", "4", "--topology", "leaf-spine:2x1x2", "--trace", "t.json"],
     "trace and pcap need NICs that are connected to each other"),
    (["--nodes", "4", "--topology", "leaf-spine:2x1x2", "--pcap", "p.pcapng"],
     "trace and pcap need NICs that are connected to each other"),
    (["--nic", "model", "--waves", "w.fst"], "need the RTL"),
])
def test_bad_input_is_named(args, text):
    done = bench("barrier", "--quick", *args, check=False)
    assert done.returncode == 2 and text in done.stderr, done.stderr
