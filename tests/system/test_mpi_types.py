# SPDX-License-Identifier: Apache-2.0
"""`./ggas run --mpi-types`, and the library by hand: which MPI, which library, what is said of wrong input."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

BUILD = Path(os.environ.get("GGAS_BUILD") or ROOT / "build" / "release")
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
MPIS = ("openmpi", "mpich")


def run(*words, command=(sys.executable, ROOT / "programs" / "run" / "run.py"), **variables):
    environment = {**os.environ, **ROOT_MAY, **variables}
    return subprocess.run([*map(str, (*command, *words))], capture_output=True, text=True, timeout=100, env=environment)


@pytest.fixture(params=MPIS)
def program(request):
    found = BUILD / "tests" / "userlib" / "mpi" / f"mpi_program_{request.param}"
    if not found.exists():
        pytest.skip(f"there is no {found}: ./ggas test builds it, or GGAS_BUILD names another folder")
    return request.param, found


def test_the_mpi_of_the_program(program):
    done = run("--mpi-types", "-n", 2, program[1], "send_both", GGAS_MPI_TYPES="host")
    assert done.returncode == 0 and done.stdout == "passed: send_both, 2 ranks\npassed: 1 cases\n", done.stderr


def test_by_hand(program):
    mpi, case = program
    library = BUILD / "userlib" / "mpi" / mpi / "libggas_mpi_types.so"
    preload = ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", library]
    done = run("-n", 2, *preload, case, "send_both", command=[f"mpirun.{mpi}"], GGAS_MPI_TYPES="host")
    assert "passed: send_both, 2 ranks" in done.stdout, done.stderr


def test_host_memory_is_left_alone(program):
    """Without the setting the library is there and moves nothing, which the case does not accept."""
    done = run("--mpi-types", "-n", 1, program[1], "pack_vector")
    assert done.returncode != 0 and "(moved_by_all() > before) == (c.taken && !left)" in done.stderr


def test_wrong_setting(program):
    done = run("--mpi-types", "-n", 1, program[1], "pack_vector", GGAS_MPI_TYPES="hots")
    assert done.returncode != 0 and "libggas_mpi_types: GGAS_MPI_TYPES = hots: must be host, or not set" in done.stderr


def test_wrong_settings_of_messages_between_gpus(program):
    done = run("--mpi-types", "-n", 1, program[1], "pack_vector", GGAS_MPI_DIRECT="4k")
    assert done.returncode != 0 and "GGAS_MPI_DIRECT = 4k: must be off, or a number of bytes of at most 15 digits" in done.stderr
    done = run("--mpi-types", "-n", 1, program[1], "pack_vector", GGAS_MPI_DIRECT_US="-1")
    assert done.returncode != 0 and "GGAS_MPI_DIRECT_US = -1: must be a number of microseconds of at most 15 digits" in done.stderr


def test_failures_are_reported(program):
    done = run("--mpi-types", "-n", 2, program[1], "pack_vector", GGAS_MPI_TYPES="host")  # a case of one rank
    assert done.returncode != 0 and "not true: size() == c.ranks" in done.stderr


def test_no_library(program, tmp_path):
    done = run("--mpi-types", "-n", 1, program[1], "pack_vector", GGAS_BUILD=str(tmp_path))
    assert done.returncode == 127 and f"there is no libggas_mpi_types.so for {program[0]}" in done.stderr


def test_no_mpi(tmp_path):
    done = run("--mpi-types", "-n", 1, "/bin/true", PATH=str(tmp_path))
    assert done.returncode == 127 and "linked with neither Open MPI 4.1 nor MPICH 4.0" in done.stderr


def test_every_call_with_data_is_handled(program):
    """What takes an address and a datatype, by MPI's headers: data in memory of a GPU must not reach the MPI below."""
    mpi = program[0]
    found = {"mpich": "/usr/include/*/mpich", "openmpi": "/usr/lib/*/openmpi/include"}[mpi]
    headers = [header.read_text() for header in Path("/").glob(f"{found[1:]}/mpi*.h")]
    calls = {name for text in headers for name, given in re.findall(r"int\s+(MPI_[A-Z]\w+)\(([^)]*)\)", text) if re.search(r"void\s*\*", given) and "MPI_Datatype" in given}
    library = BUILD / "userlib" / "mpi" / mpi / "libggas_mpi_types.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    assert "MPI_Send" in calls
    assert calls - set(re.findall(r"MPI_\w+", symbols)) == {"MPI_Type_get_attr", "MPI_Type_set_attr"}
