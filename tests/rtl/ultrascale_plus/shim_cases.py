# SPDX-License-Identifier: Apache-2.0
"""The shim of UltraScale+ between cocotbext-pcie's hard block, at a root complex, and software that plays the NIC."""

import itertools
import logging
import os
import random

import cocotb
from cocotb.triggers import RisingEdge, Timer, with_timeout
from cocotbext.pcie.core import RootComplex
from cocotbext.pcie.core.caps import PciCapId
from cocotbext.pcie.core.tlp import Tlp, TlpType
from cocotbext.pcie.core.utils import PcieId
from hard_block import BAR_PAGES, BAR_REGISTERS, BAR_WINDOW, HardBlock
from nic_side import NicSide

TLPS = int(os.environ.get("TLPS", "1500"))
LIMIT = dict(timeout_time=300 + TLPS, timeout_unit="us")  # of simulated time
MEMORY = 1 << 16
for _name in ("pcie", "shim_bench", "block"):
    logging.getLogger(f"cocotb.{_name}").setLevel(logging.ERROR)


class Bench:
    def __init__(self, dut):
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.rc = RootComplex()
        self.block = HardBlock(dut.block, dut.user_clk)
        self.rc.make_port().connect(self.block)
        self.rc.max_payload_size = 1  # 256 bytes
        self.nic = NicSide(dut, self.rng.random())

    async def start(self):
        await Timer(200, "ns")
        await self.rc.enumerate()
        self.pci = self.rc.find_device(self.block.function.pcie_id)
        await self.pci.enable_device()
        await self.pci.set_master()
        region = self.rc.mem_pool.alloc_region(MEMORY)
        self.base = region.get_absolute_address(0)
        return self

    def bar(self, number):
        return self.pci.bar_window[number]

    async def host_load(self, at, n):
        return bytes(await self.rc.mem_address_space.read(self.base + at, n))

    async def host_store(self, at, data):
        await self.rc.mem_address_space.write(self.base + at, data)

    def disturb(self, share):
        """Pauses on all eight streams."""
        self.nic.idle = self.nic.busy = share
        for end in (self.block.cq_source, self.block.rc_source, self.block.rq_sink, self.block.cc_sink):
            pauses = itertools.cycle([self.rng.random() < share for _ in range(997)])
            end.set_pause_generator(pauses if share else itertools.repeat(False))


@cocotb.test(**LIMIT)
async def enumerates(dut):
    """The root complex finds the function, sizes its BARs, and sees its capabilities; the pins follow its settings."""
    b = await Bench(dut).start()
    assert (b.pci.vendor_id, b.pci.device_id) == (0x1234, 0x6767)
    assert {n: b.pci.bar_size[n] for n in (0, 2, 4)} == {0: 1 << 16, 2: 1 << 21, 4: 1 << 21}
    assert await b.pci.msix_vec_count() == 16
    for code in (0, 1, 2, 3):
        control = await b.pci.capability_read_word(PciCapId.EXP, 8)
        await b.pci.capability_write_word(PciCapId.EXP, 8, control & ~0x70e0 | code << 5 | (5 - code) << 12)
        await Timer(40, "ns")
        assert (int(dut.nic_mps.value), int(dut.nic_mrrs.value)) == (128 << code, 128 << 5 - code)
    assert int(dut.nic_bus_id.value) == int(b.pci.pcie_id)
    assert int(dut.nic_bus_master.value) == 1
    await b.pci.clear_master()
    await Timer(40, "ns")
    assert int(dut.nic_bus_master.value) == 0


