# SPDX-License-Identifier: Apache-2.0
"""./ggas sim: programs of a scenario, as ranks on simulated nodes."""

import os
import subprocess
import time

import pytest
from conftest import ROOT, built


@pytest.fixture
def scenario(tmp_path):
    """Runs a scenario, with the programs of this build."""
    variables = {"GGAS_SIMULATOR": built("GGAS_SIMULATOR", "programs/simulator/ggas-simulator")}

    def run(text, *options, name="s.toml", timeout=100):
        (tmp_path / name).write_text(text)
        command = [built("GGAS_BENCH", "benchmarks/ggas-bench"), "--scenario", name, *options]
        return subprocess.run(command, cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, timeout=timeout)

    return run


def program():
    return built("GGAS_SIM_PROGRAM", "tests/userlib/libggas/sim_program")


def table(command, *keys):
    return "\n".join(["[[program]]", f"command = {command}", *keys, ""])


def shell(script, *keys):
    return table(["sh", "-c", script], *keys)


def simulated(done):
    """What the simulator says of its time."""
    return [line for line in done.stderr.splitlines() if "ps simulated" in line]


def test_one_program_on_all_nodes(scenario):
    """As ggas-run does it, and the same twice."""
    cluster = "[cluster]\nnodes = 3\nnic = 'model'\ntopology = 'ring'\n"
    text = cluster + table([program(), "times"])
    done, again = scenario(text), scenario(text)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3 and sorted(done.stdout.splitlines()) == sorted(again.stdout.splitlines())
    assert simulated(done) == simulated(again) and "3 ranks, platform galibier-k20, nic model" in simulated(done)[0]
    command = ["python3", ROOT / "programs" / "run" / "run.py", "-n", "3", "--timeout", "50", program()]
    here = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert sorted(scenario(cluster + table([program()])).stdout.splitlines()) == sorted(here.stdout.splitlines())


