# SPDX-License-Identifier: Apache-2.0
"""./ggas sim: what a scenario file says, what stands next to it, and what is wrong with it."""

import json

import pytest
from conftest import ROOT


@pytest.fixture
def scenario(tmp_path):
    def write(text):
        path = tmp_path / "s.toml"
        path.write_text(text)
        return path

    return write


def test_file_says_cluster_and_output(bench, scenario, tmp_path):
    file = scenario("""
benchmarks = ["barrier"]
size = "quick"
seed = 7
[cluster]
nodes = 4
nic = "model"
topology = "ring"
set = ["link.latency_ns=200"]
[output]
json = "out.jsonl"
energy = true
energy_units = false
""")
    done = bench("--scenario", file)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {r["metric"] for r in records} == {"latency", "energy_per_operation", "energy_above_idle_per_operation"}
    assert records and all(r["nic"] == "model" and r["seed"] == 7 and r["nodes"] == 4 for r in records)


def test_options_beside_the_file_win(bench, scenario, tmp_path):
    file = scenario('benchmarks = ["barrier"]\nsize = "quick"\n[cluster]\nnodes = 4\nnic = "model"\n')
    done = bench("--scenario", file, "--nodes", "3", "--json", tmp_path / "o.jsonl")
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["nodes"] == 3 for line in (tmp_path / "o.jsonl").read_text().splitlines())


def test_several_gpus_a_node(bench, scenario, tmp_path):
    """Every GPU takes part: the benchmarks check what came."""
    file = scenario("""
benchmarks = ["barrier", "allreduce", "put_latency"]
size = "quick"
[cluster]
nodes = 2
gpus = 2
nic = "model"
[output]
json = "out.jsonl"
""")
    done = bench("--scenario", file)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {r["benchmark"] for r in records} == {"barrier", "allreduce", "put_latency"}
    assert all(r["nodes"] == 4 and r["platform"] == "galibier-k20, 2 computers" for r in records)


def test_nodes_of_several_kinds(bench, tmp_path):
    done = bench("--scenario", ROOT / "examples/scenarios/mixed.toml", "--json", tmp_path / "o.jsonl")
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["nodes"] == 5 for line in (tmp_path / "o.jsonl").read_text().splitlines())
    refused = bench("--scenario", ROOT / "examples/scenarios/mixed.toml", "--nodes", "3")
    assert refused.returncode == 2 and "--nodes: the scenario has [[node]] tables" in refused.stderr


def test_a_lost_link_is_led_around(bench, tmp_path):
    done = bench("--scenario", ROOT / "examples/scenarios/lost_link.toml", "--json", tmp_path / "o.jsonl")
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["benchmark"] for line in (tmp_path / "o.jsonl").read_text().splitlines()} == {
        "barrier", "put_latency"}


def test_every_form_of_the_option_reads_the_file(bench, scenario, tmp_path):
    file = scenario('benchmarks = ["barrier"]\nsize = "quick"\n[cluster]\nnodes = 3\nnic = "model"\n[output]\nreport = "r"\n')
    done = bench(f"--scenario={file}", "--no-report", "--json", "o.jsonl")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert {(r["benchmark"], r["nodes"]) for r in found} == {("barrier", 3)}
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("option", [("--set", "link.latency_ns=200"), ("--fault", "0->1 drop at 30")])
def test_a_name_after_a_list_is_a_name(bench, tmp_path, option):
    done = bench("--quick", *option, "store_latency", "--json", "o.jsonl")
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["benchmark"] for line in (tmp_path / "o.jsonl").read_text().splitlines()} == {"store_latency"}


@pytest.mark.parametrize(("faults", "options", "says"), [
    ('"node 4 dead from 3"', [], "faults:1: there is no node 4: 0 to 3"),
    ('"* cut from 3", "node 1 dead"', [], "faults:2: expected: node <number> dead from <us>"),
    ('"node one dead from 3"', [], "faults:1: node 'one': must be a whole number"),
    ('"node 1 dead from 3", "* drop at 3"', ["--nic", "model"], "faults:2: the model of the NIC sends no flits"),
    ('"node 1 dead from 3"', ["--ranks", "2"], "nodes and links that die need a single process"),
    ('"0->1 cut from 3"', ["--ranks", "2"], "nodes and links that die need a single process"),
])
def test_faults_that_are_refused(bench, scenario, faults, options, says):
    text = f'benchmarks = ["barrier"]\nsize = "quick"\n[cluster]\nnodes = 4\ntopology = "ring"\nfaults = [{faults}]\n'
    done = bench("--scenario", scenario(text), *options)
    assert done.returncode == 2 and says in done.stderr, done.stderr


# A node dies under a benchmark: it ends, with an error of an operation, in bounded time.
@pytest.mark.parametrize("nic", ["model", "rtl"])
def test_a_node_that_dies_ends_a_benchmark(bench, scenario, nic):
    text = 'benchmarks = ["barrier"]\nsize = "quick"\n[cluster]\nnodes = 4\ntopology = "ring"\nfaults = ["node 3 dead from 100"]\n'
    done = bench("--scenario", scenario(text), "--nic", nic, "--timeout", "50")
    assert done.returncode == 1 and done.stderr, done.stderr