@cocotb.test(**LIMIT)
async def traffic(dut):
    """Reads and writes both ways at once, of any size and alignment, with pauses on all streams."""
    b = await Bench(dut).start()
    for share in itertools.cycle((0.0, 0.2, 0.5)):
        b.disturb(share)
        await together(*(host_side(b, bar, at) for bar in (BAR_WINDOW, BAR_PAGES) for at in range(0, 0x4000, 0x1000)),
                       *(dma_side(b, at) for at in range(0, MEMORY, MEMORY // 4)))
        if sum(b.nic.count.values()) >= TLPS:
            break
    assert min(b.nic.count.values()) > TLPS // 20, b.nic.count
    assert not b.nic.broken and not b.nic.unexpected
    dut._log.setLevel(logging.INFO)
    dut._log.info("TLPs: %s", b.nic.count)


async def together(*parts):
    for task in [cocotb.start_soon(p) for p in parts]:
        await with_timeout(task.join(), 100, "us")


async def host_side(b, bar, base, size=0x1000):
    """The host writes and reads a part of a BAR; every byte is known."""
    rng, window, memory = random.Random(b.rng.random()), b.bar(bar), b.nic.memory[bar]
    shadow = memory[base:base + size]
    for _ in range(8):
        n = rng.choice((1, 2, 3, 4, 7, 8, 16, 60, 64, 100, 256, 500))
        at = rng.randrange(size - n)
        data = rng.randbytes(n)
        await window.write(base + at, data)
        shadow[at:at + n] = data
        n = rng.choice((1, 3, 4, 8, 64, 128, 300))
        at = rng.randrange(size - n)
        same(await window.read(base + at, n), shadow[at:at + n], f"BAR {bar}, load at {at:#x}")
    same(memory[base:base + size], shadow, f"BAR {bar}")


async def dma_side(b, base, size=MEMORY // 4):
    """The NIC writes and reads a part of host memory, several reads at a time."""
    rng = random.Random(b.rng.random())
    shadow = bytearray(rng.randbytes(size))
    await b.host_store(base, bytes(shadow))
    for _ in range(3):
        for _ in range(4):
            n = rng.choice((1, 2, 4, 5, 8, 20, 64, 250, 256, 1000))
            at = rng.randrange(size - n)
            data = rng.randbytes(n)
            b.nic.write(b.base + base + at, data)
            shadow[at:at + n] = data
        places = [(rng.randrange(size - 800), rng.randrange(1, 800)) for _ in range(4)]
        reads = [cocotb.start_soon(b.nic.read(b.base + base + at, n)) for at, n in places]
        for read, (at, n) in zip(reads, places):
            got, status = await read.join()
            assert status == 0, f"DMA read: status {status}"
            same(got, shadow[at:at + n], f"DMA read at {at:#x}")
    same(await b.host_load(base, size), shadow, "host memory")


def same(got, expected, what):
    wrong = [i for i in range(len(expected)) if got[i:i + 1] != expected[i:i + 1]]
    assert len(got) == len(expected) and not wrong, f"{what}: {len(got)} bytes for {len(expected)}, wrong: {wrong[:20]}"


@cocotb.test(**LIMIT)
async def order(dut):
    """A completion does not pass a write that the NIC issued before it."""
    b = await Bench(dut).start()
    b.nic.on_read = lambda h: b.nic.memory[h["bar"]].__setitem__(slice(0, 8), b.nic.writes_issued.to_bytes(8, "little"))
    b.block.rq_sink.set_pause_generator(itertools.cycle([1] * 60 + [0] * 3))
    loads = 0
    for k in range(60):
        for i in range(4 * k, 4 * k + 4):
            b.nic.write(b.base + 8 * i, (i + 1).to_bytes(8, "little"))
        issued = int.from_bytes(await b.bar(BAR_REGISTERS).read(0, 8), "little")
        if issued:
            loads += 1
            last = int.from_bytes(await b.host_load(8 * (issued - 1), 8), "little")
            assert last == issued, f"the host learned of {issued} writes, but write {issued} was not there"
    assert loads > 20


@cocotb.test(**LIMIT)
async def interrupts(dut):
    """Messages are writes of the NIC: they arrive, after the data before them."""
    b = await Bench(dut).start()
    assert await b.pci.alloc_irq_vectors(16, 16) == 16
    await Timer(40, "ns")
    assert int(dut.nic_msix_enable.value) == 1 and int(dut.nic_msix_mask.value) == 0
    for k in range(16):
        table = bytes(b.nic.memory[BAR_REGISTERS][0x8000 + 16 * k:][:16])
        address, data = int.from_bytes(table[:8], "little"), table[8:12]
        event = b.pci.msi_vectors[k].event
        event.clear()
        b.nic.write(b.base + 8 * k, b"payload!")
        b.nic.write(address, data)
        await with_timeout(event.wait(), 20, "us")
        assert await b.host_load(8 * k, 8) == b"payload!"


@cocotb.test(**LIMIT)
async def errors(dut):
    """UR and poisoned data reach the NIC; data that the block lost ends without eop; tags and credits are limits."""
    b = await Bench(dut).start()
    _, status = await with_timeout(cocotb.start_soon(b.nic.read(0x7fff_0000_0000, 64)).join(), 100, "us")
    assert status == 1, "UR"
    await broken_requests(b)
    # 32 tags and one credit at a time: all reads end, and writes pass them.
    b.block.function.pcie_cap.extended_tag_field_enable = False
    b.block.read_credits = 1
    await b.host_store(0, bytes(range(256)) * 16)
    reads = [cocotb.start_soon(b.nic.read(b.base + 32 * i, 32)) for i in range(100)]
    await Timer(400, "ns")
    b.nic.write(b.base + 0x2000, b"passes")
    for i, read in enumerate(reads):
        got, status = await with_timeout(read.join(), 100, "us")
        assert (got, status) == ((bytes(range(256)) * 16)[32 * i:][:32], 0)
    assert await b.host_load(0x2000, 6) == b"passes"
    # No credit: no read leaves, but writes do.
    b.block.read_credits = 0
    await Timer(100, "ns")
    b.block.function.sent.clear()
    read = cocotb.start_soon(b.nic.read(b.base, 64))
    await Timer(200, "ns")
    b.nic.write(b.base + 0x3000, b"without credit")
    await Timer(1, "us")
    assert len(b.block.function.sent) == 1 and await b.host_load(0x3000, 14) == b"without credit"
    b.block.read_credits = 15
    got, status = await with_timeout(read.join(), 100, "us")
    assert (got, status) == (bytes(range(64)), 0)
    assert not b.nic.unexpected


@cocotb.test(**LIMIT)
async def completions(dut):
    """What the block says of completions: poisoned, without data, of no read. Reads after them are whole."""
    b = await Bench(dut).start()
    await b.host_store(0, bytes(range(256)))
    receive, change = b.block.upstream_recv, [None]

    async def changed(tlp):
        if change[0] and tlp.is_completion():
            change[0](tlp)
            change[0] = None
        await receive(tlp)

    def without_data(tlp):
        tlp.fmt_type, tlp.length, tlp.data = TlpType.CPL, 0, bytearray()

    b.block.upstream_port.rx_handler = changed
    for what, status, poisoned in ((lambda t: setattr(t, "ep", True), 0, 1), (without_data, 4, 0)):
        change[0] = what
        read = await b.nic.begin_read(b.base, 100)
        await with_timeout(read["done"].wait(), 100, "us")
        assert (read["status"], read["poisoned"]) == (status, poisoned)
        got, status = await with_timeout(cocotb.start_soon(b.nic.read(b.base, 100)).join(), 100, "us")
        assert (got, status) == (bytes(range(100)), 0)
    request = Tlp()
    request.fmt_type, request.requester_id, request.tag = TlpType.MEM_READ, b.block.function.pcie_id, 77
    request.set_addr_be(b.base, 16)
    stray = Tlp.create_completion_data_for_tlp(request, PcieId(0, 0, 0))
    stray.set_data(bytes(16))
    stray.byte_count = 16
    await receive(stray)
    got, status = await with_timeout(cocotb.start_soon(b.nic.read(b.base, 100)).join(), 100, "us")
    assert (got, status) == (bytes(range(100)), 0)
    assert [h["tag"] for h in b.nic.unexpected] == [0x3ff]


async def broken_requests(b):
    """The block loses the data of a write and of a completion; what comes next is whole."""
    source = b.block.cq_source
    plain, uncorrected = source.send, [0]

    async def lose(frame):
        frame.discontinue = len(frame.data) > 4
        await plain(frame)

    async def count():
        while True:
            await RisingEdge(b.dut.user_clk)
            uncorrected[0] += int(b.dut.block.cfg_err_uncor.value)

    cocotb.start_soon(count())
    for n in (4, 8, 200):
        before = len(b.nic.broken)
        source.send = lose
        await b.bar(BAR_WINDOW).write(0x100, b"x" * n)
        await Timer(2, "us")
        source.send = plain
        await b.bar(BAR_WINDOW).write(0x400, b"whole after broken")
        assert await b.bar(BAR_WINDOW).read(0x400, 18) == b"whole after broken"
        assert len(b.nic.broken) == before + 1, n
        assert b.nic.memory[BAR_WINDOW][0x100:0x100 + n] == bytes(n)
    assert uncorrected[0] == 3


@cocotb.test(**LIMIT)
async def reset(dut):
    """A function-level reset: the handshake, and 32 credits again although requests were dropped."""
    b = await Bench(dut).start()
    answer, b.nic.answer = b.nic.answer, lambda h: None  # reads are swallowed
    lost = [cocotb.start_soon(swallowed(b.bar(BAR_WINDOW), 8 * i)) for i in range(20)]
    await Timer(2, "us")
    control = await b.pci.capability_read_word(PciCapId.EXP, 8)
    await b.pci.capability_write_word(PciCapId.EXP, 8, control | 0x8000)
    while b.block.function.in_reset or not b.nic.resets:
        await Timer(100, "ns")
    for task in lost:  # the root complex has their tags again
        await task.join()
    held = []
    b.nic.answer = held.append
    await b.pci.config_write_word(4, 6)
    b.nic.memory[BAR_WINDOW][:512] = bytes(range(256)) * 2
    reads = [cocotb.start_soon(b.bar(BAR_WINDOW).read(8 * i, 8)) for i in range(48)]
    await Timer(3, "us")
    assert len(held) == 32, f"{len(held)} credits after the reset"
    b.nic.answer = answer
    for h in held:
        answer(h)
    for i, read in enumerate(reads):
        assert await with_timeout(read.join(), 100, "us") == (bytes(range(256)) * 2)[8 * i:][:8]


async def swallowed(window, at):
    """A read that is never answered."""
    try:
        await window.read(at, 8, timeout=5000, timeout_unit="ns")
    except Exception as e:  # cocotbext-pcie raises a plain Exception
        assert "Timeout" in str(e) or "timed out" in str(e), e
    else:
        raise AssertionError("a swallowed read was answered")
