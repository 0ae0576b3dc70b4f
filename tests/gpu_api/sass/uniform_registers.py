#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds uniform registers that lanes of a warp may take from each other in the machine code of kernels.

A warp has one set of uniform registers for all lanes. Where its lanes have parted, one group of them may be held (at
a YIELD, at a barrier of lanes, as the other side of a branch) while another one runs. A value that the first group
still needs must then be in a register that the other one leaves alone. nvcc 13.0.88 has broken this rule: the
distance of segments lay in a uniform register over a YIELD, and lanes that were further on loaded another word of
the context into it: addresses without the node. This program looks for it:

  for each branch on something that may differ between lanes, and each of its two sides: no uniform register that is
  used after a place where lanes of this side may be held is written on the other side with another value.

flow.py says where a branch leads and where the lanes are one group again (BSYNC of a barrier that both sides have
set, BSSY; BAR, WARPSYNC.ALL), varying.py what may differ between lanes (followed from thread numbers and memory of
threads) and which values are the same, stack.py what lanes may differ in after their stack pointer, alone.py where only
lane 0 can be, so that no lanes part.

It is a rule of thumb in five places: a load from one address is the same for all; what is set under a condition that
differs between lanes counts as set; 16 bits put into a register count as the whole of it; generic stores to the
memory of lanes are not seen; loads of one constant are the same. Functions that call themselves are not followed.

usage: uniform_registers.py [--cuobjdump PROGRAM] [--seen FOLDER] OBJECT...   objects and programs of nvcc
       uniform_registers.py --listing FILE...                                 output of nvdisasm -c
