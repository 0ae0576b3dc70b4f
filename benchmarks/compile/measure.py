# SPDX-License-Identifier: Apache-2.0
"""What the device API costs to compile: user time, registers, stack and size of the object, for small programs.

  python benchmarks/compile/measure.py --library build/release/gpu_api/libggas_device.a [--nvshmem DIR] [--headers] [--check]

Rows "linked" are compiled with GGAS_LINKED; their registers and stack are those after nvlink, with everything that the
kernels call. "headers": the same without the library. "nvshmem": the same calls of NVSHMEM in DIR (a folder with include/
and lib/). --check ends with status 1 where a linked row or NVRTC misses its bar; --check-sizes leaves out the
bars of time, which say as much of the machine. User times are the least of three."""
import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import nvrtc  # noqa: E402

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# At most: user seconds, registers, bytes of stack in the kernel itself, bytes of the object.
BARS = {
    "allreduces": (3.0, 72, None, 60_000),
    "put_signal": (1.5, None, 0, None),
    "message": (3.0, 72, 0, None),
    "ping (NVRTC)": (2.0, None, None, None),
}
FLAGS = {"message": ["-maxrregcount=72"]}  # its own functions call those of the library, which have no more


def user_seconds(run):
    """Of a call, of this process and its children."""

    def used():
        return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    before = used()
    run()
    return used() - before


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def of_kernels(cuobjdump, file):
    """The most registers and bytes of stack of a file's kernels."""
    text = run(cuobjdump, "--dump-resource-usage", file)
    kernels = re.findall(r"Function (?!_ZN\S*4ggas)\S+:\s+REG:(\d+) STACK:(\d+)", text)
    return max(int(r) for r, _ in kernels), max(int(s) for _, s in kernels)


def measure(tools, source, flags, link, folder):
    """User seconds, registers, stack, bytes; registers after the link, where there is one, the stack before it."""
    made = folder / (source.stem + ".o")
    compile_it = (tools.nvcc, "-std=c++20", "-O3", f"-arch={tools.arch}", *flags, "-c", source, "-o", made)
    seconds = min(user_seconds(lambda: run(*compile_it)) for _ in range(tools.times))
    registers, stack = of_kernels(tools.cuobjdump, made)
    if link:
        cubin = folder / (source.stem + ".cubin")
        run(tools.nvcc, f"-arch={tools.arch}", "-dlink", "-cubin", made, link, "-o", cubin)
        registers, _ = of_kernels(tools.cuobjdump, cubin)
    return seconds, registers, stack, made.stat().st_size


def measure_nvrtc(tools):
    library = nvrtc.load()
    if library is None:
        return None
    codes = []
    ping = lambda: codes.append(nvrtc.compile_kernel(library, HERE / "ping.cu", [ROOT / "gpu_api" / "include"], tools.arch))  # noqa: E731
    seconds = min(user_seconds(ping) for _ in range(tools.times))
    return seconds, None, None, len(codes[0].code)


def rows(tools, folder):
    ours = ["-I", ROOT / "gpu_api" / "include"]
    ways = [("linked", "", [*ours, "-rdc=true", "-DGGAS_LINKED"], tools.library)]
    if tools.headers:
        ways.append(("headers", "", ours, None))
    if tools.nvshmem:
        ways.append(("nvshmem", "nvshmem_", ["-rdc=true", "-I", tools.nvshmem / "include"], tools.nvshmem / "lib" / "libnvshmem_device.a"))
    for program in ("allreduces", "put_signal", "message"):
        for way, prefix, flags, link in ways:
            source = HERE / f"{prefix}{program}.cu"
            if source.exists():
                yield program, way, measure(tools, source, [*flags, *FLAGS.get(program, [])], link, folder)
    if values := measure_nvrtc(tools):
        yield "ping (NVRTC)", "headers", values


def missed(program, values, first):
    """What is above its bar, from the bar `first` on."""
    judged = list(zip(values, BARS[program], strict=True))[first:]
    return [f"{v:.3g} > {bar}" for v, bar in judged if bar is not None and v > bar]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--nvshmem", type=Path)
    parser.add_argument("--headers", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--check-sizes", action="store_true")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--times", type=int, default=3)
    tools = parser.parse_args()
    failed = []
    print(f"{time.strftime('%Y-%m-%d')}, {tools.arch}: {run(tools.nvcc, '--version').split('release ')[1].split(',')[0]}")
    print(f"{'program':14}{'way':10}{'user s':>8}{'registers':>11}{'stack':>7}{'object':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for program, way, values in rows(tools, Path(folder)):
            seconds, registers, stack, size = ("-" if v is None else v for v in values)
            print(f"{program:14}{way:10}{seconds:8.2f}{registers:>11}{stack:>7}{size:>10}", flush=True)
            if way == "linked" or "NVRTC" in program:
                failed += [f"{program}, {way}: {miss}" for miss in missed(program, values, 1 if tools.check_sizes else 0)]
    if (tools.check or tools.check_sizes) and failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
