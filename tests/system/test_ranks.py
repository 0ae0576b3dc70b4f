# SPDX-License-Identifier: Apache-2.0
"""ggas-bench --ranks: one cluster simulated by several processes."""

import os
import shutil
import signal
import subprocess
import time

import pytest
from conftest import ROOT, bench_program, users_environment

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun")


def outputs(bench, tmp_path, ranks, *words, timeout=200):
    """Results, counters and digests of memory, as bytes."""
    files = [tmp_path / f"{ranks}.jsonl", tmp_path / f"{ranks}.state"]
    done = bench(*words, "--ranks", ranks, "--json", files[0], "--state", files[1], timeout=timeout)
    assert done.returncode == 0, done.stderr
    return [f.read_bytes() for f in files]


@needs_mpi
@pytest.mark.parametrize(("words", "ranks"), [
    (["barrier", "--nodes", "2", "--quick", "--fault", "* corrupt rate 1e-3"], 2),
    (["global_reduction", "--nodes", "3", "--quick"], 3),
    (["global_reduction", "--nodes", "2", "--gpus", "2", "--quick"], 2),
    (["barrier", "--nodes", "3", "--quick", "--topology", "leaf-spine:3x2x1"], 2),  # the first one has the switches
])
def test_ranks_give_what_one_process_gives(bench, tmp_path, words, ranks):
    alone = outputs(bench, tmp_path, 1, *words)
    assert outputs(bench, tmp_path, ranks, *words) == alone
    assert alone[1].count(b"\n") >= ranks and b'"memory"' in alone[1]


@needs_mpi
@pytest.mark.parametrize("name", ["barrier", "allreduce", "random_access"])
@pytest.mark.skipif("GGAS_LONG" not in os.environ, reason="long: ctest system.ranks_8")
def test_eight_nodes(bench, tmp_path, name):
    words = [name, "--nodes", "8", "--quick"]
    alone = outputs(bench, tmp_path, 1, *words, timeout=3000)
    for ranks in (2, 4):
        assert outputs(bench, tmp_path, ranks, *words, timeout=3000) == alone


@needs_mpi
@pytest.mark.parametrize("name", ["barrier", "reduce", "allreduce"])
@pytest.mark.skipif("GGAS_LONG" not in os.environ, reason="long: ctest system.ranks_8")
def test_four_nodes_of_two_gpus(bench, tmp_path, name):
    """GPUs below one switch want it at the same time: who is first must not depend on who simulates other nodes."""
    words = [name, "--nodes", "4", "--gpus", "2", "--quick"]
    alone = outputs(bench, tmp_path, 1, *words, timeout=3000)
    for ranks in (2, 4):
        assert outputs(bench, tmp_path, ranks, *words, timeout=3000) == alone


@needs_mpi
def test_nodes_of_several_kinds_are_refused(bench):
    done = bench("--scenario", ROOT / "examples/scenarios/mixed.toml", "--ranks", "2", "--nic", "rtl")
    assert done.returncode == 2 and "several processes need computers that are alike" in done.stderr, done.stderr


@needs_mpi
def test_one_process_of_mpirun(bench, tmp_path):
    """The windows of time alone, without a second rank."""
    words = ["global_reduction", "--quick"]
    alone = outputs(bench, tmp_path, 1, *words)
    files = [tmp_path / "m.jsonl", tmp_path / "m.state"]
    command = ["mpirun", "-n", "1", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), bench_program(), *words]
    subprocess.run([*command, "--json", files[0], "--state", files[1]], check=True, capture_output=True, timeout=200, env=users_environment())
    assert [f.read_bytes() for f in files] == alone


@needs_mpi
def test_a_kernel_that_does_not_end(bench):
    done = bench("barrier", "--nodes", "2", "--quick", "--ranks", "2", "--timeout", "0.001")
    assert done.returncode == 1 and "not ended after 1000 ns: node 0: " in done.stderr, done.stderr
    assert "; node 1: " in done.stderr and done.stderr.count("not ended") == 1


@needs_mpi
def test_programs_of_processors_are_refused(bench):
    done = bench("transfer_path", "--quick", "--ranks", "2")
    assert done.returncode == 2 and "not possible with ranks, because its results would stay in one of them" in done.stderr, done.stderr


@pytest.mark.parametrize(("words", "says"), [
    (["--ranks", "3"], "--ranks 3: more than --nodes 2"),
    (["--ranks", "0"], "--ranks 0: expected at least 1"),
    (["--ranks", "2", "--nic", "model"], "--ranks needs --nic rtl"),
    (["--ranks", "2", "--provider", "shm"], "--ranks needs --provider sim"),
    (["--ranks", "2", "--pcap", "x"], "--waves, --trace and --pcap need a single process"),
    (["--hosts", "x"], "--hosts goes with --ranks"),
])
def test_what_is_wrong_is_named(bench, words, says):
    done = bench("barrier", *words)
    assert done.returncode == 2 and says in done.stderr, done.stderr


@pytest.mark.parametrize(("variables", "words", "says"), [
    ({"OMPI_COMM_WORLD_SIZE": "3"}, ["--ranks", "2"], "--ranks 2: 3 processes were launched"),
    ({"OMPI_COMM_WORLD_SIZE": "3"}, [], "--ranks 3: more than --nodes 2"),
    ({"PATH": "/nowhere"}, ["--ranks", "2"], "mpirun cannot be run"),
])
def test_the_launcher_is_looked_at(variables, words, says):
    done = subprocess.run([bench_program(), "barrier", *words], capture_output=True, text=True, timeout=60,
                          env=os.environ | variables)
    assert done.returncode == 2 and says in done.stderr, done.stderr


def ranks_of(launcher):
    """Processes that mpirun has started."""
    with open(f"/proc/{launcher}/task/{launcher}/children") as children:
        return [int(pid) for pid in children.read().split()]


@needs_mpi
@pytest.mark.parametrize(("what", "says"), [(signal.SIGKILL, "signal 9"), (signal.SIGSTOP, "no answer for 3 s")])
def test_a_lost_rank_ends_the_run(tmp_path, what, says):
    state = tmp_path / "state"
    words = ["barrier", "--nodes", "2", "--ranks", "2", "--state", state]
    run = subprocess.Popen([bench_program(), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           env=os.environ | {"GGAS_RANK_TIMEOUT": "3"})
    while run.poll() is None and not (state.exists() and state.stat().st_size):  # the first point has ended
        time.sleep(0.05)
    os.kill(ranks_of(run.pid)[1], what)
    _, reported = run.communicate(timeout=100)
    assert run.returncode != 0 and says in reported, reported


def test_the_example_for_slurm_is_a_shell_script():
    subprocess.run(["sh", "-n", ROOT / "examples/slurm/ranks.sbatch"], check=True)
