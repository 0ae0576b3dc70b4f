# SPDX-License-Identifier: Apache-2.0
"""Jobs that start by TCP (--hosts, machine files), by PMIx and by an MPI communicator. `ssh` is a script of the test here."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, built

RUN = [sys.executable, ROOT / "programs" / "run" / "run.py"]
GASPI_RUN = [sys.executable, ROOT / "programs" / "run" / "gaspi_run.py"]
# Open MPI refuses root without these.
MPIRUN = ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
needs_mpi = pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Open MPI is not installed")


@pytest.fixture
def program():
    return built("GGAS_START_PROGRAM", "tests/userlib/libggas/start_program")


@pytest.fixture
def mpi_program():
    path = Path(built("GGAS_START_PROGRAM", "tests/userlib/libggas/start_program")).parent / "start_mpi_program"
    if not path.exists():
        pytest.skip("start_mpi_program is not built")
    return path


@pytest.fixture
def rsh(tmp_path):
    """A command in the place of ssh: notes how it was called, and starts a shell as sshd does, with nothing of the launcher's environment."""

    def make(more=""):
        script = tmp_path / "rsh"
        script.write_text(f'#!/bin/sh\nhost=$1; shift\necho "$host $*" >> {tmp_path}/calls\n{more}\nexec env -i PATH="$PATH" GGAS_COMPUTER="$COMPUTER" sh -c "$*"\n')
        script.chmod(0o755)
        return script

    return make


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GGAS_", "OMPI_", "PMIX_", "PMI_"))}
    return {**clean, **more}


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, env=environment(**more))


def lines(size):
    return sorted(f"rank {r} of {size}, sum {size * (size + 1) // 2}" for r in range(size))


# ------------------------------------------------------------------------------------------------ TCP


def test_ranks_of_two_addresses_meet(program, rsh, tmp_path):
    done = run(*RUN, "-n", 4, "--hosts", "127.0.0.1,127.0.0.2", "--rsh", rsh(), program)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, lines(4)), done.stderr
    calls = (tmp_path / "calls").read_text()
    assert calls.count("127.0.0.2 IFS=") == 2 and "127.0.0.1 IFS=" not in calls
    assert "GGAS_ROOT=127.0.0.1:" in calls and "GGAS_RANK=2" in calls and "GGAS_RANK=3" in calls


def test_the_secret_is_on_no_command_line(program, rsh, tmp_path):
    """Neither of what starts the ranks elsewhere nor of theirs: those note all of their own words and variables."""
    show = 'tr "\\0" "\\n" < /proc/$$/cmdline; test ${#GGAS_SECRET} = 32 && echo "$GGAS_SECRET" && exec "$0"'
    done = run(*RUN, "-n", 2, "--hosts", "127.0.0.2,127.0.0.3", "--rsh", rsh(), "sh", "-c", show, program)
    assert done.returncode == 0, done.stdout + done.stderr
    secrets = {word for word in done.stdout.split() if len(word) == 32 and not set(word) - set("0123456789abcdef")}
    assert len(secrets) == 1
    assert secrets.pop() not in (tmp_path / "calls").read_text()


def test_a_machine_file_of_two_addresses(program, rsh, tmp_path):
    (tmp_path / "machines").write_text("127.0.0.2 # first\n127.0.0.3\n\n127.0.0.2\n127.0.0.9\n")
    done = run(*GASPI_RUN, "-m", tmp_path / "machines", "-n", 3, program, GGAS_RSH=str(rsh()))
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, lines(3)), done.stderr
    calls = [line.split()[0] for line in (tmp_path / "calls").read_text().splitlines() if " IFS=" in line]
    assert sorted(calls) == ["127.0.0.2", "127.0.0.2", "127.0.0.3"]  # they are started side by side


def test_ssh_is_the_one_of_the_path(program, rsh, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\ntest "$1 $2" = "-o BatchMode=yes" || exit 9\nshift 2\nexec {rsh()} "$@"\n')
    (tmp_path / "bin" / "ssh").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = run(*RUN, "-n", 2, "--hosts", "127.0.0.1,127.0.0.2", program, PATH=path)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, lines(2)), done.stderr
    assert (tmp_path / "calls").read_text().startswith("127.0.0.2 IFS=")


