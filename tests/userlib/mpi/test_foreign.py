# SPDX-License-Identifier: Apache-2.0
"""Programs of others under both MPIs: mpi4py's own tests (PyPI) and ScaLAPACK's testers (Debian). Their results are the
same without the library, with it in default mode, which moves nothing, and in host mode, which counts what it moves. In
CI a few of each; long: the whole suites."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

BUILD = Path(os.environ["GGAS_BUILD"])
LIBRARIES = {mpi: BUILD / "userlib" / "mpi" / mpi / "libggas_mpi_types.so" for mpi in ("openmpi", "mpich")}
# Processes that wait leave their core to others.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "GGAS_MPI_REPORT": "1"}
MODES = {"without": None, "default": {}, "host": {"GGAS_MPI_TYPES": "host"}}


def run(mpi, ranks, *command, mode, folder, **more):
    """Output and errors of a program, and how many messages the library has moved; None: it was not there."""
    environment = {**os.environ, **ENVIRONMENT, **(MODES[mode] or {}), **more}
    library = LIBRARIES[mpi]
    preload = [] if MODES[mode] is None else ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", library]
    words = [f"mpirun.{mpi}", "-n", ranks, *preload, *command]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, errors="replace", timeout=1500, env=environment, cwd=folder)
    said = done.stdout + done.stderr
    moved = re.findall(r"libggas_mpi_types: moved the data of (\d+) messages", said)  # programs that it starts report, too
    return said, sum(map(int, moved)) if moved else None


def compare(mpi, results, *, ranks, command, folder, **more):
    """The same results in all modes; nothing is moved in default mode. Returns what was moved in host mode."""
    found, counted = {}, {}
    for mode in MODES:
        said, counted[mode] = run(mpi, ranks, *command, mode=mode, folder=folder, **more)
        found[mode] = results(said)
        print(f"{Path(command[0]).name} under {mpi}, {mode}: {len(found[mode])} results, {counted[mode]} messages and packs moved")
        assert found[mode], said[-3000:]
        assert found[mode] == found["without"], said[-3000:]
    assert counted["without"] is None and counted["default"] == 0
    return counted["host"]


@pytest.fixture(params=LIBRARIES)
def mpi(request):
    if not LIBRARIES[request.param].exists():
        pytest.skip(f"no library for {request.param}")
    return request.param


# ---- mpi4py

MPI4PY = "4.1.2"
FEW = ("-i", r"test_p2p_buf\b")
# Open MPI 4.1 hangs in Spawn_multiple, also without the library.
LEFT_OUT = {"openmpi": ("-e", "test_spawn"), "mpich": ()}


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
    """Of unittest's lines: what became of each test. A test may print lines between its name and its result."""
    name, result = r"\w+ \([\w.]+\)", r"ok|FAIL|ERROR|skipped|expected failure"
    return sorted(re.findall(rf"^({name})[^\n]* \.\.\. (?:(?!{name})[^\n]*\n)*?[^\n]*?({result})\b", said, re.M))


def compare_mpi4py(mpi, folder, *choice):
    pytest.importorskip("mpi4py")
    # The wheel finds Open MPI's library by the name that it has in Debian, MPICH's by another one.
    (folder / "libmpi.so.12").symlink_to(next(Path("/usr/lib").glob("*/libmpich.so.12")))
    command = [sys.executable, suite_of_mpi4py() / "main.py", "-v", *choice]
    return compare(mpi, outcomes, ranks=1, command=command, folder=folder, MPI4PY_MPIABI=mpi, LD_LIBRARY_PATH=str(folder))


def test_part_of_mpi4py(mpi, tmp_path):
    compare_mpi4py(mpi, tmp_path, *FEW)


def test_whole_mpi4py(mpi, tmp_path):
    assert compare_mpi4py(mpi, tmp_path, *LEFT_OUT[mpi]) > 0


# ---- ScaLAPACK

TESTERS = Path("/usr/share/scalapack")  # what they read


def checked(said):
    """Of the testers' tables and summaries: lines that say what passed, without times."""
    lines = re.findall(r"^.*(?:PASSED|FAILED|SKIPPED|passed|tests? (?:completed|skipped)|^  \|).*$", said, re.M)
    return sorted(re.sub(r"\s+[-\d.]*\d\.\d*(?:E[+-]?\d+)?|\*+", "", line) for line in lines)


def compare_scalapack(mpi, folder, ranks, programs):
    all_of_mpi = sorted(Path("/usr/lib").glob(f"*/scalapack/{mpi}-tests"))
    if not all_of_mpi:
        pytest.skip("no testers of ScaLAPACK (scalapack-mpi-test)")
    for data in TESTERS.glob("**/*.dat"):
        shutil.copy(data, folder)
    moved = 0
    for program in sorted(p for pattern in programs for p in all_of_mpi[0].glob(pattern)):
        moved += compare(mpi, checked, ranks=ranks, command=[program], folder=folder)
    assert moved > 0  # blocks of matrices


def test_part_of_scalapack(mpi, tmp_path):
    compare_scalapack(mpi, tmp_path, 2, ("PBLAS/dpb1tst",))


def test_whole_scalapack(mpi, tmp_path):
    compare_scalapack(mpi, tmp_path, 4, ("x[cdsz]*", "PBLAS/?pb?tst"))
