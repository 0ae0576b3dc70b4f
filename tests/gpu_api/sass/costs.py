# SPDX-License-Identifier: Apache-2.0
"""What each call of the device API costs in machine code: instructions of a kernel that makes it in a loop, and what that
kernel needs after the link with libggas_device: registers, bytes of stack. Compared with the table costs.txt.

  python tests/gpu_api/sass/costs.py --library build/release/gpu_api/libggas_device.a [--refresh]

A rise is an error: make the call cheaper, or run it with --refresh and commit the table with the reason for the rise.
A fall is none; --refresh keeps it. The table is of one release of nvcc and one architecture: with another one the
exit status is 77. Compiled with GGAS_LINKED, so that long paths, which have their own measure (benchmarks/compile),
are not compiled for each call: what is counted is what a short call runs through."""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
FIELDS = ("instructions", "registers", "stack")
SKIPPED = 77


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def instructions(listing):
    """Of each kernel: those of its own text; what it calls has sections or labels of its own."""
    counts, at = {}, None
    for line in listing.splitlines():
        if found := re.match(r"^\.text\.(\w+):", line):
            at = found.group(1)
            counts[at] = 0
        elif line.startswith("$"):
            at = None
        elif at and re.match(r"^\s*/\*[0-9a-f]{4,}\*/\s+\S", line):
            counts[at] += 1
    return counts


def needs(usage):
    """Of each kernel: registers and bytes of stack."""
    found = re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+)", usage)
    return {name: (int(registers), int(stack)) for name, registers, stack in found}


SOURCES = ("calls.cu", "calls_ranks.cu")


def measure(tools, folder):
    return {name: cost for source in SOURCES for name, cost in measure_file(tools, folder, HERE / source).items()}


def measure_file(tools, folder, source):
    made, linked = folder / "calls.o", folder / "calls.cubin"
    flags = ("-std=c++20", "-O3", f"-arch={tools.arch}", "-rdc=true", "-DGGAS_LINKED", "-I", ROOT / "gpu_api" / "include", "-I", ROOT)
    run(tools.nvcc, *flags, "-c", source, "-o", made)
    run(tools.nvcc, f"-arch={tools.arch}", "-dlink", "-cubin", made, tools.library, "-o", linked)
    counts = instructions(run(tools.cuobjdump, "--dump-sass", made) if not tools.nvdisasm else listing_of(tools, made, folder))
    usage = needs(run(tools.cuobjdump, "--dump-resource-usage", linked))
    calls = re.findall(r"^CALL\((\w+),", source.read_text(), re.M)
    return {name: (counts[name], *usage[name]) for name in calls}


def listing_of(tools, made, folder):
    cubin = folder / "calls.only.cubin"
    run("sh", "-c", f'cd "{folder}" && "{tools.cuobjdump}" --extract-elf all "{made}" && mv *.sm_*.cubin "{cubin}"')
    return run(tools.nvdisasm, "-c", cubin)


def release(tools):
    return f"nvcc {run(tools.nvcc, '--version').split('release ')[1].split(',')[0]} {tools.arch}"


def read_table(path):
    head, *lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return head, {name: tuple(map(int, values)) for name, *values in (line.split() for line in lines)}


def text_of(head, rows):
    lines = [f"{name:24}" + "".join(f"{v:>14}" for v in values) for name, values in rows.items()]
    notes = ("# What each call costs in machine code; costs.py compares and refreshes it.",
             "# " + f"{'call':22}" + "".join(f"{f:>14}" for f in FIELDS))
    return "\n".join((*notes, head, *lines)) + "\n"


def rises(old, now):
    found = []
    for name in sorted(old.keys() | now.keys()):
        if name not in now or name not in old:
            found.append(f"{name}: {'not measured' if name not in now else 'not in the table'}")
            continue
        for field, was, value in zip(FIELDS, old[name], now[name], strict=True):
            if value > was:
                found.append(f"{name}: {value} {field}, were {was}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--table", type=Path, default=HERE / "costs.txt")
    parser.add_argument("--refresh", action="store_true")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--arch", default="sm_90")
    tools = parser.parse_args()
    tools.nvdisasm = Path(tools.cuobjdump).with_name("nvdisasm")
    head = release(tools)
    if not tools.refresh and read_table(tools.table)[0] != head:
        print(f"the table is for {read_table(tools.table)[0]}, this is {head}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        now = measure(tools, Path(folder))
    if tools.refresh:
        tools.table.write_text(text_of(head, now))
        return
    print(text_of(head, now), end="")
    if found := rises(read_table(tools.table)[1], now):
        sys.exit("\n".join((*found, "a call costs more: make it cheaper, or refresh the table and say why (--help)")))


if __name__ == "__main__":
    main()
