# SPDX-License-Identifier: Apache-2.0
"""`./ggas run`: the processes of a job, their endings and signals."""

import os
import signal
import subprocess
import time

import pytest
from conftest import ROOT


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
