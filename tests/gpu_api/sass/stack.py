# SPDX-License-Identifier: Apache-2.0
"""Memory of each lane after its stack pointer, R1: may lanes have stored different values there?

A load sees the values that its own call and the calls around it have stored. An unknown place (addressed by another
register) may be any place. Stores through generic pointers are not seen, so the result is a rule of thumb.
"""
import re

from listing import register_bit

R1 = register_bit("R", 1)
PLACE = re.compile(r"\[R1(?:\+(-?0x[0-9a-f]+))?\]")
BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


class Stack:
    def __init__(self, flow):
        self.stored = {}  # (call, word of the stack or None: any) -> lanes may differ
        self.loads = [n.number for n in flow.nodes if any(i.name == "LDL" for i in n.block.code)]
        self.pointer = {0: 0}  # R1 at the start of each node, None: not known
        todo = [0]
        while todo:
            n = flow.nodes[todo.pop()]
            pointer = self.pointer[n.number]
            for i in n.block.code:
                pointer = moved(i, pointer) if i.writes & R1 else pointer
            for m in n.after:
                if m not in self.pointer or self.pointer[m] not in (pointer, None):
                    self.pointer[m] = pointer if m not in self.pointer else None
                    todo.append(m)
        for n in flow.nodes:
            memory = self.of(n)
            for i in n.block.code:
                if i.name == "STL":
                    memory.store(i, False)
                memory.over(i)

    def of(self, node):
        return Memory(self, node)


class Memory:
    """The stack as seen by a node."""

    def __init__(self, stack, node):
        self.stack, self.call, self.pointer = stack, node.call, stack.pointer.get(node.number)

    def over(self, i):
        if i.writes & R1:
            self.pointer = moved(i, self.pointer)

    def store(self, i, differs):
        """Whether this is news."""
        news = False
        for word in self._words(i, i.operands[0]):
            before = self.stack.stored.get((self.call, word))
            self.stack.stored[self.call, word] = bool(before or differs)
            news |= before is False and differs
        return news

    def differs(self, i):
        calls, call = [], self.call
        while call:
            calls.append(call)
            call = call.caller
        words = self._words(i, i.operands[-1])
        if words == [None]:
            found = [d for (c, _), d in self.stack.stored.items() if c in calls]
            return not found or any(found)
        for word in words:
            found = [self.stack.stored[c, word] for c in calls if (c, word) in self.stack.stored]
            if not found or any(found):
                return True
        return any(self.stack.stored.get((c, None)) for c in calls)

    def _words(self, i, operand):
        found = PLACE.fullmatch(operand)
        if not found or self.pointer is None:
            return [None]
        start = self.pointer + int(found.group(1) or "0", 16)
        size = next((BYTES[m] for m in i.operation.split(".") if m in BYTES), 4)
        return list(range(start // 4, (start + size - 1) // 4 + 1))


def moved(i, pointer):
    """R1 after an instruction that writes it."""
    if i.name == "LDC":
        return 0
    numbers = [int(o, 16) for o in i.operands if re.fullmatch(r"-?0x[0-9a-f]+", o)]
    if pointer is None or i.name not in ("VIADD", "IADD3") or len(numbers) != 1 or not i.reads & R1:
        return None
    return pointer + (numbers[0] + 2**31) % 2**32 - 2**31
