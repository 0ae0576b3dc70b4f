# SPDX-License-Identifier: Apache-2.0
"""`ggas-run --sim`: processes as ranks on simulated nodes."""

import json
import os
import subprocess

import pytest
from conftest import ROOT, built

# GASPI write_notify next to the put of a host program in ggas-bench: the bar is what half a round trip may take of its.
BAR = 1.15
# Writes between GPUs: what hybrid ones may take of the better way, at every size.
HYBRID_BAR = 1.05


def ranks(number, *arguments, sim=True, options="", program=None, status=0):
    program = program or built("GGAS_SIM_PROGRAM", "tests/userlib/libggas/sim_program")
    environment = dict(os.environ, GGAS_SIMULATOR_OPTIONS=options)
    environment.pop("GGAS_TRANSPORT", None)
    environment["GGAS_SIMULATOR"] = built("GGAS_SIMULATOR", "programs/simulator/ggas-simulator")
    how = ["--sim"] if sim else []
    command = ["python3", ROOT / "programs" / "run" / "run.py", "-n", str(number), *how, "--timeout", "100", program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done


def lines(done):
    return sorted(done.stdout.splitlines())


@pytest.mark.parametrize("memory", [[], ["bound"]], ids=["allocated", "bound"])
@pytest.mark.parametrize("number", [1, 2, 4, 8])
def test_a_program_finds_the_same_on_shm_and_on_simulated_nodes(number, memory):
    here = lines(ranks(number, *memory, sim=False))
    assert len(here) == number
    assert here == lines(ranks(number, sim=False))
    assert lines(ranks(number, *memory)) == here


@pytest.mark.parametrize("memory", [[], ["bound"]], ids=["allocated", "bound"])
@pytest.mark.parametrize("options", ["", "--nic rtl", "--platform modern"])
def test_two_runs_are_the_same_to_the_nanosecond(options, memory):
    one, other = (ranks(3, *memory, "times", options=options + " --report") for _ in range(2))
    assert lines(one) == lines(other) and all(" ns " in line for line in lines(one))
    assert one.stderr == other.stderr and " ps simulated" in one.stderr


@pytest.mark.parametrize("nic", ["model", "rtl"])
def test_write_notify_takes_what_a_put_takes(nic, bench_json, capsys):
    for size, put in sorted(bench_json(nic).items()):
        took = float(ranks(2, "latency", str(size), options=f"--nic {nic} --set nic.clock_mhz=157").stdout)
        with capsys.disabled():
            print(f"\n  galibier-k20, nic {nic}, seed 1: {size} B, GASPI write_notify {took:.0f} ns, "
                  f"host put of ggas-bench {put:.0f} ns: {took / put:.2f}")
        assert took <= BAR * put


@pytest.fixture
def bench_json(tmp_path):
    def half_round_trips(nic):
        file = tmp_path / "put.json"
        command = [built("GGAS_BENCH", "benchmarks/ggas-bench"), "put_latency", "--quick", "--no-report", "--nic", nic, "--json", file]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        records = [json.loads(line) for line in file.read_text().splitlines()]
        return {r["params"]["bytes"]: r["value"] for r in records if r["variant"] == "host" and r["metric"] == "half_round_trip"}

    return half_round_trips


def test_hybrid_writes_of_gpus_are_as_quick_as_the_better_way(tmp_path, capsys):
    file = tmp_path / "ways.json"
    bench = built("GGAS_HOST_BENCH", "benchmarks/host/ggas-host-bench")
    ranks(2, "--gpu", "simt", "--quick", "--most", str(256 << 10), "--json", file, program=bench)
    took = {}
    for record in map(json.loads, file.read_text().splitlines()):
        took.setdefault(record["bytes"], {})[record["variant"]] = record["median"]
    assert len(took) == 16
    best = {size: min(ways["direct"], ways["staged"]) for size, ways in took.items()}
    worst = max(ways["hybrid"] / best[size] for size, ways in took.items())
    with capsys.disabled():
        print(f"\n  galibier-k20, nic model, seed 1: hybrid takes at most {worst:.3f} x the better of direct and staged")
    assert worst <= HYBRID_BAR
    assert any(ways["staged"] < ways["direct"] for ways in took.values())  # both ways are the better one somewhere
    assert any(ways["direct"] < ways["staged"] for ways in took.values())


def test_a_bad_option_is_reported():
    done = ranks(1, options="--nic paper", status=1)
    assert "--nic paper: must be 'model' or 'rtl'" in done.stderr and "the simulator ended" in done.stderr


def test_a_missing_simulator_is_reported():
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GGAS_")}
    program = built("GGAS_SIM_PROGRAM", "tests/userlib/libggas/sim_program")
    done = subprocess.run([program], env=dict(environment, GGAS_TRANSPORT="sim"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "use ggas-run --sim" in done.stderr
    done = subprocess.run([program], env=dict(environment, GGAS_TRANSPORT="pigeon"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "GGAS_TRANSPORT = 'pigeon': must be shm, sim or hw" in done.stderr
