# SPDX-License-Identifier: Apache-2.0
"""What registers hold: known expressions of constants, and whether lanes of a warp may differ in it."""
import functools
import re

from alone import Alone
from flow import settle
from listing import FIRST_P, MEMORY, OF_LANES, UNIFORM
from stack import Stack

SYSTEM_REGISTERS = ("SR_TID", "SR_LANEID", "SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK", "SR_GEMASK")
CHANGING = OF_LANES | MEMORY | {"LDL", "CS2R", "VOTE", "VOTEU", "REDUX", "ELECT"}
MOVES = ("UMOV", "MOV", "R2UR")
# A predicate comes back from the register where P2R has kept it alone.
BACK = re.compile(r"P\d, PT, R\d+(\.reuse)?, RZ, PT")


class Values:
    """Numbers of the expressions of constants in registers. Equal numbers, equal values."""

    def __init__(self, flow):
        self.flow = flow
        self.expressions = {}  # (operation, values of its operands) -> number
        self.before = {0: {}}  # register bit -> number, at the start of each node
        self.written = {}  # node -> uniform register bit -> numbers that are written, None among them: any value
        self.guards = {}  # (node, place of an instruction) -> number of its guard
        self.kept = {}  # number of a register where a predicate is kept -> number of the predicate
        settle([0], self._spread)

    def _spread(self, n):
        state = self._through(self.flow.nodes[n])
        for m in self.flow.nodes[n].after:
            old = self.before.get(m)
            if old is None or not old.items() <= state.items():
                self.before[m] = state if old is None else dict(old.items() & state.items())
                yield m

    def _through(self, node):
        state, written = dict(self.before[node.number]), {}
        for k, i in enumerate(node.block.code):
            if i.guard and not i.guard_is_uniform:
                self.guards[node.number, k] = state.get(predicate_bit(i.guard.lstrip("!")))
            if i.writes:
                for bit, number in zip(i.write_bits, self._numbers(i, state)):
                    state.pop(bit, None)
                    if number is not None:
                        state[bit] = number
                    if bit & UNIFORM:
                        written.setdefault(bit, set()).add(number)
        self.written[node.number] = written
        return state

    # The number of each register that an instruction writes; None means any value.
    def _numbers(self, i, state):
        count = len(i.write_bits)
        if i.name in CHANGING or i.name == "S2R" and lanes_of(i) or i.guard and not i.writes & UNIFORM:
            return [None] * count
        sources = tuple([state.get(bit) for bit in i.read_bits + (i.write_bits if i.guard_is_uniform else ())])
        if None in sources:
            return [None] * count
        if i.name in MOVES and len(sources) == 1:
            return sources * count
        if i.operation == "ISETP.NE.AND" and BACK.fullmatch(", ".join(i.operands)) and sources[0] in self.kept:
            return [self.kept[sources[0]]]
        number = self.expressions.setdefault((i.shape, sources), len(self.expressions))
        if i.name == "P2R" and len(sources) == 1:
            self.kept[number, 0] = sources[0]
        return [(number, part) for part in range(count)]

    def at_end(self, n):
        """Registers whose value is known at the end of a node."""
        return sum(self._through(self.flow.nodes[n])) if n in self.before else 0  # keys are bits


def lanes_of(i):
    return any(r in o for o in i.operands for r in SYSTEM_REGISTERS)


