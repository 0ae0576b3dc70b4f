# SPDX-License-Identifier: Apache-2.0
"""Programs of others over libggas, from the folders GPI-2, GaspiCxx and tagaspi of GGAS_GASPI_CLIENTS; what is not there is skipped.

Results with versions are in docs/gaspi.md."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ["GGAS_BUILD"])
FOLDER = Path(os.environ.get("GGAS_GASPI_CLIENTS") or "/nonexistent")
SUITE = FOLDER / "GPI-2" / "tests" / "tests"
HEADERS = [f"-I{ROOT / 'userlib' / 'include'}", f"-I{BUILD / 'userlib' / 'libggas' / 'include'}"]
LIBRARY = BUILD / "userlib" / "libggas"
FLAGS = [f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-lggas", "-lpthread", "-lm"]
TIMEOUT_S = 600
# Programs of GPI-2's suite that end in an error here, and why (docs/gaspi.md).
DIFFERENT = {
    "g_max_groups_config": "255 groups; there are 64",
    "kill_procs": "the exit status is that of the killed ranks",
    "max_notifications_config": "131,072 notifications of a segment; there are 65,536",
    "numa_check": "gaspi_numa_socket answers without GASPI_SET_NUMA_SOCKET, too",
    "seg_shmem": "both ranks fill the same memory: it is for one rank on each computer",
}
ARGUMENTS = {"cmd_line_args": ["one"]}


def run(*words, **how):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, **how)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return done.stdout


def start(ranks, *words, **how):
    return run(sys.executable, ROOT / "programs" / "run" / "gaspi_run.py", "-n", ranks, "--timeout", TIMEOUT_S, *words, **how)


def suite():
    """Those with MPI and the helpers of others are left out."""
    found = [file for pattern in ("*/*.c", "*/*.cpp") for file in sorted(SUITE.glob(pattern))]
    return [file for file in found if file.parent.name != "mpi" and file.stem not in ("test_utils", "allreduce_utils")]


@pytest.mark.skipif(not SUITE.exists(), reason="GGAS_GASPI_CLIENTS names no folder with GPI-2")
@pytest.mark.parametrize("source", suite(), ids=lambda file: file.stem)
def test_program_of_gpi2(source, tmp_path):
    cc = ["g++", "-fpermissive"] if source.suffix == ".cpp" else ["gcc"]
    helpers = [SUITE / "test_utils.c"]
    if "allreduce_utils" in source.read_text():
        helpers.append(source.with_name("allreduce_utils.c"))
    if source.stem == "write_notify_self":
        pytest.skip("calls gaspi_write_notify_self, which GPI-2's headers do not have")
    run(*cc, "-w", *HEADERS, f"-I{SUITE}", source, *helpers, "-o", tmp_path / "program", *FLAGS)
    if source.stem in DIFFERENT:
        pytest.xfail(DIFFERENT[source.stem])
    start(2, tmp_path / "program", *ARGUMENTS.get(source.stem, []))


def install(prefix):
    """The host library with the names of GPI-2: its folder."""
    for component in ("host", "gpi2"):
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
    return next(prefix.rglob("libGPI2.so")).parent


@pytest.mark.skipif(not (FOLDER / "GaspiCxx").exists(), reason="GGAS_GASPI_CLIENTS names no folder with GaspiCxx")
def test_gaspicxx(tmp_path):
    """With its own -Werror. Its test runner ends other processes, so its tests are started here."""
    prefix = tmp_path / "prefix"
    library = install(prefix)
    (library / "libGPI2-dbg.so").symlink_to("libggas.so")  # its search asks for both
    environment = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(library)}
    run("cmake", "-G", "Ninja", "-S", FOLDER / "GaspiCxx", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DENABLE_TESTS=ON", env=environment)
    run("ninja", "-C", tmp_path / "build", env=environment)
    program = next(path for path in (tmp_path / "build").rglob("GaspiCxxTests") if path.is_file())
    for ranks in (1, 2, 4):
        start(ranks, program, env=environment)


@pytest.mark.skipif(not (FOLDER / "tagaspi").exists(), reason="GGAS_GASPI_CLIENTS names no folder with tagaspi")
def test_tagaspi(tmp_path):
    """It finds everything by its own configure; tasks.cpp is a program over it."""
    prefix, source, build = tmp_path / "prefix", tmp_path / "source", tmp_path / "build"
    library = install(prefix)
    shutil.copytree(FOLDER / "tagaspi", source)
    build.mkdir()
    run("autoreconf", "-fi", cwd=source)
    run(source / "configure", f"--prefix={prefix}", f"--with-gaspi={prefix}", cwd=build)
    run("make", "install", cwd=build)
    flags = ["-rdynamic", f"-I{prefix / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltagaspi", "-lGPI2", "-lpthread"]
    run("g++", "-std=c++17", Path(__file__).with_name("tasks.cpp"), "-o", tmp_path / "tasks", *flags)
    for ranks in (1, 2, 4):
        start(ranks, tmp_path / "tasks")