@pytest.fixture
def sshd(tmp_path):
    """A server of OpenSSH at 127.0.0.2, with keys of its own; the command that reaches it."""
    server = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if not server or not shutil.which("ssh"):
        pytest.skip("OpenSSH is not installed")
    for key in ("host", "own"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))
        port = free.getsockname()[1]
    (tmp_path / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.2\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/own.pub\n"
        "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\n"
    )
    log = tmp_path / "log"
    with log.open("w") as out:
        job = subprocess.Popen([server, "-D", "-e", "-f", tmp_path / "config"], stdin=subprocess.DEVNULL, stderr=out)
    try:
        until = time.monotonic() + 10
        while "listening" not in log.read_text():
            if job.poll() is not None or time.monotonic() > until:
                pytest.skip(f"sshd does not start here: {log.read_text().strip()}")
            time.sleep(0.05)
        known = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        yield f"ssh -p {port} -i {tmp_path}/own {known} -o BatchMode=yes"
    finally:
        job.terminate()
        job.wait()


def test_ranks_by_a_server_of_openssh(program, sshd, tmp_path):
    done = run(*RUN, "-n", 4, "--hosts", "127.0.0.1,127.0.0.2", "--rsh", sshd, program)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, lines(4)), done.stderr
    (tmp_path / "machines").write_text("127.0.0.2\n127.0.0.2\n")
    done = run(*GASPI_RUN, "-m", tmp_path / "machines", "-n", 2, program, GGAS_RSH=sshd)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, lines(2)), done.stderr
    done = run(*RUN, "-n", 2, "--hosts", "127.0.0.2", "--rsh", sshd, "sh", "-c", "exit $((GGAS_RANK * 3))")
    assert done.returncode == 3 and "rank 1 ended with exit status 3" in done.stderr


def test_words_arrive_as_they_are(rsh, tmp_path):
    words = ["a b", "$HOME", "it's", '"', "*", "\\", "--", ""]
    script = "import os, sys; print(sys.argv[1:], os.getcwd(), os.environ['GGAS_SIZE'], os.environ.get('GGAS_GPU'))"
    done = run(*RUN, "-n", 1, "--hosts", "127.0.0.2", "--rsh", rsh(), "--", sys.executable, "-c", script, *words, GGAS_GPU="x y")
    assert done.stdout == f"{words} {os.getcwd()} 1 x y\n", done.stderr


def test_two_computers_without_a_nic_are_refused(program, rsh):
    began = time.monotonic()
    done = run(*RUN, "-n", 2, "--hosts", "127.0.0.2,127.0.0.3", "--rsh", rsh("COMPUTER=$host"), program)
    assert done.returncode == 1 and done.stdout.count("rank 1 is not where rank 0 is") == 2, done.stdout + done.stderr
    assert "there is no NIC" in done.stdout and time.monotonic() - began < 15


def test_how_ranks_elsewhere_end(rsh):
    done = run(*RUN, "-n", 2, "--hosts", "127.0.0.2", "--rsh", rsh(), "sh", "-c", "exit $((GGAS_RANK * 3))")
    assert done.returncode == 3 and "rank 1 ended with exit status 3" in done.stderr
    done = run(*RUN, "-n", 1, "--hosts", "127.0.0.2", "--rsh", rsh(), "sh", "-c", "kill -SEGV $$")
    assert done.returncode == 139 and "signal 11 (SIGSEGV)" in done.stderr


def test_a_computer_that_is_not_there(program, rsh):
    done = run(*RUN, "-n", 2, "--stop", "--hosts", "127.0.0.1,127.0.0.2", "--rsh", rsh("echo no route >&2; exit 255"), program, 5)
    assert done.returncode == 255 and "rank 1 ended with exit status 255" in done.stderr


@pytest.mark.parametrize("number, status", [(signal.SIGTERM, 128 + 15), (signal.SIGUSR1, 128 + 10), (signal.SIGINT, 128 + 2)])
def test_signals_reach_ranks_elsewhere(number, status, program, rsh):
    command = [*RUN, "-n", "2", "--hosts", "127.0.0.2,127.0.0.3", "--rsh", str(rsh()), program, "20", "wait"]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    for _ in range(2):
        assert job.stdout.readline().startswith("rank ")
    job.send_signal(number)
    job.communicate(timeout=30)
    assert job.returncode == status


def runs(process):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # ended before or while it was read
        return False