Exit status 0: nothing found; 1: found something, which is printed; 2: wrong use; 77: no cuobjdump or nvdisasm.
"""
import argparse
import hashlib
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from flow import WAITS, Flow
from listing import UNIFORM, bits, by_function, parse
from varying import Values, Varying

HERE = pathlib.Path(__file__).parent
# Kernels whose findings were looked at by hand, and why they are harmless; they are printed, and are no failure.
HARMLESS = {
    # ISETP.NE.AND P2, PT, R15, RZ, PT of R15 = SR_LANEID, @P2 BRA: after it lane 0 is alone, so no lanes part there.
    "ring_sizes": "only lane 0 gives lines of a ring back",
    # A kernel of the tests of work requests: if (threadIdx.x != 0) return, then lane 0 sends orders. So no lanes
    # diverge there.
    "test_work_merged": "lane 0 alone sends orders",
}


def used_later(flow):
    """Uniform registers whose value is used later, at the start of each node."""
    used, set_first = [], []  # of each block: needed at its start, written before any use
    for b in flow.blocks:
        reads = 0
        for i in reversed(b.code):
            reads = reads & ~i.writes | i.reads & UNIFORM
        used.append(reads)
        set_first.append(b.writes)
    live = [0] * len(flow.nodes)
    todo = list(range(len(flow.nodes)))
    while todo:
        n = flow.nodes[todo.pop()]
        now = 0
        for m in n.after:
            now |= live[m]
        now = now & ~set_first[n.block.number] | used[n.block.number]
        if now & ~live[n.number]:
            live[n.number] |= now
            todo += n.before
    return live


def held_at(flow, parting, first, side):
    """Nodes of a side before which its lanes, or some of them, may be held."""
    held = {first}
    for n in side:
        if flow.nodes[n].block.last.name in WAITS or n in parting:
            held.update(m for m in flow.nodes[n].after if m in side)
    return held


class Finding:
    def __init__(self, flow, held, bit, branch, other):
        n = bit.bit_length() - 1
        self.register = f"UR{n}" if n < 64 else f"UP{n - 64}"
        self.held, self.branch = flow.nodes[held].block.code[0], flow.nodes[branch].block.last
        self.other = next(i for i in flow.nodes[other].block.code if i.writes & bit)

    def __str__(self):
        return (f"{self.register} is needed behind  {self.held.text()}\n"
                f"  lanes parted at           {self.branch.text()}\n"
                f"  other lanes overwrite it  {self.other.text()}")


def check(function):
    """The findings of a function, one for each register and place."""
    flow = Flow(function)
    values = Values(flow)
    parting = Varying(flow, values).parting
    live = used_later(flow)
    found = {}
    for branch, sides in parting.items():
        for k, side in enumerate(sides):
            others = {}  # uniform register bit -> nodes that write it
            for n in set().union(*(s for j, s in enumerate(sides) if j != k)):
                for bit in values.written.get(n, ()):
                    others.setdefault(bit, []).append(n)
            mask = sum(others)  # keys are bits
            for n in held_at(flow, parting, flow.nodes[branch].after[k], side):
                for bit in bits(live[n] & mask):
                    now = values.before.get(n, {}).get(bit)
                    clash = [m for m in others[bit] if now is None or values.written[m][bit] != {now}]
                    key = flow.nodes[n].block.number, bit
                    if clash and key not in found:
                        found[key] = Finding(flow, n, bit, branch, clash[0])
    return list(found.values())


def listing_of(path, cuobjdump):
    """The lines of nvdisasm, which lies next to cuobjdump, about the machine code in an object."""
    nvdisasm = pathlib.Path(cuobjdump).with_name("nvdisasm")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([cuobjdump, "-xelf", "all", path.resolve()], cwd=folder, check=True, capture_output=True)
        for cubin in sorted(pathlib.Path(folder).iterdir()):
            done = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True)
            lines += done.stdout.splitlines()
    return lines


def digest_of(path):
    """Of an object and of this search: one that was seen with both is not looked at again."""
    digest = hashlib.sha256(path.read_bytes())
    for part in sorted(HERE.glob("*.py")):
        digest.update(part.read_bytes())
    return digest.hexdigest()


def look_at(job):
    """Functions, instructions, and the texts of what was found in an object, or in a listing (no cuobjdump)."""
    path, cuobjdump = job
    lines = listing_of(path, cuobjdump) if cuobjdump else path.read_text(encoding="utf-8").splitlines()
    functions, instructions, texts = 0, 0, []
    for part in by_function(lines):
        for function in (f for f in parse(part) if f.code):
            functions += 1
            instructions += len(function.code)
            texts += [f"{path}: {function.name}: {finding}" for finding in check(function)]
    return functions, instructions, texts


def reason_of(text):
    """Why a finding is harmless; None: it is not known to be."""
    function = text.split(": ")[1]
    return next((reason for name, reason in HARMLESS.items() if name in function), None)


def main():
    arguments = argparse.ArgumentParser(description="uniform registers that lanes of a warp may take from each other")
    arguments.add_argument("--listing", action="store_true", help="the files are output of nvdisasm -c")
    arguments.add_argument("--cuobjdump", default="cuobjdump", help="NVIDIA's program (default: that in PATH)")
    arguments.add_argument("--seen", type=pathlib.Path, help="folder of notes: objects seen clean are left out")
    arguments.add_argument("files", nargs="+", type=pathlib.Path)
    a = arguments.parse_args()
    program = None if a.listing else shutil.which(pathlib.Path(a.cuobjdump).absolute() if os.sep in a.cuobjdump else a.cuobjdump)
    if not a.listing and not (program and pathlib.Path(program).with_name("nvdisasm").exists()):
        print(f"no {a.cuobjdump} with nvdisasm beside it: skipped")
        return 77
    notes = {f: a.seen / f"{f.name}.seen" for f in a.files} if a.seen else {}
    digests = {f: digest_of(f) for f in notes}
    files = [f for f in a.files if f not in notes or not notes[f].exists() or notes[f].read_text() != digests[f]]
    files.sort(key=lambda f: -f.stat().st_size)  # the longest first: nothing to wait for at the end
    with multiprocessing.Pool(max(1, min(len(files), multiprocessing.cpu_count()))) as pool:
        seen = pool.map(look_at, [(f, program) for f in files], chunksize=1)
    functions, instructions = (sum(s[n] for s in seen) for n in (0, 1))
    everything = [text for s in seen for text in s[2]]
    known = [text for text in everything if reason_of(text)]
    texts = [text for text in everything if not reason_of(text)]
    print("\n".join([f"{text}\n  harmless: {reason_of(text)}" for text in known] + texts + [f"{functions} functions, {instructions} instructions, {len(texts)} findings, "
                             f"{len(a.files) - len(files)} objects seen before"]))
    if len(files) == len(a.files) and not functions:
        print("no machine code in these files")
        return 2
    if a.seen and not texts:
        a.seen.mkdir(parents=True, exist_ok=True)
        for f, note in notes.items():
            note.write_text(digests[f])
    return 1 if texts else 0


if __name__ == "__main__":
    sys.exit(main())
