# SPDX-License-Identifier: Apache-2.0
"""A program of others under both MPIs: mpi4py's own tests (PyPI). Their results are the same without the library, with it
in default mode, which moves nothing, and in host mode, which counts what it moves."""

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

BUILD = Path(os.environ["GGAS_BUILD"])
MPIS = ("openmpi", "mpich")
# Processes that wait leave their core to others.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "GGAS_MPI_REPORT": "1"}
MODES = {"without": None, "default": {}, "host": {"GGAS_MPI_TYPES": "host"}}
MPI4PY = "4.1.2"
PARTS = ("test_p2p_buf$", "test_pack", "test_msgspec", "test_request")


def run(mpi, ranks, *command, mode, folder, **more):
    """Output and errors of a program, and how many messages the library has moved; None: it was not there."""
    library = BUILD / "userlib" / "mpi" / mpi / "libggas_mpi_types.so"
    environment = {**os.environ, **ENVIRONMENT, **(MODES[mode] or {}), **more}
    preload = [] if MODES[mode] is None else ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", library]
    words = [f"mpirun.{mpi}", "-n", ranks, *preload, *command]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=3000, env=environment, cwd=folder)
    said = done.stdout + done.stderr
    moved = re.search(r"libggas_mpi_types: moved the data of (\d+) messages", said)
    return said, int(moved.group(1)) if moved else None


def compare(mpi, results, *, ranks, command, folder, **more):
    """The same results in all modes; nothing is moved in default mode."""
    found = {}
    for mode in MODES:
        said, moved = run(mpi, ranks, *command, mode=mode, folder=folder, **more)
        found[mode] = results(said)
        print(f"{Path(command[0]).name} under {mpi}, {mode}: {len(found[mode])} results, {moved} messages and packs moved")
        assert found[mode], said[-3000:]
        assert found[mode] == found["without"], said[-3000:]
        assert mode == "host" or moved == {"without": None, "default": 0}[mode], said[-3000:]


@pytest.fixture(params=MPIS)
def mpi(request):
    if not (BUILD / "userlib" / "mpi" / request.param / "libggas_mpi_types.so").exists():
        pytest.skip(f"no library for {request.param}")
    return request.param


def suite_of_mpi4py():
    """Sources from PyPI: the wheel has no tests."""
    folder = BUILD / "foreign"
    source = folder / f"mpi4py-{MPI4PY}"
    if not source.exists():
        download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", "-d", folder, f"mpi4py=={MPI4PY}"]
        done = subprocess.run([*map(str, download)], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            pytest.skip(f"no sources of mpi4py: {done.stderr[-300:]}")
        with tarfile.open(f"{source}.tar.gz") as archive:
            archive.extractall(folder, members=[m for m in archive if m.name.startswith(f"{source.name}/test/")])
    return source / "test"


def outcomes(said):
    """Of unittest's lines: what became of each test."""
    return sorted(re.findall(r"^(\w+ \([\w.]+\))[^\n]* \.\.\. (ok|FAIL|ERROR|skipped|expected failure)", said, re.M))


def test_mpi4py(mpi, tmp_path):
    pytest.importorskip("mpi4py")
    # The wheel finds Open MPI's library by the name that it has in Debian, MPICH's by another one.
    (tmp_path / "libmpi.so.12").symlink_to(next(Path("/usr/lib").glob("*/libmpich.so.12")))
    choice = [word for part in PARTS for word in ("-i", part)]
    command = [sys.executable, suite_of_mpi4py() / "main.py", "-v", *choice]
    more = {"MPI4PY_MPIABI": mpi, "LD_LIBRARY_PATH": str(tmp_path)}
    compare(mpi, outcomes, ranks=1, command=command, folder=tmp_path, **more)
