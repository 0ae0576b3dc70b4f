# SPDX-License-Identifier: Apache-2.0
"""Two computers for the tests: a root complex of cocotbext-pcie each, with a NIC on its bus; and their driver."""

import logging
import os
import pathlib
import re
import struct

from cocotb.triggers import Timer
from cocotbext.pcie.core import Device, RootComplex
from nic_function import BAR_PAGES, BAR_REGISTERS, BAR_WINDOW, NicFunction

SEGMENT = 1 << 20        # bytes that each node exports; node n is at n · SEGMENT of the window
RING_LOG2 = 4            # records of the event ring
EVENT_VECTOR, NOTE_VECTOR = 3, 5
DOMAIN = 7               # of the contexts
EXPORT, WINDOW_DOMAIN = 5, 0x0ddd


def macros(path):
    """GGAS_* of the generated header: name → value, or function of an index."""
    found = {}
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        if m := re.match(r"#define GGAS_(\w+)\((?:i)\)\s+\((0x\w+) \+ (0x\w+) \* \(i\)\)", line):
            found[m[1]] = lambda i, base=int(m[2], 16), stride=int(m[3], 16): base + stride * i
        elif m := re.match(r"#define GGAS_(\w+)\s+\(?(0x[0-9a-f]+|\d+)", line):
            found[m[1]] = int(m[2], 0)
    return found


M = macros(os.environ["REGISTERS_HEADER"])
logging.getLogger("cocotb.pcie").setLevel(logging.ERROR)  # else each access of configuration space is reported


def attach(_node, slot):
    """A device for a root complex, and its function: the NIC of a slot."""
    function = NicFunction(slot)
    bus = Device()
    bus.append_function(function)
    return bus, function


class Computer:
    """Root complex, memory and NIC of one node."""

    def __init__(self, node, slot):
        self.node, self.slot = node, slot
        self.rc = RootComplex()
        self.bus, self.function = attach(node, slot)
        self.rc.make_port().connect(self.bus)
        self.rc.max_payload_size = 1  # 256 bytes
        self.pci = None           # the NIC as the root complex found it
        self.memory, self.regions = {}, {}  # name → bus address, region of cocotbext-axi
        self.slots = 0            # descriptors written to context 0

    # ---- memory
    def allocate(self, name, size):
        self.regions[name] = self.rc.mem_pool.alloc_region(size)
        self.memory[name] = self.regions[name].get_absolute_address(0)
        return self.memory[name]

    async def load(self, address, size):
        return bytes(await self.rc.mem_address_space.read(address, size))

    async def store(self, address, data):
        await self.rc.mem_address_space.write(address, data)

    async def word(self, address):
        return struct.unpack("<Q", await self.load(address, 8))[0]

    # ---- registers and window
    async def read(self, register):
        return await self.pci.bar_window[BAR_REGISTERS].read_qword(register)

    async def write(self, register, value):
        await self.pci.bar_window[BAR_REGISTERS].write_qword(register, value)

    async def events(self, name):
        return await self.read(M["REG_EVENT_COUNT"](M["EV_" + name]))

    def at(self, node, offset):
        """Window offset of a byte of a node's segment."""
        return node * SEGMENT + offset

    @property
    def window(self):
        return self.pci.bar_window[BAR_WINDOW]

    @property
    def pages(self):
        return self.pci.bar_window[BAR_PAGES]

    async def quiet(self):
        return await self.pages.read_dword(0)

    # ---- driver
    async def find(self):
        await self.rc.enumerate()
        self.pci = self.rc.find_device(self.function.pcie_id)
        assert self.pci is not None, "the NIC was not found"
        await self.pci.enable_device()
        await self.pci.set_master()

    async def set_up(self):
        """Everything but memory: node, link, window, event ring."""
        for register, value in (
                ("NODE", self.node), ("LINK_PEER", 1 - self.node | 1 << 16), ("SMFU_MASK", 0xf * SEGMENT),
                ("SMFU_TIMEOUT", 40 | 10 << 16), ("EVQ_BASE", self.memory["events"]), ("EVQ_TAIL", 0),
                ("EVQ_CTRL", 1 | RING_LOG2 << 8 | EVENT_VECTOR << 16), ("SMFU_CTRL", 7)):
            await self.write(M["REG_" + register], value)
        await self.map_nodes(2)
        await self.give_out(self.memory["segment"])

    async def map_nodes(self, nodes, domain=WINDOW_DOMAIN):
        """The window reaches so many nodes, in the name of a domain."""
        await self.write(M["REG_SMFU_SHIFT"], 20 | nodes << 16 | EXPORT << 32 | domain << 48)

    async def give_out(self, base):
        await self.write(M["REG_EXPORT_BASE"](EXPORT), base)
        await self.write(M["REG_EXPORT_SIZE"](EXPORT), SEGMENT)
        await self.write(M["REG_EXPORT_ACCESS"](EXPORT), WINDOW_DOMAIN | 7 << 16)

    async def set_up_rma(self):
        """Context 0, its rings, and a table that maps page n of class 0 to page n of the segment."""
        table = b"".join(struct.pack("<QQ", self.memory["segment"] + 4096 * i | 7, DOMAIN) for i in range(256))
        await self.store(self.memory["table"], table)
        await self.write(M["REG_ATU_PIECE"](0), self.memory["table"])
        await self.write(M["REG_ATU_TABLE0"], 256)
        await self.write(M["REG_RMA_TIMEOUT"], 60 | 10 << 16)
        await self.write(M["REG_RMA_CTRL"], 3 | 2 << 8 | 1 << 16)
        await self.write(M["REG_CONTEXT_NOTIFY"](0), self.memory["notes"])
        await self.write(M["REG_CONTEXT_STATUS"](0), self.memory["status"])
        await self.write(M["REG_CONTEXT_CTRL"](0), 1 | 4 | 8 | NOTE_VECTOR << 4 | 6 << 8 | DOMAIN << 32)

    async def post(self, op, node, size, w1, w2, cookie=0, flags=0, second=None):
        """A descriptor of context 0. flags: bits 4 notify requester … 8 strong."""
        words = [op | flags | node << 16 + 8 | size << 40, w1, w2, cookie] + (second or [])
        for at in range(0, len(words), 4):
            await self.pages.write(0x1000 + 32 * (self.slots % 16), struct.pack("<4Q", *words[at:at + 4]))
            self.slots += 1

    async def status(self):
        """Status block of context 0: consumed, locally complete, remotely complete, errors (status above bit 24)."""
        return struct.unpack("<4I", await self.load(self.memory["status"], 16))


async def until(condition, microseconds=200, what="condition"):
    """Waits for an event of the simulated time; fails after its bound."""
    for _ in range(microseconds * 2):
        if await condition():
            return
        await Timer(500, "ns")
    raise AssertionError(f"{what}: not within {microseconds} µs")


async def machine(dut):
    """Both computers, enumerated, memory given, links up."""
    both = [Computer(0, dut.nic0), Computer(1, dut.nic1)]
    await Timer(200, "ns")
    for c in both:
        await c.find()
        for name in ("segment", "events", "table", "notes", "status"):
            size = SEGMENT if name == "segment" else 4096
            c.allocate(name, size)
            await c.store(c.memory[name], bytes(size))
        await c.set_up()
    for c in both:
        await until(lambda c=c: link_up(c), what="link up")
    return both


async def link_up(computer):
    return await computer.read(M["REG_LINK_STATUS"]) & 3 == M["LINK_STATE_UP"]
