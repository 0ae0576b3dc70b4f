#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds uniform registers that lanes of a warp may take from each other in the machine code of kernels.

A warp has one set of uniform registers for all lanes. Where its lanes have parted, one group of them may be held (at
a YIELD, at a barrier of lanes, as the other side of a branch) while another one runs. A value that the first group
still needs must then be in a register that the other one leaves alone. nvcc 13.0.88 has broken this rule: the distance
of segments lay in a uniform register over a YIELD, and lanes that were further on loaded another word of the context
into it: addresses without the node. This program looks for it:

  for each branch on something that may differ between lanes, and each of its two sides: no uniform register that is
  used behind a place where lanes of this side may be held is written on the other side with another value.

Sides end where the lanes are one group again (BSYNC of a barrier that both have set, BSSY; BAR, WARPSYNC.ALL). What may differ between
lanes is found by following registers from thread numbers and memory of threads; a load from one address is the same
for all. It is a rule of thumb in three places: what is set under a condition counts as set; registers that a function
leaves to its caller are not followed; values loaded from the same constant are the same.

usage: uniform_registers.py [--cuobjdump PROGRAM] OBJECT...      objects and programs of nvcc
       uniform_registers.py --listing FILE...                    output of cuobjdump -sass
Exit status 0: nothing found; 1: found something, which is printed; 2: wrong use; 77: no cuobjdump.
"""
import argparse
import multiprocessing
import shutil
import subprocess
import sys

from flow import WAITS, Flow
from listing import UNIFORM, bits, parse

CONSTANT = ("ULDC", "UMOV", "S2UR")  # the same operands, the same value


def used_before(code, now):
    """Uniform registers used later, before the code of a block; `now`: behind it."""
    for i in reversed(code):
        now = now & ~i.writes | i.reads & UNIFORM
    return now


def used_later(flow):
    """Uniform registers whose value is used later, at the start of each block."""
    live = [0] * len(flow.blocks)
    todo = [b.number for b in flow.blocks]
    while todo:
        b = flow.blocks[todo.pop()]
        now = 0
        for n in [] if b.last.name == "RET" else b.after + ([b.behind_call] if b.behind_call else []):
            now |= live[n]
        now = used_before(b.code, now)
        if now & ~live[b.number]:
            live[b.number] |= now
            todo += b.before + flow.calls_of(b.number)
    return live


def value_of(i, bit):
    """The same for instructions that give a register the same value; None: any value."""
    if i.name not in CONSTANT or i.guard:
        return None
    return i.operation, tuple(i.operands[1:]), bit // (i.writes & -i.writes)


def definitions(flow, start, bit):
    """The instructions whose value of a register may reach the start of a block."""
    found, seen, todo = [], set(), list(flow.blocks[start].before)
    while todo:
        n = todo.pop()
        if n in seen:
            continue
        seen.add(n)
        for m in flow.called_from(flow.blocks[n]):
            found += [i for i in flow.blocks[m].code if i.writes & bit]
        for i in reversed(flow.blocks[n].code):
            if i.writes & bit:
                found.append(i)
                break
        else:
            todo += flow.blocks[n].before
    return found


def held_at(flow, first, side):
    """Blocks of a side before which its lanes, or some of them, may be held."""
    held = {first}
    for n in side:
        b = flow.blocks[n]
        if b.last.name in WAITS or b.parts:
            held.update(m for m in b.after if m in side)
        if any(flow.blocks[m].last.name in WAITS for m in flow.called_from(b)):
            held.add(b.behind_call)
    return held


class Finding:
    def __init__(self, flow, held, bit, branch, value, other):
        n = bit.bit_length() - 1
        self.register = f"UR{n}" if n < 64 else f"UP{n - 64}"
        self.held, self.branch = flow.blocks[held].code[0], branch.last
        self.value, self.other = value, other

    def __str__(self):
        return (f"{self.register} is needed behind  {self.held.text()}\n"
                f"  lanes parted at           {self.branch.text()}\n"
                f"  its value is that of      {'; '.join(i.text() for i in self.value[:3])}\n"
                f"  other lanes overwrite it  {self.other.text()}")


def check(function):
    """The findings of a function, one for each register and place."""
    flow = Flow(function)
    live = used_later(flow)
    found = {}
    for branch in (b for b in flow.blocks if b.parts):
        sides = flow.sides(branch)
        for k, side in enumerate(sides):
            others = set().union(*(s for j, s in enumerate(sides) if j != k))
            writes = 0
            for n in others:
                writes |= flow.written[n] & UNIFORM
            for n in held_at(flow, branch.after[k], side):
                for bit in bits(live[n] & writes):
                    if (n, bit) not in found and (clash := overwritten(flow, n, bit, others)):
                        found[n, bit] = Finding(flow, n, bit, branch, *clash)
    return list(found.values())


def overwritten(flow, held, bit, others):
    """The instructions that set a register for those who wait, and one of the others that gives it another value."""
    value = definitions(flow, held, bit)
    values = {value_of(i, bit) for i in value}
    for n in others:
        if not flow.written[n] & bit:
            continue
        for i in flow.blocks[n].code:
            if i.writes & bit and (value_of(i, bit) is None or values != {value_of(i, bit)}):
                return value, i
    return None


def look_at(job):
    """Functions, instructions, and the text of what was found in a listing or an object."""
    path, cuobjdump = job
    if cuobjdump:
        done = subprocess.run([cuobjdump, "-sass", path], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return 0, 0, [f"{path}: {done.stderr.strip()}"]
        lines = done.stdout.splitlines()
    else:
        with open(path, encoding="utf-8") as f:
            lines = f.readlines()
    functions = [f for f in parse(lines) if f.code]
    texts = [f"{path}: {f.name}: {finding}" for f in functions for finding in check(f)]
    return len(functions), sum(len(f.code) for f in functions), texts


def main():
    arguments = argparse.ArgumentParser(description="uniform registers that lanes of a warp may take from each other")
    arguments.add_argument("--listing", action="store_true", help="the files are output of cuobjdump -sass")
    arguments.add_argument("--cuobjdump", default="cuobjdump", help="NVIDIA's program (default: that in PATH)")
    arguments.add_argument("files", nargs="+")
    a = arguments.parse_args()
    program = None if a.listing else shutil.which(a.cuobjdump)
    if not a.listing and not program:
        print(f"no {a.cuobjdump} here: skipped")
        return 77
    with multiprocessing.Pool() as pool:
        seen = pool.map(look_at, [(f, program) for f in a.files], chunksize=1)
    texts = [t for s in seen for t in s[2]]
    print("\n".join(texts + [f"{sum(s[0] for s in seen)} functions, {sum(s[1] for s in seen)} instructions, "
                             f"{len(texts)} findings"]))
    if not any(s[1] for s in seen):
        print("no machine code in these files")
        return 2
    return 1 if texts else 0


if __name__ == "__main__":
    sys.exit(main())
