# SPDX-License-Identifier: Apache-2.0
"""Processes of a job find each other, whichever launcher started them, without a library of the launcher: those installed here."""

import os
import shutil
import subprocess
import tempfile

import pytest
from conftest import ROOT, built

OPEN_MPI = ["mpirun.openmpi", "--oversubscribe", "-n"]
LAUNCHERS = {
    "ggas": [str(ROOT / "ggas"), "run", "-n"],
    "openmpi": OPEN_MPI,
    "mpich": ["mpirun.mpich", "-n"],
    "srun": ["srun", "--overcommit", "-n"],
    "srun_pmi2": ["srun", "--overcommit", "--mpi=pmi2", "-n"],
    "mpich_in_slurm": ["salloc", "-Q", "--overcommit", "-n", "1", "mpirun.mpich", "-n"],
    "openmpi_in_slurm": ["salloc", "-Q", "--overcommit", "-n", "1", *OPEN_MPI],
}
# Open MPI refuses root without these.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
FOLDERS = tempfile.TemporaryDirectory(prefix="jobs-")  # two mpirun that make the same folder at once: one of them fails
WRAPPER = ["sh", "-c", '"$@"; exit $?', "wrapper"]  # as scripts that choose a GPU: the program is not the launcher's child


@pytest.fixture
def probe():
    return built("GGAS_BOOTSTRAP_PROBE", "tests/userlib/bootstrap_probe")


def start(launcher, count, program):
    command = LAUNCHERS[launcher]
    if shutil.which(command[0]) is None or any(shutil.which(word) is None for word in command if word.startswith("mpirun")):
        pytest.skip(f"{command[0]} is not installed")
    if command[0] in ("srun", "salloc") and subprocess.run(["sinfo", "-h"], capture_output=True, timeout=30).returncode:
        pytest.skip("no Slurm runs here")
    environment = {**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": tempfile.mkdtemp(dir=FOLDERS.name)}
    return subprocess.Popen([*command, str(count), *program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def job_of(process, count):
    """The numbers of the processes in the job, as each of them has received."""
    output, errors = process.communicate(timeout=60)
    lines = sorted(output.splitlines())
    assert [line.split(" with ")[0] for line in lines] == [f"rank {r} of {count}" for r in range(count)], output + errors
    heard = {line.split(" with ")[1] for line in lines}
    assert len(heard) == 1, output
    numbers = heard.pop().split()
    assert len(set(numbers)) == count
    return numbers


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("wrapper", [[], WRAPPER], ids=["alone", "wrapped"])
def test_two_jobs_at_once(launcher, wrapper, probe):
    """Each finds its own processes."""
    jobs = [start(launcher, 3, [*wrapper, probe]) for _ in range(2)]
    first, second = (job_of(job, 3) for job in jobs)
    assert not set(first) & set(second)


@pytest.mark.parametrize("launcher", ["ggas", "openmpi", "mpich"])
def test_one_that_ends_before_it_joins(launcher, probe):
    """The others say so, with our launcher at once, with others after their time-out; none hangs."""
    script = '[ "$GGAS_RANK$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] || exec "$0" 3'
    output, _ = start(launcher, 3, ["sh", "-c", script, probe]).communicate(timeout=60)
    said = "rank 1 ended before it joined the job" if launcher == "ggas" else "rank 1 did not arrive within 3.0 s"
    assert said in output


def test_variables_set_by_hand(probe):
    """A shell as launcher, with nothing else in common."""
    script = 'for r in 0 1 2; do GGAS_RANK=$r GGAS_SIZE=3 "$@" & done; wait'
    job = subprocess.Popen(["sh", "-c", script, "by hand", *WRAPPER, probe], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job_of(job, 3)
