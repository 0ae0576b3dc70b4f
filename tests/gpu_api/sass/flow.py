# SPDX-License-Identifier: Apache-2.0
"""Control flow of a kernel: nodes, the successors of each, and the nodes at which diverged lanes reconverge.

A called function gets nodes of its own at each call, so that nothing flows from one caller to another.
"""
import heapq
import re

BARRIER = re.compile(r"\bB(\d+)\b")
# The lanes of a group may be held here while others of the warp go on.
WAITS = ("YIELD", "BSYNC", "WARPSYNC", "NANOSLEEP", "BAR", "DEPBAR")
JUMPS = ("BRA", "JMP")
ENDS = ("EXIT", "KILL", "RET", "BRX", "BRXU", "JMX")
# All lanes of the warp go on together after it.
MEETS = ("BAR.SYNC", "BAR.RED", "WARPSYNC.ALL")


def barrier_of(instruction):
    found = BARRIER.search(" ".join(instruction.operands[:2]))
    return int(found.group(1)) if found else None


def closure(starts, after):
    """Everything that can be got to from `starts`, themselves included, by after(x)."""
    seen, todo = set(starts), list(starts)
    while todo:
        for n in after(todo.pop()):
            if n not in seen:
                seen.add(n)
                todo.append(n)
    return seen


def settle(starts, spread):
    """Calls spread(n), which names the nodes that it changed, until nothing changes; low numbers first."""
    todo, waiting = sorted(starts), set(starts)
    while todo:
        n = heapq.heappop(todo)
        waiting.discard(n)
        for m in spread(n):
            if m not in waiting:
                waiting.add(m)
                heapq.heappush(todo, m)


class Block:
    """Instructions that run in sequence."""

    def __init__(self, number, code):
        self.number, self.code, self.last = number, code, code[-1]
        self.barrier = barrier_of(self.last) if self.last.name == "BSYNC" else None
        self.breaks = {barrier_of(i) for i in code if i.name == "BREAK"}
        self.meets = self.last.operation.startswith(MEETS) and not self.last.guard
        self.writes = 0
        for i in code:
            self.writes |= i.writes | i.clears | i.sets


class Node:
    """A block in one call of its function."""

    def __init__(self, number, block, call):
        self.number, self.block, self.call = number, block, call
        self.after, self.before = [], []
        self.open = None  # barriers that a group of lanes has set on every path to the start


class Call:
    """Where a function was called from, and which functions are under way."""

    def __init__(self, caller=None, behind=None, entry=0):
        self.caller, self.behind, self.callees = caller, behind, {}
        self.entries = (caller.entries if caller else frozenset()) | {entry}

    def of(self, behind, entry):
        return self.callees.setdefault((behind, entry), Call(self, behind, entry))


class Flow:
    def __init__(self, function):
        self.blocks = self._split(function.code)
        self.at = {b.code[0].address: b for b in self.blocks}
        self._make_nodes()
        self._find_open_barriers()
        self.reached = {}

    # A block ends after a jump and after what lanes may be held at.
    @staticmethod
    def _split(code):
        starts = set()
        for i, following in zip(code, code[1:] + code[-1:]):
            starts.update(i.targets)
            if i.targets or i.name in WAITS + ENDS + JUMPS:
                starts.add(following.address)
        blocks, current = [], []
        for i in code:
            if i.address in starts and current:
                blocks.append(Block(len(blocks), current))
                current = []
            current.append(i)
        return blocks + [Block(len(blocks), current)]

    def _make_nodes(self):
        self.nodes, known = [], {}

        def node(block, call):
            if (block.number, call) not in known:
                known[block.number, call] = Node(len(self.nodes), block, call)
                self.nodes.append(known[block.number, call])
            return known[block.number, call]

        node(self.blocks[0], Call())
        for n in self.nodes:  # grows
            n.after = list(dict.fromkeys(node(b, c).number for b, c in self._after(n.block, n.call)))
        self._number_in_order()
        for n in self.nodes:
            for m in n.after:
                self.nodes[m].before.append(n.number)

    # Nodes before those that they lead to, but for loops: what is spread in this order is spread soon.
    def _number_in_order(self):
        order, seen, path = [], {0}, [(0, iter(self.nodes[0].after))]
        while path:
            n, after = path[-1]
            m = next((m for m in after if m not in seen), None)
            if m is None:
                order.append(n)
                path.pop()
            else:
                seen.add(m)
                path.append((m, iter(self.nodes[m].after)))
        number = {n: k for k, n in enumerate(reversed(order))}
        self.nodes = [self.nodes[n] for n in reversed(order)]
        for n in self.nodes:
            n.number, n.after = number[n.number], [number[m] for m in n.after]

    # What a block goes on with in a call: pairs of block and call.
    def _after(self, block, call):
        i = block.last
        following = self.blocks[block.number + 1:block.number + 2]
        to = [self.at[t] for t in i.targets if t in self.at]
        if i.name == "CALL" and to and to[0].number not in call.entries:  # not again if it calls itself
            return [(to[0], call.of(following[0], to[0].number))]
        if i.name == "RET" and call.behind:
            return [(call.behind, call.caller)] + [(b, call) for b in following if i.guard]
        conditional = i.guard or i.operation == "BRA.DIV" or re.match("!?U?P", " ".join(i.operands))
        if i.name in JUMPS + ENDS and not conditional:
            following = []
        return [(b, call) for b in (to if i.name in JUMPS + ENDS else []) + following]

    def _find_open_barriers(self):
        self.nodes[0].open = frozenset()
        todo = [0]
        while todo:
            n = self.nodes[todo.pop()]
            now = self.open_at_end(n)
            for m in (self.nodes[m] for m in n.after):
                met = now if m.open is None else m.open & now
                if met != m.open:
                    m.open = met
                    todo.append(m.number)

    @staticmethod
    def open_at_end(node):
        now = set(node.open)
        for i in node.block.code:
            if i.name == "BSSY":
                now.add(barrier_of(i))
            elif i.name == "BSYNC":
                now.discard(barrier_of(i))
        return frozenset(now)

    def reach(self, start, stops):
        """Nodes that lanes may run through from `start` on before they wait at a barrier of `stops`."""
        def after(n):
            b = self.nodes[n].block
            return () if b.barrier in stops or b.meets else self.nodes[n].after

        if (start, stops) not in self.reached:
            self.reached[start, stops] = closure([start], after)
        return self.reached[start, stops]

    def sides(self, node):
        """What the groups of lanes that part at the end of a node run through before they are one again."""
        common = self.open_at_end(node)
        while True:
            sides = [self.reach(n, common) for n in node.after]
            left = set().union(*(self.nodes[n].block.breaks for s in sides for n in s))
            if not left & common:
                return sides
            common -= left
