# SPDX-License-Identifier: Apache-2.0
"""Where only one lane of a warp can be: after a branch that all lanes but number 0 take, until others may come.

Known are registers that hold the number of the lane, and predicates that compare one with 0. What is set under a
condition, or on one of the paths to a node alone, is not known.
"""
from flow import MEETS, barrier_of, settle
from listing import FIRST_P, FIRST_R

COMPARISONS = ("ISETP.NE.AND", "ISETP.NE.U32.AND", "ISETP.EQ.AND", "ISETP.EQ.U32.AND")


def bit_of(operand, first, kind):
    name = operand.split(".")[0].lstrip("!")
    return 1 << first + int(name[1:]) if name[:1] == kind and name[1:].isdigit() else 0


class Alone:
    """`at`: whether only lane 0 can be at the end of a node."""

    def __init__(self, flow):
        self.flow = flow
        # Registers with the number; predicates that hold in other lanes only, and in lane 0 only; the barriers that lane
        # 0 has set since it is alone, None: it is not.
        self.before = {0: (frozenset(), frozenset(), frozenset(), None)}
        self.at = [False] * len(flow.nodes)
        settle([0], self._spread)

    def _spread(self, n):
        node = self.flow.nodes[n]
        *known, alone, at_end = self._through(node)
        self.at[n] = at_end is not None
        for k, m in enumerate(node.after):
            state = (*known, frozenset() if alone is None and self._is_left_alone(node, k, known) else alone)
            old = self.before.get(m)
            met = state if old is None else tuple(
                None if a is None or b is None else a & b for a, b in zip(old, state))
            if met != old:
                self.before[m] = met
                yield m

    def _through(self, node):
        *known, alone = self.before[node.number]
        numbers, others, only = map(set, known)
        at_end = alone
        for i in node.block.code:
            at_end, alone = alone, self._alone_after(i, alone)
            source = {b for b in i.read_bits if b in numbers}
            for known in (numbers, others, only):
                known.difference_update(i.write_bits)
            if i.guard:
                continue
            if i.name in ("S2R", "MOV"):
                held = i.name == "S2R" and i.operands[1] == "SR_LANEID" or i.name == "MOV" and source
                numbers |= {bit_of(i.operands[0], FIRST_R, "R")} if held else set()
            elif i.operation in COMPARISONS and source and i.operands[1] == "PT" and i.operands[3:] == ["RZ", "PT"]:
                (others if ".NE." in i.operation else only).add(bit_of(i.operands[0], FIRST_P, "P"))
        return frozenset(numbers), frozenset(others), frozenset(only), alone, at_end

    @staticmethod
    def _alone_after(i, alone):
        if alone is None or i.operation.startswith(MEETS) or i.name == "WARPSYNC":
            return None
        if i.name == "BSSY":
            return alone | {barrier_of(i)}
        if i.name == "BSYNC":  # others may wait at one that was set before
            return alone - {barrier_of(i)} if barrier_of(i) in alone else None
        return alone

    # Whether lane 0 alone goes on with the k-th successor: the target of a branch is the first one.
    def _is_left_alone(self, node, k, known):
        last = node.block.last
        if last.name not in ("BRA", "EXIT") or not last.guard or len(set(node.after)) != (2 if last.name == "BRA" else 1):
            return False
        _, others, only = known
        bit = bit_of(last.guard, FIRST_P, "P")
        taken = last.name == "BRA" and k == 0
        holds = taken != last.guard.startswith("!")  # the predicate, there
        return bit != 0 and bit in (only if holds else others)
