# SPDX-License-Identifier: Apache-2.0
"""What a register holds, as far as it tells whether lanes of a warp may differ in it."""
from listing import MEMORY, OF_LANES, REGISTER, UNIFORM, bits

NOT_CONSTANT = OF_LANES | MEMORY | {"S2R", "CS2R", "R2UR"}
SYSTEM_REGISTERS = ("SR_TID", "SR_LANEID", "SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK", "SR_GEMASK",
                    "SR_CLOCK", "SR_GLOBALTIMER", "SR_VIRTID")


class Constants:
    """Registers that hold the same expression of constants whichever way was taken: they differ between no lanes."""

    def __init__(self, flow):
        self.flow = flow
        self.expressions = {}  # (operation, values of its operands) -> number
        self.states = {0: {}}  # register bit -> number, at the start of each block
        todo = [0]
        while todo:
            b = flow.blocks[todo.pop()]
            state = self._through(b)
            for n in b.after:
                old = self.states.get(n)
                new = dict(state) if old is None else {r: v for r, v in old.items() if state.get(r) == v}
                if old is None or len(new) != len(old):
                    self.states[n] = new
                    todo.append(n)

    def _through(self, block):
        state = dict(self.states[block.number])
        for i in block.code:
            if i.writes:
                value = self._value(i, state)
                for k, bit in enumerate(bits(i.writes)):
                    if value is None:
                        state.pop(bit, None)
                    else:
                        state[bit] = (value, k)
        return state

    def _value(self, i, state):
        if i.guard or i.name in NOT_CONSTANT or i.name.startswith("VOTE"):
            return None
        sources = tuple(state.get(bit) for bit in bits(i.reads))
        if None in sources:
            return None
        key = (i.operation, tuple(REGISTER.sub("", o) for o in i.operands), sources)
        return self.expressions.setdefault(key, len(self.expressions))

    def at_end(self, n):
        return sum(self._through(self.flow.blocks[n])) if n in self.states else 0  # keys are bits


def step(i, varying):
    """The registers that may differ between lanes behind an instruction."""
    differs = i.name in OF_LANES or bool(i.reads & varying)
    if i.name in ("S2R", "CS2R"):
        differs = any(r in o for o in i.operands for r in SYSTEM_REGISTERS)
    if i.name.startswith("VOTE"):
        differs = False
    mask = i.writes & ~UNIFORM
    if differs:
        return varying | mask
    return varying if i.guard and not i.guard.lstrip("!").startswith("U") else varying & ~mask