def test_programs_by_node(scenario, tmp_path):
    """Arguments, environment, ranks, and where the output goes; ranks meet across programs."""
    script = f'echo "$1 $WHO $GGAS_RANK/$GGAS_SIZE"; exec {program()} >/dev/null'
    done = scenario(
        "[cluster]\nnodes = 3\nnic = 'model'\n"
        + table(["sh", "-c", script, "sh", "x y"], "nodes = [2, 0]", 'stdout = "a-{node}.txt"', 'environment = { WHO = "an a" }')
        + shell(f"echo b; exec {program()} >/dev/null", "nodes = [1]"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "b\n"
    assert (tmp_path / "a-0.txt").read_text() == "x y an a 0/3\n" and (tmp_path / "a-2.txt").read_text() == "x y an a 2/3\n"


def test_ranks_may_share_a_file(scenario, tmp_path):
    (tmp_path / "all.txt").write_text("old\n")
    done = scenario("[cluster]\nnodes = 2\n" + shell("echo $GGAS_RANK", 'stdout = "all.txt"'))
    assert done.returncode == 0 and sorted((tmp_path / "all.txt").read_text().split()) == ["0", "1"]


def test_benchmarks_first(scenario, tmp_path):
    text = 'benchmarks = ["barrier"]\nsize = "quick"\n[cluster]\nnodes = 2\nnic = "model"\n[output]\njson = "o.jsonl"\n'
    done = scenario(text + shell("echo the program"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("barrier of all GPUs") < done.stdout.index("the program") and (tmp_path / "o.jsonl").stat().st_size
    failed = scenario("timeout_ms = 0.001\n" + text + shell("echo the program"))
    assert failed.returncode == 1 and "the program" not in failed.stdout and "no [[program]] was run" in failed.stderr


def test_faults_act(scenario):
    """A line that loses flits costs time, and no data."""
    text = "[cluster]\nnodes = 2\n{}" + table([program()])
    plain, noisy = scenario(text.format("")), scenario(text.format('faults = ["0->1 corrupt at 500 count 20"]\n'))
    assert plain.returncode == 0 and noisy.returncode == 0, noisy.stderr
    assert sorted(plain.stdout.split()) == sorted(noisy.stdout.split()) and simulated(plain) != simulated(noisy)


def test_a_cut_by_time(scenario):
    """No one learns of node 1 any more: the program ends with its own message, and before its time is up."""
    done = scenario('timeout_s = 60\n[cluster]\nnodes = 2\nfaults = ["* cut from 250 to 100000000"]\n' + table([program()]))
    assert done.returncode not in (0, 124) and "ended with exit status" in done.stderr, done.stderr


@pytest.mark.parametrize(("script", "key", "status", "says"), [
    ("exit 3", "exit_status = 3", 0, ""),
    ("exit 3", "exit_status = 0", 3, "ended with exit status 3"),
    ("exit 0", "exit_status = 3", 1, "ended with exit status 0, not 3"),
    ("exit 4", "exit_status = 3", 4, "ended with exit status 4, not 3"),
    ("kill -9 $$", "exit_status = 137", 0, ""),
    ("kill -9 $$", "exit_status = 9", 137, "signal 9 (SIGKILL), not 9"),
])
def test_expected_exit_status(scenario, script, key, status, says):
    done = scenario("[cluster]\nnodes = 1\n" + shell(script, key))
    assert done.returncode == status and says in done.stderr, done.stderr


def test_one_that_fails_ends_the_others(scenario):
    begin = time.monotonic()
    done = scenario("[cluster]\nnodes = 2\n" + shell("exec sleep 60", "nodes = [0]") + shell("exit 5", "nodes = [1]"))
    assert done.returncode == 5 and "rank 1 ended with exit status 5" in done.stderr
    assert time.monotonic() - begin < 50


def test_a_program_that_hangs(scenario):
    done = scenario("timeout_s = 1\n[cluster]\nnodes = 2\n" + shell("exec sleep 60", "nodes = [1]") + shell("exit 0", "nodes = [0]"))
    assert done.returncode == 124 and "time is up: ranks 1 still run" in done.stderr


def test_a_program_that_is_not_there(scenario):
    done = scenario("[cluster]\nnodes = 1\n" + table(["./nothing"]))
    assert done.returncode == 127 and "./nothing: No such file or directory" in done.stderr
    done = scenario("[cluster]\nnodes = 1\n" + shell("true", 'stdout = "no/where.txt"'))
    assert done.returncode == 127 and "no/where.txt: No such file or directory" in done.stderr


TWO = "[cluster]\nnodes = 2\n"


@pytest.mark.parametrize(("text", "says"), [
    ("[[program]]\nnodes = [0]\n", "s.toml:1: program.command: missing key"),
    ('[[program]]\ncommand = "x"\n', "s.toml:2: program.command: must be a list of strings"),
    ("[[program]]\ncommand = []\n", "s.toml:2: program.command: must be a list of strings"),
    ('[[program]]\ncommand = ["x", 1]\n', "s.toml:2: program.command: must be a list of strings"),
    ('[[program]]\ncommand = ["x"]\nnode = [1]\n', "s.toml:3: program.node: unknown key"),
    ('[[program]]\ncommand = ["x"]\nnodes = 1\n', "s.toml:3: program.nodes: must be a list of whole numbers"),
    ('[[program]]\ncommand = ["x"]\nnodes = [-1]\n', "s.toml:3: program.nodes: must be a whole number, 0 ... 65535"),
    ('[[program]]\ncommand = ["x"]\nexit_status = 256\n', "s.toml:3: program.exit_status: must be a whole number, 0 ... 255"),
    ('[[program]]\ncommand = ["x"]\nstdout = ""\n', "s.toml:3: program.stdout: must be a string"),
    ('[[program]]\ncommand = ["x"]\nenvironment = ["A"]\n', "s.toml:3: program.environment: must be a table"),
    ('[[program]]\ncommand = ["x"]\nenvironment = { A = 1 }\n', "s.toml:3: program.environment.A: must be a string"),
    ('[program]\ncommand = ["x"]\n', "s.toml:1: program: must be tables, [[program]]"),
    ('[[program]]\ncommand = ["x"]\n[[node]]\n', "s.toml:3: node: cannot be combined with [[program]]"),
    ('timeout_s = 0\n[[program]]\ncommand = ["x"]\n', "s.toml:1: timeout_s: must be a whole number, 1 ... 10000000"),
    ('timeout_s = 5\nbenchmarks = ["barrier"]\n', "s.toml:1: timeout_s: needs a table [[program]]"),
    (TWO + shell("", "nodes = [2]"), "s.toml:5: program.nodes: node 2: there are 0 to 1"),
    (TWO + shell("", "nodes = [0, 1, 0]"), "s.toml:5: program.nodes: node 0: has a program already"),
    (TWO + shell("", "nodes = [0]") + shell(""), "s.toml:6: program.nodes: node 0: has a program already"),
    (TWO + shell("", "nodes = [1]"), "s.toml:5: program.nodes: node 0 has no program"),
    ("[cluster]\ngpus = 2\n" + shell(""), "[[program]] needs nodes of one kind, with one GPU each"),
    ('[cluster]\nnic = "model"\nfaults = ["* drop at 3"]\n' + shell(""), "faults need --nic rtl"),
    (shell("") + '[output]\njson = "x"\n', "--json, --report and --state need a benchmark"),
])
def test_what_is_wrong_is_named(scenario, text, says):
    done = scenario(text)
    assert done.returncode == 2 and says in done.stderr, done.stderr


def test_ranks_are_refused(scenario):
    done = scenario(TWO + shell(""), "--ranks", "2")
    assert done.returncode == 2 and "[[program]] needs a single process" in done.stderr


def test_a_wire_that_is_not_there(scenario):
    done = scenario(TWO + 'faults = ["0->7 drop at 3"]\n' + table([program()]))
    assert done.returncode != 0 and "there is no wire '0->7'" in done.stderr


def test_nodes_of_the_command_line(scenario):
    done = scenario(TWO + shell("echo $GGAS_SIZE"), "--nodes", "3")
    assert done.returncode == 0 and done.stdout.split() == ["3"] * 3


def test_the_launcher_alone():
    command = ["python3", ROOT / "programs" / "run" / "run.py", "--programs"]
    wrong = subprocess.run([*command, "/nowhere"], capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 2 and "'/nowhere'" in wrong.stderr
