# SPDX-License-Identifier: Apache-2.0
"""What is configured where packages are missing: CMake says in a line what it leaves out, and the rest is there."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

NVCC = os.environ.get("GGAS_NVCC")
# How each is hidden from CMake, and the part that needs it.
HIDDEN = {
    "Verilator": ["-DVERILATOR="],
    "SystemC": ["-DSYSTEMC="],
    "toml++": ["-DTOMLPLUSPLUS="],
    "protozero": ["-DPROTOZERO="],
    "Boost.Context": ["-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON"],
    "zlib": ["-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON"],
    "MPI": ["-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"],
    "GoogleTest": ["-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"],
    "yosys": ["-DYOSYS="],
    "fmt": ["-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"],
    "CLI11": ["-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"],
}


def configure(folder, *options):
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    left_out = [line for line in done.stdout.splitlines() if "Left out" in line]
    targets = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True, timeout=60).stdout
    return left_out, {line.split(":")[0] for line in targets.splitlines()}


def test_programs_for_gpus_need_no_simulator(tmp_path):
    left_out, targets = configure(tmp_path, *(option for name in HIDDEN if name not in ("fmt", "CLI11", "toml++") for option in HIDDEN[name]))
    assert len(left_out) == 5, left_out
    assert any("the simulator" in line and "Verilator, SystemC, protozero, zlib, Boost.Context" in line for line in left_out)
    assert "ggas-bench" not in targets
    if NVCC:
        assert {"build_ggas-bench-cuda", "build_comparison", "build_real_gpus"} <= targets


@pytest.mark.skipif(not NVCC, reason="no CUDA compiler")
def test_the_provider_for_gpus_asks_for_what_reads_its_tuning_tables(tmp_path):
    left_out, targets = configure(tmp_path, *HIDDEN["toml++"])
    assert any("programs for GPUs (provider cuda); not found: toml++" in line for line in left_out), left_out
    assert not {"build_ggas-bench-cuda", "build_real_gpus", "build_comparison"} & targets


@pytest.mark.skipif(not NVCC, reason="no CUDA compiler")
def test_each_version_of_a_library_has_a_program(tmp_path):
    files = {"nccl": ("include/nccl.h", "lib/libnccl.so.2"), "nvshmem": ("include/nvshmemx.h", "lib/libnvshmem_device.a", "lib/libnvshmem_host.so.3")}
    for file in (tmp_path / version / name for version in ("old", "new") for names in files.values() for name in names):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    roots = f"{tmp_path}/new;{tmp_path}/nowhere;{tmp_path}/old"
    _, targets = configure(tmp_path / "build", f"-DGGAS_NCCL_ROOT={roots}", f"-DGGAS_NVSHMEM_ROOT={roots}")
    assert {name for name in targets if re.fullmatch(r"build_compare_n\w+", name)} == {f"build_compare_{library}{number}" for library in files for number in ("", "_3")}


@pytest.mark.parametrize("name", ["Verilator", "Boost.Context", "MPI", "GoogleTest", "yosys", "CLI11"])
def test_one_is_missing(name, tmp_path):
    left_out, targets = configure(tmp_path, *HIDDEN[name])
    assert left_out and all(line.endswith(f"not found: {name}") for line in left_out)
    assert ("ggas-bench" in targets) == (name in ("MPI", "GoogleTest", "yosys"))
    assert ("first_kernel" in targets) == (name != "Boost.Context")
    if NVCC:
        assert ("build_ggas-bench-cuda" in targets) == (name not in ("fmt", "CLI11"))
        assert "build_real_gpus" in targets


def launcher_with(folder, installed, *arguments):
    """./ggas in a copy of its own, with a dpkg-query that knows these packages alone, and an apt-get and a cmake that note how they are called."""
    tools = folder / "tools"
    tools.mkdir()
    for tool in ("sh", "dirname", "readlink", "cat", "mktemp", "rm", "tail", "sha256sum", "env", "id", "grep", "mkdir", "touch", "flock"):
        (tools / tool).symlink_to(shutil.which(tool))
    scripts = {
        "dpkg-query": f'for p; do :; done; case " {installed} " in *" $p "*) printf installed ;; esac',
        "apt-get": 'echo "apt-get $*" >>"$NOTES"',
        "cmake": 'echo "cmake $*" >>"$NOTES"; touch build/release/build.ninja',
        "ninja": 'echo "ninja $*" >>"$NOTES"',
        "nvcc": "true",
        "sudo": '"$@"',
    }
    for name, text in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    for name in ("ggas", "packages.txt", "requirements.txt"):
        shutil.copy(ROOT / name, folder / name)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(shutil.which("true"))
    stamp = subprocess.run(["sha256sum"], input=(folder / "requirements.txt").read_bytes(), capture_output=True).stdout.decode()
    (folder / ".venv" / "requirements.stamp").write_text(stamp)
    subprocess.run([folder / "ggas", *arguments], env={"PATH": str(tools), "NOTES": str(folder / "notes"), "HOME": str(folder)}, cwd=folder, capture_output=True, text=True, timeout=60)
    return (folder / "notes").read_text().splitlines()


def packages(*groups):
    found, group = [], None
    for line in (ROOT / "packages.txt").read_text().splitlines():
        if line.startswith("["):
            group = line.strip("[]")
        elif not line.startswith("#") and group in groups:
            found.append(line)
    return found


@pytest.mark.parametrize(
    "arguments, groups, target",
    [
        (["bench", "--provider", "cuda"], ["base"], "build_ggas-bench-cuda"),
        (["compare"], ["base"], "build_comparison"),
        (["vm", "test"], ["base", "sim", "vm"], "ggas-device vm_programs"),
        (["build", "build_real_gpus"], ["base"], "build_real_gpus"),
        (["bench"], ["base", "sim"], "ggas-bench"),
        (["build", "first_kernel"], ["base", "sim", "synth", "vm", "test"], "first_kernel"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else v,
)
def test_a_command_installs_and_builds_what_it_needs(tmp_path, arguments, groups, target):
    notes = launcher_with(tmp_path, "g++ cmake", *arguments)
    wanted = [p for p in packages(*groups) if p not in ("g++", "cmake")]
    assert f"apt-get install -y --no-install-recommends {' '.join(wanted)} " in [f"{n} " if not n.endswith(" ") else n for n in notes]
    assert any(n.startswith("cmake --preset release") for n in notes)
    assert notes[-1].startswith("ninja ") and notes[-1].endswith(f" {target}")


def test_bench_builds_the_nics_that_its_command_loads(tmp_path):
    program = tmp_path / "build" / "release" / "benchmarks" / "ggas-bench"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\n[ "$*" != "--list-nics barrier --quick" ] || echo "ggas-nic-64 ggas-nic-256"\n')
    program.chmod(0o755)
    notes = launcher_with(tmp_path, "g++ cmake", "bench", "barrier", "--quick")
    assert notes[-2].endswith(" ggas-bench") and notes[-1].endswith(" ggas-nic-64 ggas-nic-256")
