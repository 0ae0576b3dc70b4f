# SPDX-License-Identifier: Apache-2.0
"""`./ggas run`: the processes of a job, their endings and signals."""

import os
import signal
import subprocess
import time

import pytest
from conftest import ROOT, built


def run(*arguments, **how):
    return subprocess.run([str(ROOT / "ggas"), "run", *arguments], capture_output=True, text=True, timeout=60, **how)


def shell(script):
    return ["sh", "-c", script]


def test_each_process_knows_who_it_is(tmp_path):
    done = run("-n", "3", *shell("echo $GGAS_RANK of $GGAS_SIZE in $GGAS_JOB at $PWD"), cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    lines = sorted(done.stdout.splitlines())
    assert [line.split(" in ")[0] for line in lines] == ["0 of 3", "1 of 3", "2 of 3"]
    assert len({line.split(" in ")[1] for line in lines}) == 1, "one job"
    assert lines[0].endswith(str(tmp_path)), "in the user's folder"


def test_two_jobs_have_different_names():
    assert run("-n", "1", *shell("echo $GGAS_JOB")).stdout != run("-n", "1", *shell("echo $GGAS_JOB")).stdout


@pytest.fixture
def hangs():
    return str(built("GGAS_HANG_PROBE", "tests/userlib/hang_probe"))


REPORT = "node 0, block 0, thread 0: ggas_barrier aborted by the host: node 1 did not arrive at number 1 of the team\n"


def test_a_job_that_takes_too_long_is_ended_and_says_who_waits(hangs):
    done = run("-n", "1", "--timeout", "1", hangs)
    assert done.returncode == 124
    assert "time is up: ranks 0 still run" in done.stderr
    assert REPORT in done.stderr and "look at node 1: waited for" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_says_who_waits(hangs, number):
    job = subprocess.Popen([str(ROOT / "ggas"), "run", "-n", "1", hangs], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "ready\n"
    os.kill(job.pid, number)
    _, reported = job.communicate(timeout=30)
    assert job.returncode == 128 + number
    assert REPORT in reported and "look at node 1: waited for" in reported


def test_a_job_in_time_is_not_ended():
    assert run("-n", "2", "--timeout", "50", *shell("exit 3")).returncode == 3


@pytest.mark.parametrize("time_out", ["0", "-1", "x", "1.5"])
def test_a_time_out_that_is_none(time_out):
    done = run("-n", "1", f"--timeout={time_out}", "true")
    assert done.returncode == 2 and f"'{time_out}': must be a number of seconds from 1" in done.stderr


def test_the_worst_status_counts():
    done = run("-n", "3", *shell("exit $GGAS_RANK"))
    assert done.returncode == 2
    assert "rank 2 ended with exit status 2" in done.stderr
    assert run("-n", "2", *shell("[ $GGAS_RANK = 1 ] && kill -9 $$; exit 5")).returncode == 128 + 9


def test_others_go_on_unless_they_are_to_stop():
    script = "[ $GGAS_RANK = 0 ] && exit 3; sleep 1; echo still here"
    assert run("-n", "2", *shell(script)).stdout == "still here\n"
    begin = time.monotonic()
    done = run("-n", "3", "--stop", *shell("[ $GGAS_RANK = 0 ] && exit 3; exec sleep 50"))
    assert done.returncode == 3 and time.monotonic() - begin < 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_signals_are_passed_on(number):
    name = signal.Signals(number).name.removeprefix("SIG")
    script = f"trap 'echo heard; exit 7' {name}; echo ready; while :; do sleep 0.05; done"
    job = subprocess.Popen([str(ROOT / "ggas"), "run", "-n", "2", *shell(script)], stdout=subprocess.PIPE, text=True)
    for _ in range(2):
        assert job.stdout.readline() == "ready\n"
    os.kill(job.pid, number)
    rest, _ = job.communicate(timeout=30)
    assert rest == "heard\n" * 2 and job.returncode == 7


def test_signals_reach_what_a_wrapper_has_started():
    """And nothing of it is left over."""
    job = subprocess.Popen([str(ROOT / "ggas"), "run", "-n", "2", *shell("sleep 60 & echo $!; wait")], stdout=subprocess.PIPE, text=True)
    sleepers = [int(job.stdout.readline()) for _ in range(2)]
    os.kill(job.pid, signal.SIGTERM)
    job.communicate(timeout=30)
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") and not is_dead(pid) for pid in sleepers):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_signal_without_a_name():
    done = run("-n", "1", *shell("kill -40 $$"))
    assert done.returncode == 128 + 40 and "rank 0 ended with signal 40\n" in done.stderr


def test_nohup_is_respected():
    script = "trap '' HUP; exec \"$0\" run -n 1 sh -c 'kill -HUP $(cut -d\" \" -f4 /proc/$$/stat); sleep 0.3; echo alive'"
    done = subprocess.run(["sh", "-c", script, str(ROOT / "ggas")], capture_output=True, text=True, timeout=60)
    assert done.stdout == "alive\n" and done.returncode == 0


def test_a_parent_that_ignores_its_children():
    done = run("-n", "2", *shell("exit 3"), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.returncode == 3


def test_help_says_what_processes_get():
    done = run("--help")
    assert done.returncode == 0 and "usage: ./ggas run -n N [--hosts A,B,...] [--sim] [--stop] [--timeout S] [--mpi-types] PROGRAM [...]" in done.stdout and "GGAS_RANK" in done.stdout


def test_input_goes_to_rank_0():
    done = run("-n", "2", *shell("cat | wc -c; [ $GGAS_RANK = 0 ] || sleep 0.2"), input="12345")
    assert sorted(done.stdout.split()) == ["0", "5"]


@pytest.mark.parametrize(
    "arguments, status, word",
    [(["-n", "0", "true"], 2, "'0': must be a number from 1 to 1024"), (["-n", "2"], 2, "no program"), (["true"], 2, "-n"), (["-n", "2", "./nosuch"], 127, "./nosuch: No such file")],
)
def test_bad_input(arguments, status, word):
    done = run(*arguments)
    assert done.returncode == status and word in done.stderr