def test_nothing_is_left_when_the_launcher_is_killed(rsh, tmp_path):
    script = f'echo $$ > {tmp_path}/pid; trap "" TERM HUP; while :; do sleep 0.1; done'
    job = subprocess.Popen([*RUN, "-n", "1", "--hosts", "127.0.0.2", "--rsh", str(rsh()), "sh", "-c", script], env=environment())
    until = time.monotonic() + 30
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < until
        time.sleep(0.05)
    process = int((tmp_path / "pid").read_text())
    job.kill()
    job.wait()
    while runs(process):
        assert time.monotonic() < until, "the rank still runs"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "arguments, why",
    [
        (["--hosts", "-oProxyCommand=x"], "is not a valid host name"),
        (["--hosts", "a,,b"], "'': is not a valid host name"),
        (["--hosts", "a;b"], "'a;b': is not a valid host name"),
        (["--hosts", "a", "--sim"], "--hosts cannot be combined with"),
        (["--hosts", "a", "--rsh", " "], "--rsh: must be a command"),
        (["--hosts", "a", "--root", "x y"], "--root 'x y': is not a valid host name"),
    ],
)
def test_bad_options_are_reported(arguments, why):
    first = [f"{arguments[0]}={arguments[1]}", *arguments[2:]]
    done = run(*RUN, "-n", 1, *first, "true")
    assert done.returncode == 2 and why in done.stderr and "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------ MPI, PMIx


@needs_mpi
@pytest.mark.parametrize("size", [1, 4])
def test_start_by_pmix(size, program):
    done = run(*MPIRUN, "-n", size, program, GGAS_BOOTSTRAP="pmix", **MPI_ENVIRONMENT)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, lines(size)), done.stdout + done.stderr


@needs_mpi
def test_a_missing_rank_is_reported_by_pmix(program):
    script = '[ "$OMPI_COMM_WORLD_RANK" = 1 ] && sleep 4 || exec "$0" 1'
    done = run(*MPIRUN, "-n", 2, "sh", "-c", script, program, GGAS_BOOTSTRAP="pmix", **MPI_ENVIRONMENT)
    assert "error 1: start by 'pmix': other ranks did not arrive in time" in done.stdout, done.stdout + done.stderr


@needs_mpi
@pytest.mark.parametrize("name", ["pmix", "mpi"])
def test_several_computers_are_refused_by_modules(name, program, mpi_program):
    what = program if name == "pmix" else mpi_program
    script = 'GGAS_COMPUTER=$OMPI_COMM_WORLD_RANK "$0" || true'  # mpirun ends a job with the first rank that fails
    done = run(*MPIRUN, "-n", 2, "sh", "-c", script, what, GGAS_BOOTSTRAP=name, **MPI_ENVIRONMENT)
    assert done.stdout.count("rank 1 is not where rank 0 is") == 2, done.stdout + done.stderr


@needs_mpi
@pytest.mark.parametrize(
    "what, size, expected",
    [
        ("world", 1, ["0 is rank 0 of 1, sum 1"]),
        ("world", 4, [f"{r} is rank {r} of 4, sum 10" for r in range(4)]),
        ("twice", 2, [f"{r} is rank {r} of 2, sum 3" for r in range(2)] * 2),
        ("split", 4, ["0 is rank 1 of 2, sum 4", "1 is rank 1 of 2, sum 6", "2 is rank 0 of 2, sum 4", "3 is rank 0 of 2, sum 6"]),
    ],
)
def test_start_by_a_communicator(what, size, expected, mpi_program):
    done = run(*MPIRUN, "-n", size, mpi_program, what, **MPI_ENVIRONMENT)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(expected)), done.stdout + done.stderr


@needs_mpi
def test_a_missing_rank_is_reported_by_mpi(mpi_program):
    done = run(*MPIRUN, "-n", 3, mpi_program, "missing", **MPI_ENVIRONMENT)
    assert done.stdout.count("error 1: start by 'mpi': other ranks of the communicator did not arrive in time") == 2, done.stdout


@needs_mpi
def test_a_null_communicator_is_reported(mpi_program):
    done = run(*MPIRUN, "-n", 1, mpi_program, "null", **MPI_ENVIRONMENT)
    assert "not MPI_COMM_NULL" in done.stdout, done.stdout + done.stderr