def test_faults_act(bench, scenario):
    text = 'benchmarks = ["store_latency"]\nsize = "quick"\n[cluster]\nfaults = ["{}"]\n'
    assert "there is no wire '0->7'" in bench("--scenario", scenario(text.format("0->7 drop at 3"))).stderr
    assert bench("--scenario", scenario(text.format("0->1 drop at 30"))).returncode == 0


@pytest.mark.parametrize(("text", "says"), [
    ('benchmarks = ["barrier"]\n\n[cluster]\nnodse = 4\n', "s.toml:4: cluster.nodse: unknown key"),
    ('benchmarks = ["barrier"]\n[cluster]\nnodes = "4"\n', "s.toml:3: cluster.nodes: must be a whole number"),
    ('benchmarks = ["barrier"]\n[output]\njson = "--quick"\n', "s.toml:3: output.json: '--quick': must be a name"),
    ('benchmarks = ["barrier"]\n[output]\njson = ""\n', "s.toml:3: output.json: '': must be a name"),
    ('benchmarks = ["barrier"]\n[cluster]\nplatform = "-x"\n', "s.toml:3: cluster.platform: '-x': must be a name"),
    ('benchmarks = ["barrier"]\n[output]\nenergy = "yes"\n', "s.toml:3: output.energy: must be true or false"),
    ('benchmarks = "barrier"\n', "s.toml:1: benchmarks: must be a list of strings"),
    ('benchmarks = ["--help"]\n', "s.toml:1: benchmarks: must be a list of strings"),
    ('[cluster]\nnodes = 4\n', "benchmarks: missing key"),
    ('benchmarks = ["barrier"]\nsize = "huge"\n', 's.toml:2: size: must be "quick", "middle" or "full"'),
    ('benchmarks = ["barrier"\n', "s.toml:"),
    ('benchmarks = ["barier"]\n', "barier"),
    ('benchmarks = ["barrier"]\n[cluster]\nnodes = 0\n', "--nodes 0"),
    ('benchmarks = ["barrier"]\nsize = "quick"\n[cluster]\nnodes = 8\ntopology = "ring:8"\n', "topology 'ring:8'"),
    ('benchmarks = ["barrier"]\n[cluster]\ngpus = 0\n', "--gpus 0: expected 1 to 16"),
    ('benchmarks = ["barrier"]\n[node]\ngpus = 2\n', "s.toml:2: node: must be tables, [[node]]"),
    ('benchmarks = ["barrier"]\n[[node]]\ngpu = 2\n', "s.toml:3: node.gpu: unknown key"),
    ('benchmarks = ["barrier"]\n[[node]]\ngpus = 17\n', "s.toml:3: node.gpus: must be a whole number, 1 ... 16"),
    ('benchmarks = ["barrier"]\n[[node]]\ncount = 0\n', "s.toml:3: node.count: must be a whole number, 1 ... 65536"),
    ('benchmarks = ["barrier"]\n[[node]]\n[[node]]\nplatform = "x"\n', "s.toml:4: node.platform: unknown platform 'x'"),
    ('benchmarks = ["barrier"]\n[[node]]\nset = ["gpu.x=1"]\n', "s.toml:3: node.set: override 'gpu.x=1': unknown key 'x'"),
    ('benchmarks = ["barrier"]\n[[node]]\nset = "gpu.sms=1"\n', "s.toml:3: node.set: must be a list of strings"),
    ('benchmarks = ["barrier"]\n[cluster]\nnodes = 2\n[[node]]\n', "s.toml:3: cluster.nodes: cannot be combined with [[node]]"),
    ('benchmarks = ["barrier"]\n[[node]]\nset = ["nic.clock_mhz=100"]\n', "s.toml:3: node.set: 'nic.clock_mhz=100': NIC and"),
    ('benchmarks = ["trace"]\n[[node]]\ngpus = 2\n', "trace: expected trace FILE"),
])
def test_what_is_wrong_is_named(bench, scenario, text, says):
    done = bench("--scenario", scenario(text))
    assert done.returncode == 2 and says in done.stderr, done.stderr


def test_all_that_is_wrong_at_once(bench, scenario):
    done = bench("--scenario", scenario('benchmarks = ["barrier"]\nx = 1\n[output]\ny = 2\n'))
    assert done.returncode == 2 and "s.toml:2: x" in done.stderr and "s.toml:4: output.y" in done.stderr


def test_no_such_file(bench):
    done = bench("--scenario", "nowhere.toml")
    assert done.returncode == 2 and "scenario 'nowhere.toml': cannot be read" in done.stderr


def test_the_examples_run(bench, tmp_path):
    torus = ROOT / "examples/scenarios/torus.toml"
    done = bench("--scenario", torus, "--nic", "model")
    assert done.returncode == 0 and (tmp_path / "torus.jsonl").stat().st_size > 0, done.stderr
