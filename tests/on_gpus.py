#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs everything that needs real GPUs: tests, tuning and the comparison, with a log and a time for each step.

Steps: build tests mpi tune compare (default: all of them, in this order). The table of `tune` is used by `compare`.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BAD_INPUT, NO_GPU = 2, 77
STEPS = ["build", "tests", "mpi", "tune", "compare"]
TARGETS = [
    "build_cuda_test",
    "build_typed_cuda",
    "build_cuda_checked",
    "build_cuda_checked_streams",
    "build_cuda_processes",
    "build_cuda_rdc",
    "build_cuda_linked",
    "build_one_host_cuda",
    "build_ggas-bench-cuda",
    "build_ggas-tune",
    "build_comparison",
]

EXAMPLES = """examples:
  python3 tests/on_gpus.py                             all steps on all GPUs of this computer
  python3 tests/on_gpus.py --gpus 2 tests              the tests alone, on two GPUs
  python3 tests/on_gpus.py --out report/gpus tune compare

Exit status: 0 all passed, 1 a command failed, 2 bad input, 77 no GPU."""


def command_line():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {' '.join(STEPS)}; default: all")
    parser.add_argument("--gpus", type=int, default=0, metavar="N", help="how many GPUs; 0: all of this computer (default)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds of the tests, each in another order (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=300, metavar="S", help="seconds that one command may take (default: %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", metavar="DIR", help="build folder (default: build/release)")
    parser.add_argument("--out", type=Path, default=Path("report/gpus"), metavar="DIR", help="folder of logs and results (default: %(default)s)")
    arguments = parser.parse_args()
    unknown = [s for s in arguments.steps if s not in STEPS]
    if unknown:
        parser.error(f"unknown step {unknown[0]}; steps are {' '.join(STEPS)}")
    if arguments.gpus < 0 or arguments.rounds < 1 or arguments.limit < 1:
        parser.error("--gpus must be 0 or more, --rounds and --limit 1 or more")
    return arguments


def gpus_here():
    """The GPUs of this computer, as nvidia-smi lists them."""
    try:
        text = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True, check=False).stdout
    except FileNotFoundError:
        return 0
    return sum(line.startswith("GPU ") for line in text.splitlines())


def environment(gpus):
    """NVLink multicast stays off; a program sees the first GPUS cards."""
    names = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(gpus)))).split(",")
    return os.environ | {"CUDA_VISIBLE_DEVICES": ",".join(names[:gpus]), "NCCL_NVLS_ENABLE": "0", "NVSHMEM_DISABLE_NVLS": "1"}


def commands(step, a, gpus):
    """Names and command lines of a step."""
    tests, programs = a.build / "tests", a.build / "benchmarks"
    rounds = [f"--gtest_repeat={a.rounds}", "--gtest_shuffle", "--gtest_brief=1"]
    table = a.out / f"tuning-{gpus}.toml"
    return {
        "build": [("build", [ROOT / "ggas", "build", *TARGETS])],
        "tests": [
            ("cuda_test", [tests / "gpu_api/cuda/cuda_test", *rounds]),
            ("typed_cuda", [tests / "gpu_api/cuda/typed_cuda", *rounds]),
            ("cuda_checked", [tests / "gpu_api/cuda/cuda_checked", *rounds]),
            ("cuda_checked_streams", ["env", "GGAS_CHECKED=1", tests / "gpu_api/cuda/cuda_checked_streams", *rounds]),
            ("cuda_linked", [tests / "gpu_api/cuda/cuda_linked", *rounds]),
            ("cuda_processes", [tests / "gpu_api/cuda/cuda_processes", *rounds]),
            ("cuda_rdc", [tests / "gpu_api/cuda/cuda_rdc"]),
            ("one_host_cuda", [tests / "userlib/one_host/one_host_cuda", *rounds]),
        ],
        "mpi": [("mpi", ["sh", ROOT / "tests/userlib/mpi/on_gpus.sh", a.build])],
        "tune": [("tune", [programs / "cuda/ggas-tune", table, str(gpus)])],
        "compare": [
            ("bench", [programs / "cuda/ggas-bench-cuda", "gpu", "--nodes", str(gpus), "--no-report", "--json", a.out / f"gpu-{gpus}.jsonl"]),
            ("compare", [sys.executable, ROOT / "benchmarks/compare/compare.py", "--programs", programs, "--gpus", str(gpus), "--out", a.out / "compare"]),
        ],
    }[step]


def run(name, command, a, env):
    """True if the command ends with status 0 in time; what it printed goes to its log."""
    log, begin = a.out / f"{name}.log", time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        try:
            status = subprocess.run([str(w) for w in command], stdout=file, stderr=subprocess.STDOUT, env=env, timeout=a.limit, check=False).returncode
        except subprocess.TimeoutExpired:
            status = f"none after {a.limit} s"
        except OSError as e:
            status = e.strerror
    print(f"{'passed' if status == 0 else 'FAILED'}  {name:<20} {time.monotonic() - begin:6.1f} s  status {status}", flush=True)
    if status != 0:
        print("".join("    " + line for line in log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)[-15:]), flush=True)
    return status == 0


def main():
    a = command_line()
    here = gpus_here()
    if here == 0:
        print("on_gpus: no GPU here", file=sys.stderr)
        return NO_GPU
    if a.gpus > here:
        print(f"on_gpus: --gpus {a.gpus}: this computer has {here}", file=sys.stderr)
        return BAD_INPUT
    gpus = a.gpus or here
    a.out.mkdir(parents=True, exist_ok=True)
    env, passed, failed = environment(gpus), 0, 0
    for step in a.steps or STEPS:
        table = a.out / f"tuning-{gpus}.toml"
        if step == "compare" and table.exists():
            env["GGAS_TUNING"] = str(table.resolve())
        for name, command in commands(step, a, gpus):
            if run(name, command, a, env):
                passed += 1
            else:
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
