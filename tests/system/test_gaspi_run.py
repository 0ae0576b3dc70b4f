# SPDX-License-Identifier: Apache-2.0
"""`gaspi_run -m FILE -n N`: machine files, good and bad."""

import random
import re
import runpy
import socket
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT


def gaspi_run(*arguments):
    return subprocess.run([ROOT / "programs" / "run" / "gaspi_run.py", *arguments], capture_output=True, text=True, timeout=60)


@pytest.fixture
def machines(tmp_path):
    def write(data):
        (tmp_path / "machines").write_bytes(data if isinstance(data, bytes) else data.encode())
        return tmp_path / "machines"

    return write


def test_a_line_is_a_rank(machines):
    file = machines(f"# all\nlocalhost\n\n{socket.gethostname()} # again\nlocalhost\n")
    script = ["sh", "-c", "echo $GGAS_RANK $GGAS_SIZE ${#GGAS_SECRET}"]
    assert sorted(gaspi_run("-m", file, *script).stdout.split("\n")) == ["", "0 3 32", "1 3 32", "2 3 32"]
    assert gaspi_run("-m", file, "-n", "1", *script).stdout == "0 1 32\n"
    assert gaspi_run("-m", file, "-n", "2", "sh", "-c", "exit $GGAS_RANK").returncode == 1


def test_a_script_of_no_named_interpreter_is_one_of_the_shell(machines, tmp_path):
    script = tmp_path / "script"
    script.write_text("echo $GGAS_RANK $1\n")
    script.chmod(0o755)
    done = gaspi_run("-m", machines("localhost\nlocalhost\n"), script, "word")
    assert sorted(done.stdout.split("\n")) == ["", "0 word", "1 word"], done.stderr
    script.chmod(0o644)
    assert gaspi_run("-m", machines("localhost\n"), script).returncode != 0


@pytest.mark.parametrize(
    "text, arguments, why",
    [
        ("", [], "names no computer"),
        ("# nobody\n", [], "names no computer"),
        ("localhost\n-oProxyCommand=x\n", [], "line 2: '-oProxyCommand=x' is not a valid host name"),
        ("localhost\na b\n", [], "line 2: 'a b' is not a valid host name"),
        ("localhost\n", ["-n", "2"], "-n 2: must be 1 to 1"),
        ("localhost\n", ["-n", "0"], "-n 0: must be 1 to 1"),
        ("x" * (1 << 21), [], "at most 1048576 are read"),
    ],
)
def test_a_bad_file_is_reported(machines, text, arguments, why):
    done = gaspi_run("-m", machines(text), *arguments, "true")
    assert done.returncode == 1 and why in done.stderr and "Traceback" not in done.stderr


def test_a_missing_file_is_reported(tmp_path):
    done = gaspi_run("-m", tmp_path / "none", "true")
    assert done.returncode == 1 and "No such file" in done.stderr


def test_noise_is_no_machine_file(machines):
    noise = random.Random(5)
    for _ in range(5):
        done = gaspi_run("-m", machines(noise.randbytes(300)), "true")
        assert done.returncode == 1 and "Traceback" not in done.stderr


def test_any_change_of_a_machine_file_is_taken_or_reported(machines):
    """Noise in good files: names of computers or one line of text, and never anything else."""
    hosts_of = runpy.run_path(str(ROOT / "programs" / "run" / "gaspi_run.py"))["hosts_of"]
    noise = random.Random(11)
    good = b"localhost # first\n\n  localhost\n# nobody\n127.0.0.1\r\nlocalhost\n"
    reported = 0
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(noise.randrange(1, 6)):
            at = noise.randrange(len(data))
            data[at : at + noise.randrange(3)] = noise.choice([b"", b"\0", b"\xff\xfe", b"#", b"\n", b"\x0b", noise.randbytes(4)])
        try:
            names = hosts_of(machines(bytes(data)))
            assert 1 <= len(names) <= 64
            assert all(re.fullmatch(r"[\w.:@%\[\]][\w.:@%\[\]-]*", name, re.ASCII) for name in names)
        except SystemExit as end:
            reported += 1
            assert str(end).startswith("gaspi_run: machine file ") and "\n" not in str(end).replace(str(machines(bytes(data))), "")
    assert 100 < reported < 2000


def test_without_a_machine_file_ranks_are_here():
    assert sorted(gaspi_run("-n", "3", "sh", "-c", "echo $GGAS_RANK $GGAS_SIZE").stdout.split()) == ["0", "1", "2", "3", "3", "3"]
    done = gaspi_run("true")
    assert done.returncode == 2 and "-m FILE or -n N is needed" in done.stderr
    assert "-n 1025: must be 1 to 1024" in gaspi_run("-n", "1025", "true").stderr


def test_rank_0_may_start_another_binary(tmp_path):
    for name in ("first", "others"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $GGAS_RANK $1\n")
        (tmp_path / name).chmod(0o755)
    done = gaspi_run("-n", "3", "-b", tmp_path / "first", tmp_path / "others", "word")
    assert sorted(done.stdout.splitlines()) == ["first 0 word", "others 1 word", "others 2 word"], done.stderr


@pytest.mark.parametrize("option, why", [("-N", "numactl"), ("-d", "a script that starts one")])
def test_options_of_the_reference_that_are_not_here_are_refused(option, why):
    done = gaspi_run("-n", "1", option, "true")
    assert done.returncode == 2 and why in done.stderr


def test_computers_that_do_not_answer_are_named_before_the_start(machines, monkeypatch):
    monkeypatch.setenv("GGAS_RSH", "sh -c 'test $0 = good.example'")
    bad = gaspi_run("-p", "-m", machines("localhost\ngood.example\nbad.example\n"), "sh", "-c", "echo started")
    assert bad.returncode == 1 and "no answer from bad.example (" in bad.stderr and "started" not in bad.stdout
    assert gaspi_run("-p", "-m", machines("localhost\n"), "true").returncode == 0


def test_one_fails_and_time_is_up():
    assert gaspi_run("-n", "2", "--stop", "sh", "-c", "[ $GGAS_RANK = 1 ] && exit 7; sleep 50").returncode == 7
    done = gaspi_run("-n", "1", "--timeout", "1", "sleep", "50")
    assert done.returncode == 124 and "time is up" in done.stderr


def test_ranks_die_with_their_launcher(tmp_path):
    """Also what a rank has started."""
    script = "sleep 1000 & echo $$ $! > $0/$GGAS_RANK.new; mv $0/$GGAS_RANK.new $0/$GGAS_RANK; wait"
    job = subprocess.Popen([ROOT / "programs" / "run" / "gaspi_run.py", "-n", "2", "sh", "-c", script, tmp_path])
    files = [tmp_path / "0", tmp_path / "1"]
    wait_until(lambda: all(file.exists() for file in files))
    processes = [int(word) for file in files for word in file.read_text().split()]
    assert len(processes) == 4 and all(map(runs, processes))
    job.kill()
    job.wait()
    wait_until(lambda: not any(map(runs, processes)))


def runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not within the time"
        time.sleep(0.05)
