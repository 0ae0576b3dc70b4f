# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` leaves is enough for projects outside the tree, wherever it is moved to (docs/how-to/another-project.md)."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

BUILD = Path(os.environ.get("GGAS_BUILD") or ROOT / "build" / "release")
NOT_FOR_CUDA = {"tuning_table.hpp"}  # C++23


def run(*words, **how):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=300, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Installed into a folder that is then moved."""
    if not (BUILD / "userlib" / "cluster" / "libggas_provider_shm.a").exists():
        pytest.skip(f"nothing is built in {BUILD}: ./ggas test builds it, or GGAS_BUILD names another folder")
    folder = tmp_path_factory.mktemp("install")
    run("cmake", "--install", BUILD, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


def libraries(prefix):
    """lib, lib64 or a folder of lib, as the system has it."""
    return next(prefix.rglob("libggas_provider_shm.a")).parent


@pytest.fixture
def flags(prefix):
    def ask(package):
        return run("pkg-config", "--cflags", "--libs", package, env={**os.environ, "PKG_CONFIG_PATH": str(libraries(prefix) / "pkgconfig")}).split()

    return ask


@pytest.fixture
def nvcc(prefix):
    if not (libraries(prefix) / "libggas_provider_cuda.a").exists():
        pytest.skip("built without a CUDA compiler")
    return os.environ.get("GGAS_NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def example(name, folder):
    return shutil.copytree(ROOT / "examples" / name, folder / name)


def build(source, prefix, *options):
    """With CMake; the folder of the programs."""
    run("cmake", "-G", "Ninja", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *options)
    run("cmake", "--build", source / "build")
    return source / "build"


def every_header(prefix, file, but):
    """A file that includes all that a user may."""
    found = [header for header in (prefix / "include" / "ggas").glob("*.*") if "Included by ggas.cuh" not in header.read_text()]
    names = sorted({header.name for header in found} - but)
    assert {"ggas.cuh", "launch.hpp", "on_stream.cuh", "status.hpp"} <= set(names)
    file.write_text("".join(f'#include "ggas/{name}"\n' for name in names))
    return file


def test_no_file_names_where_it_was(prefix):
    folders = (prefix / "include", libraries(prefix) / "cmake", libraries(prefix) / "pkgconfig")
    for file in (file for folder in folders for file in folder.rglob("*.*") if file.is_file()):
        content = file.read_bytes()
        if file.suffix == ".mod":  # of Fortran
            content = gzip.decompress(content)
        assert str(ROOT).encode() not in content and str(prefix.parent).encode() not in content, file


def test_headers_are_complete(prefix, flags, tmp_path):
    run("c++", "-std=c++23", "-fsyntax-only", every_header(prefix, tmp_path / "all.cpp", set()), *flags("ggas-shm"), cwd=tmp_path)


def test_cmake_on_the_processor(prefix, tmp_path):
    assert "right" in run(build(example("first_kernel", tmp_path), prefix) / "first_kernel", "shm", 3)


def test_pkg_config_on_the_processor(prefix, flags, tmp_path):
    source = example("one_sided", tmp_path)
    run("c++", "-std=c++23", "-xc++", "main.cpp", "one_sided.cu", "-xnone", "-o", "one_sided", *flags("ggas-shm"), cwd=source)
    assert "right" in run(source / "one_sided", "shm", 3)


def test_pkg_config_of_the_host_library(prefix, flags, tmp_path):
    page = (ROOT / "docs" / "libggas.md").read_text()
    body = page.split("```c\n")[1].split("```")[0].split("\n\n", 1)
    program = f"#include <stdio.h>\n{body[0]}\nint main(void) {{\n{body[1]}\n  return value != 42;\n}}\n"
    (tmp_path / "program.c").write_text(program)
    run("cc", "-std=c11", "-Wall", "-Werror", "-pedantic", "program.c", "-o", "program", *flags("ggas-host"), cwd=tmp_path)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries(prefix))}
    run(sys.executable, prefix / "bin" / "ggas-run", "-n", 2, tmp_path / "program", env=environment)


def exported(prefix):
    """Functions of libggas.so for programs; tools have theirs under other names."""
    listed = run("nm", "-D", "--defined-only", libraries(prefix) / "libggas.so")
    return set(re.findall(r" T ((?:ggas|gaspi)_\w+)", listed))


def test_every_function_of_the_host_library_has_a_manual_page(prefix):
    pages = {page.stem: page.read_text() for page in (prefix / "share" / "man" / "man3").glob("*.3")}
    assert set(pages) == exported(prefix)
    for name, text in pages.items():
        assert re.match(rf'\.TH {name} 3 .*\n\.SH NAME\n{name} \\- \S', text), name
        assert f"{name}(" in text.split(".SH SYNOPSIS")[1], name
        assert ".SH DESCRIPTION" in text, f"{name}: the header says nothing of it"
    if shutil.which("groff"):
        shown = run("groff", "-man", "-Tascii", "-ww", *sorted((prefix / "share" / "man" / "man3").glob("*.3"))[:40])
        assert "ggas" in shown or "gaspi" in shown


@pytest.mark.parametrize("launcher", ["ggas-run", "gaspi_run"])
def test_launchers_have_manual_pages(prefix, launcher):
    text = (prefix / "share" / "man" / "man1" / f"{launcher}.1").read_text().replace("\\-", "-")
    for option in re.findall(r"^  (--?\w+)", run(sys.executable, prefix / "bin" / launcher, "--help"), re.M):
        assert f"  {option}" in text.split(".SH OPTIONS")[1], option


@pytest.fixture(scope="module")
def host_library(prefix, tmp_path_factory):  # prefix: everything is built
    """The host library alone, and libggas by the names of GPI-2."""
    folder = tmp_path_factory.mktemp("host") / "prefix"
    for component in ("host", "gpi2"):
        run("cmake", "--install", BUILD, "--prefix", folder, "--component", component)
    return folder


def test_the_host_library_alone(host_library, tmp_path):
    there = {str(path.relative_to(host_library)) for path in host_library.rglob("*") if not path.is_dir()}
    assert not [name for name in there if name.endswith(".a") or "mpi_types" in name or "ggas-bench" in name or name.endswith(".cuh")]
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(p LANGUAGES C)", "find_package(GGAS 0.1 REQUIRED)", "add_executable(p p.c)", "target_link_libraries(p GGAS::host)"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    (tmp_path / "p.c").write_text("#include <ggas/ggas.h>\nint main(void) {\n  ggas_process* p;\n  return ggas_process_start(&p, 10000000000u);\n}\n")
    run(sys.executable, host_library / "bin" / "ggas-run", "-n", 2, build(tmp_path, host_library) / "p")


def test_programs_that_look_for_gpi2(host_library, tmp_path):
    library = next(host_library.rglob("libGPI2.so")).parent
    (tmp_path / "program.c").write_text("#include <GASPI.h>\n#include <GASPI_Ext.h>\nint main(void) { return gaspi_proc_init(GASPI_BLOCK) || gaspi_proc_term(GASPI_BLOCK); }\n")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library / "pkgconfig"), "LD_LIBRARY_PATH": str(library)}
    flags = run("pkg-config", "--cflags", "--libs", "GPI2", env=environment).split()
    run("cc", "-Wall", "-Werror", "program.c", "-o", "with_pkg_config", *flags, cwd=tmp_path)
    run("cc", f"-I{host_library / 'include'}", "program.c", "-o", "by_name", f"-L{library}", "-lGPI2", cwd=tmp_path)
    for program in ("with_pkg_config", "by_name"):
        run(sys.executable, host_library / "bin" / "gaspi_run", "-n", 2, tmp_path / program, env=environment)


def test_names_of_gpi2_are_not_installed_by_default(prefix):
    assert not list(prefix.rglob("libGPI2.so")) and not list(prefix.rglob("GPI2.pc"))


def test_the_examples_of_the_host_library(prefix, tmp_path):
    """With CMake, from what is installed, and with the module of a GPU next to the library."""
    programs = build(example("host", tmp_path), prefix)
    for name in ("01_hello", "02_ring", "03_work_sharing", "04_passive", "05_reduction", "06_gpu"):
        run(sys.executable, prefix / "bin" / "ggas-run", "-n", 2, "--stop", programs / name, "simt")


def test_pkg_config_of_gaspi(prefix, flags, tmp_path):
    (tmp_path / "program.c").write_text("#include <GASPI.h>\n#include <GASPI_GPU.h>\n#include <PGASPI.h>\nint main(void) { return gaspi_proc_init(GASPI_BLOCK) || pgaspi_proc_term(GASPI_BLOCK); }\n")
    run("cc", "-std=c11", "-Wall", "-Werror", "-pedantic", "program.c", "-o", "program", *flags("GASPI"), cwd=tmp_path)
    (tmp_path / "machines").write_text("localhost\nlocalhost\n")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries(prefix))}
    run(sys.executable, prefix / "bin" / "gaspi_run", "-m", tmp_path / "machines", tmp_path / "program", env=environment)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_programs_of_mpi(prefix, mpi):
    program = BUILD / "tests" / "userlib" / "mpi" / f"mpi_program_{mpi}"
    if not (libraries(prefix) / "ggas" / mpi).exists() or not program.exists():
        pytest.skip(f"built without {mpi}")
    environment = {name: value for name, value in os.environ.items() if name != "GGAS_BUILD"}
    root_may = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "GGAS_MPI_TYPES": "host"}
    run(sys.executable, prefix / "bin" / "ggas-run", "--mpi-types", "-n", 1, program, "pack_vector", env={**environment, **root_may})


def test_what_is_not_there_is_reported(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\nfind_package(GGAS 0.1 REQUIRED COMPONENTS device sim)\n")
    done = subprocess.run(["cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "there is no component sim" in done.stderr


def greets(program):
    """Where there are GPUs; else it says so."""
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 or "no CUDA driver" in done.stderr or "no GPU" in done.stderr, done.stderr


def test_cmake_on_gpus(prefix, nvcc, tmp_path):
    greets(build(example("real_gpus", tmp_path), prefix, f"-DCMAKE_CUDA_COMPILER={nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=90") / "real_gpus")


def test_pkg_config_on_gpus(prefix, flags, nvcc, tmp_path):
    source = example("real_gpus", tmp_path)
    headers = every_header(prefix, source / "all.cu", NOT_FOR_CUDA)
    run(nvcc, "-std=c++20", "-arch=sm_90", "real_gpus.cu", headers, "-o", "real_gpus", *flags("ggas-cuda"), cwd=source)
    greets(source / "real_gpus")


def test_programs(prefix, tmp_path):
    bench = prefix / "bin" / "ggas-bench"
    if bench.exists():
        listed = subprocess.run([bench, "store_latency", "--platform", "nowhere"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert f"files in {prefix}/share/ggas/platforms" in listed.stderr
    if (prefix / "bin" / "ggas-bench-host").exists() and bench.exists():
        listed = run(bench, "--provider", "host", "list", cwd=tmp_path)
        assert "processor_sleep" in listed
    ranks = run(sys.executable, prefix / "bin" / "ggas-run", "-n", 2, "sh", "-c", "echo $GGAS_RANK")
    assert sorted(ranks.split()) == ["0", "1"]
