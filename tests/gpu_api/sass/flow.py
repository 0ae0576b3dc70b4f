# SPDX-License-Identifier: Apache-2.0
"""Control flow of a function of a listing: blocks, barriers open at each, branches that a warp may part at."""
import re

from listing import UNIFORM
from varying import Constants, step

BARRIER = re.compile(r"\bB(\d+)\b")
# The lanes of a group may be held here while others of the warp go on.
WAITS = ("YIELD", "BSYNC", "WARPSYNC", "NANOSLEEP", "BAR", "DEPBAR")
ENDS = ("EXIT", "KILL", "RET", "BRX", "JMX")


class Block:
    def __init__(self, number, code):
        self.number, self.code = number, code
        self.after = []  # numbers of the blocks that may follow
        self.before = []  # within the function: behind a call comes the call
        self.behind_call = None  # where it goes on behind the call at the end
        self.open = None  # barriers that a group of lanes has set on every path to the start of the block
        self.barrier = barrier_of(code[-1]) if code[-1].name == "BSYNC" else None
        self.breaks = {barrier_of(i) for i in code if i.name == "BREAK"}
        # All lanes of the warp go on together.
        self.meets = code[-1].operation.startswith(("BAR.SYNC", "BAR.RED", "WARPSYNC.ALL"))
        self.parts = False  # its branch parts the lanes of a group

    @property
    def last(self):
        return self.code[-1]


def closure(start, after):
    """Everything that can be got to from `start`, itself included, by after(x)."""
    seen, todo = {start}, [start]
    while todo:
        for n in after(todo.pop()):
            if n not in seen:
                seen.add(n)
                todo.append(n)
    return seen


def barrier_of(instruction):
    found = BARRIER.search(instruction.operands[0]) if instruction.operands else None
    return int(found.group(1)) if found else None


