# SPDX-License-Identifier: Apache-2.0
"""Jobs that die leave nothing in /dev/shm: with the launcher's word of how many processes there are, at once; without
it, until the next job of the user begins. What a living job has stays. GGAS_LEFTOVERS: the program; GGAS_BUILD."""
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = os.environ["GGAS_LEFTOVERS"]
RUN = Path(__file__).resolve().parents[3] / "programs" / "run" / "run.py"
COMMAND = [sys.executable, str(RUN), "--mpi-types", "-n", "2", "--timeout", "60", PROGRAM]


def shared(line):
    assert line.startswith("shared: /dev/shm/ggas-mpi-"), line
    return line.removeprefix("shared: ").strip()


def job(*how):
    """Its status, and the file as its first rank had it."""
    done = subprocess.run([*COMMAND, *how], capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
    lines = [line for line in done.stdout.splitlines() if line.startswith("shared: ")]
    assert len(lines) == 1, done.stdout + done.stderr
    return done.returncode, shared(lines[0])


def test_a_job_that_is_killed_leaves_no_name():
    status, file = job("die")
    assert status != 0
    assert file.endswith(" (deleted)") and not Path(file.removesuffix(" (deleted)")).exists()


def test_the_next_job_takes_away_what_a_dead_one_left():
    status, left = job("die", "quietly")
    assert status != 0
    assert not left.endswith(" (deleted)")  # it had its name when it died
    status, own = job("end")
    assert status == 0
    assert not Path(left).exists() and left not in own


def test_what_a_living_job_has_stays():
    command = [*COMMAND, "stay", "quietly"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living:
        try:
            file = shared(living.stdout.readline())
            for how in ("end", "die"):
                _, left = job(how, "quietly")
                assert Path(file).exists()
            living.stdin.close()
            assert living.wait(timeout=60) == 0
        finally:
            if living.poll() is None:
                living.terminate()
    assert not Path(file).exists()  # the last one took it away
    job("end")
    assert not Path(left).exists()