class Step:
    """Goes through the instructions of a node: `varying`, the registers that may differ between lanes."""

    def __init__(self, node, varying, same, memory, guards):
        self.varying, self.memory, self.guards = varying, memory, guards
        self.place = node.number, 0
        # (negated, number or name of a predicate) -> registers that are the same for all lanes where it holds
        self.same = same

    def over(self, i):
        number = self.guards.get(self.place)
        guard = i.guard.startswith("!"), i.guard.lstrip("!") if number is None else number
        self.place = self.place[0], self.place[1] + 1
        differs = self._differs(i, self.varying & ~self.same.get(guard, 0))
        if predicate_bit(i.guard.lstrip("!")) & self.varying:
            self.varying |= i.sets
        self.varying &= ~i.clears
        mask = i.writes & ~UNIFORM
        opposite = not guard[0], guard[1]  # what it writes is not seen there
        self.same = {g: r if g == opposite else r & ~mask for g, r in self.same.items()
                     if not predicate_bit(g[1]) & mask}
        if differs:
            self.varying |= mask
        elif not i.guard or i.guard_is_uniform:
            self.varying &= ~mask
        elif not predicate_bit(guard[1]) & mask:
            self.same[guard] = self.same.get(guard, 0) | mask
            self.varying &= ~(self.same[guard] & self.same.get(opposite, 0))  # set under both
        self.memory.over(i)

    def _differs(self, i, varying):
        if i.name == "LDL" and self.memory.differs(i):
            return True
        if i.operation == "SHFL.IDX":  # every member gets that of one lane, if all ask for the same
            return bool(i.reads_of(slice(3, 5)) & varying)
        if i.name in ("S2R", "CS2R"):
            return lanes_of(i)
        return i.name in OF_LANES or i.name != "VOTE" and bool(i.reads & varying)


@functools.cache
def predicate_bit(name):
    return 1 << FIRST_P + int(name[1]) if isinstance(name, str) and re.fullmatch(r"P\d", name) else 0


class Varying:
    """Which branches part the lanes of a group: those on a value that may differ between them."""

    def __init__(self, flow, values):
        self.flow, self.values = flow, values
        self.at = [0] * len(flow.nodes)  # registers that may differ, at the start of each node
        self.same = {}  # ... under guards: those of Step.same
        self.merged = {}  # where lanes meet again -> registers that they may have set differently
        self.parting = {}  # nodes whose branch parts lanes -> the sides
        self.stack = Stack(flow)
        self.alone = Alone(flow).at
        settle(range(len(flow.nodes)), lambda n: self._spread(flow.nodes[n]))

    def _spread(self, node):
        changed, last = [], node.block.last
        same = dict(self.same.get(node.number, {}))
        state = Step(node, self.at[node.number], same, self.stack.of(node), self.values.guards)
        for i in node.block.code:
            if i.name == "STL" and state.memory.store(i, bool(i.reads & state.varying)):
                changed += self.stack.loads
            if i is last and self._parts(node, state.varying):
                changed += self._part(node)
            state.over(i)
        merged = self.merged.get(node.number, 0)
        varying = state.varying | merged
        same = {g: r & ~merged for g, r in state.same.items() if r & ~merged}
        for m in node.after:
            old = self.same.get(m)
            met = same if old is None else {g: r & same.get(g, 0) for g, r in old.items() if r & same.get(g, 0)}
            if varying & ~self.at[m] or met != old:
                self.at[m] |= varying
                self.same[m] = met
                changed.append(m)
        return changed

    # Whether its branch is on something that differs, which was not known yet.
    def _parts(self, node, varying):
        last = node.block.last
        branch = last.name in ("BRA", "BRX", "RET") and len(node.after) > 1
        parts = branch and bool(last.reads & varying) and not self.alone[node.number]
        return parts and node.number not in self.parting

    # Where the sides meet again their lanes may differ in what either has written.
    def _part(self, node):
        sides = self.parting[node.number] = self.flow.sides(node)
        changed, shared = [], self.flow.open_at_end(node)
        for side in sides:
            written = 0
            for n in side:
                written |= self.flow.nodes[n].block.writes
            for n in side:
                if self.flow.nodes[n].block.barrier in shared:
                    differs = written & ~UNIFORM & ~self.values.at_end(n)
                    if differs & ~self.merged.get(n, 0):
                        self.merged[n] = self.merged.get(n, 0) | differs
                        changed.append(n)
        return changed