class Flow:
    def __init__(self, function):
        self.function = function
        self.blocks = self._split(function.code)
        self._connect()
        self._find_open_barriers()
        self._find_parting_branches()

    # A block ends behind a jump and behind what lanes may be held at.
    def _split(self, code):
        starts = {code[0].address} if code else set()
        for n, i in enumerate(code):
            behind = code[n + 1].address if n + 1 < len(code) else None
            if i.target >= 0:
                starts.add(i.target)
            if behind is not None and (i.target >= 0 or i.name in WAITS + ENDS + ("BRA",)):
                starts.add(behind)
        blocks, current = [], []
        for i in code:
            if i.address in starts and current:
                blocks.append(Block(len(blocks), current))
                current = []
            current.append(i)
        if current:
            blocks.append(Block(len(blocks), current))
        self.at = {b.code[0].address: b.number for b in blocks}
        self.functions = {}  # entry -> its blocks
        return blocks

    def _connect(self):
        calls = {}  # entry of a function -> blocks behind the calls
        self.callers = {}  # ... -> blocks that end with the calls
        for b in self.blocks:
            i, following = b.last, b.number + 1
            falls = following < len(self.blocks)
            if i.name == "CALL" and i.target in self.at:
                b.after.append(self.at[i.target])
                b.behind_call = following
                calls.setdefault(self.at[i.target], []).append(following)
                self.callers.setdefault(self.at[i.target], []).append(b.number)
                falls = False
            elif i.name in ("BRA", "JMP") and i.target in self.at:
                b.after.append(self.at[i.target])
                falls = falls and bool(i.guard or len(i.operands) > 1)
            elif i.name == "BRX":
                b.after += self._table(b)
                falls = False
            elif i.name in ENDS:
                falls = falls and bool(i.guard)
            if falls:
                b.after.append(following)
        for entry, behind in calls.items():
            self.functions[entry] = closure(entry, self._within_and_called)
            for n in closure(entry, self._within):
                if self.blocks[n].last.name == "RET":
                    self.blocks[n].after += [m for m in behind if m < len(self.blocks)]
        for b in self.blocks:
            b.after = list(dict.fromkeys(b.after))
            for n in self._within(b.number):
                self.blocks[n].before.append(b.number)

    # Jump tables are not in the listing: every block that nothing leads to otherwise.
    def _table(self, block):
        reached = {self.at[i.target] for i in self.function.code if i.target in self.at and i.name != "BSSY"}
        for b in self.blocks:
            if b.number + 1 < len(self.blocks) and (b.last.guard or b.last.name not in ENDS + ("BRA", "JMP")):
                reached.add(b.number + 1)
        return [b.number for b in self.blocks if b.number not in reached and b.number != 0]

    def calls_of(self, entry):
        """Blocks that end with a call of the function that begins with this one."""
        return self.callers.get(entry, [])

    def called_from(self, block):
        """Blocks of the function that is called at the end of a block, and of those it calls."""
        return self.functions[block.after[0]] if block.behind_call else set()

    # Where it goes on within a function: behind what it calls.
    def _within(self, n):
        b = self.blocks[n]
        if b.behind_call:
            return [b.behind_call]
        return [] if b.last.name == "RET" else b.after

    # The same, and into what it calls.
    def _within_and_called(self, n):
        b = self.blocks[n]
        return self._within(n) + (b.after if b.behind_call else [])

    def _find_open_barriers(self):
        self.blocks[0].open = frozenset()
        todo = [0]
        while todo:
            b = self.blocks[todo.pop()]
            now = self.open_at_end(b)
            for n in b.after:
                to = self.blocks[n]
                met = now if to.open is None else to.open & now
                if met != to.open:
                    to.open = met
                    todo.append(n)

    def open_at_end(self, block):
        now = set(block.open or ())
        for i in block.code:
            if i.name == "BSSY":
                now.add(barrier_of(i))
            elif i.name == "BSYNC":
                now.discard(barrier_of(i))
        return frozenset(now)

    def reach(self, start, stops):
        """Blocks that lanes may run through from `start` on before they wait at a barrier of `stops`."""
        key = start, stops
        if key not in self.reached:
            self.reached[key] = self._reach(*key)
        return self.reached[key]

    def _reach(self, start, stops):
        def after(n):
            b = self.blocks[n]
            return [] if b.barrier in stops or b.meets else [b.behind_call] if b.behind_call else b.after

        seen = closure(start, after)
        called = (self.functions[self.blocks[n].after[0]] for n in seen if self.blocks[n].behind_call)
        return seen.union(*called)

    def sides(self, block):
        """What the two groups of lanes that part at the end of a block may run through before they are one again."""
        common = self.open_at_end(block)
        while True:
            sides = [self.reach(n, common) for n in block.after]
            left = set().union(*(self.blocks[n].breaks for s in sides for n in s))
            if not left & common:
                return sides
            common -= left

    # ---- which branches part the lanes of a group: those on a value that may differ between them

    def _find_parting_branches(self):
        self.reached = {}
        self.same = Constants(self)
        self.written = [0] * len(self.blocks)
        for b in self.blocks:
            for i in b.code:
                self.written[b.number] |= i.writes
        self.varying = {b.number: 0 for b in self.blocks}  # registers that may differ, at the start of each block
        self.merged = {}  # BSYNC block -> registers that groups that meet there may have set differently
        changed = True
        while changed:
            self._spread_varying()
            changed = False
            for b in self.blocks:
                if not b.parts and len(b.after) > 1 and b.last.name in ("BRA", "BRX") and self._differs(b):
                    b.parts = changed = True
                    self._merge(b)

    def _differs(self, block):
        varying = self.varying[block.number]
        for i in block.code[:-1]:
            varying = step(i, varying)
        return bool(block.last.reads & varying)

    def _merge(self, block):
        for side in self.sides(block):
            written = 0
            for n in side:
                written |= self.written[n]
            for n in side:
                if self.blocks[n].last.name == "BSYNC":
                    differs = written & ~UNIFORM & ~self.same.at_end(n)
                    self.merged[n] = self.merged.get(n, 0) | differs

    def _spread_varying(self):
        todo = [b.number for b in self.blocks]
        while todo:
            b = self.blocks[todo.pop()]
            varying = self.varying[b.number]
            for i in b.code:
                varying = step(i, varying)
            varying |= self.merged.get(b.number, 0)
            for n in b.after:
                if varying & ~self.varying[n]:
                    self.varying[n] |= varying
                    todo.append(n)
