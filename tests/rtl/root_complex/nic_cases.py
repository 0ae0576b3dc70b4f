# SPDX-License-Identifier: Apache-2.0
"""The NIC at a root complex that this project did not write: cocotbext-pcie (docs/rtl-tests.md)."""

import random
import struct

import cocotb
from cocotb.triggers import Timer, with_timeout
from cocotbext.pcie.core.caps import PciCapId
from cocotbext.pcie.core.tlp import TlpType
from machine import DOMAIN, EVENT_VECTOR, NOTE_VECTOR, RING_LOG2, SEGMENT, WINDOW_DOMAIN, M, link_up, machine, until
from nic_function import BAR_PAGES, BAR_REGISTERS, BAR_WINDOW

OP_PUT, OP_GET, OP_ATOMIC, OP_SEND = 1, 4, 6, 7
ST_DISABLED = 9
NOTIFY_REQUESTER, NOTIFY_COMPLETER, ACK = 1 << 4, 1 << 5, 1 << 7
LIMIT = dict(timeout_time=20, timeout_unit="ms")  # of simulated time


def some_bytes(rng, n):
    return bytes(rng.getrandbits(8) for _ in range(n))


@cocotb.test(**LIMIT)
async def enumerates(dut):
    """The root complex finds the NIC, sizes its BARs, gives them addresses; the registers after them answer."""
    for c in await machine(dut):
        assert (c.pci.vendor_id, c.pci.device_id) == (0x1234, 0x6767)
        sizes = {bar: c.pci.bar_size[bar] for bar in (BAR_REGISTERS, BAR_WINDOW, BAR_PAGES)}
        assert sizes == {BAR_REGISTERS: 1 << 16, BAR_WINDOW: 1 << 21, BAR_PAGES: 1 << 21}
        assert await c.pci.msix_vec_count() == 16
        assert 128 << await read_size(c, 5) == 256, "MPS"
        identity = await c.read(M["REG_ID"])
        assert struct.pack("<I", identity & 0xffffffff) == b"GGAS"
        assert await c.read(M["REG_SERIAL"]) == 0x0123_4567_89ab_cde0 + c.node
        assert await c.read(M["REG_CLOCK"]) == 125_000
        assert await c.read(M["REG_NODE"]) == c.node
        assert await c.pci.bar_window[BAR_REGISTERS].read_dword(4) == identity >> 32, "a register by halves"


async def read_size(computer, low):
    """MPS (5) or MRRS (12) in Device Control, as its code."""
    control = await computer.pci.capability_read_word(PciCapId.EXP, 8)
    return control >> low & 7


@cocotb.test(**LIMIT)
async def stores_and_loads(dut):
    """Stores and loads of any size and alignment, both ways, also beyond MPS, MRRS and 4 KB."""
    both = await machine(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    shadow = [bytearray(SEGMENT), bytearray(SEGMENT)]
    for k in range(120):
        c = both[k & 1]
        target = rng.randrange(2)
        size = rng.choice((1, 2, 3, 4, 7, 8, 16, 64, 100, 256, 1000, 3000))
        at = rng.randrange(0x2000 - 4) if rng.random() < 0.7 else SEGMENT - size
        data = some_bytes(rng, size)
        await c.window.write(c.at(target, at), data)
        shadow[target][at:at + size] = data
        assert await c.quiet() == 0
        at, size = rng.randrange(0x2000), rng.choice((1, 4, 5, 64, 300, 2000))
        got = await c.window.read(c.at(target, at), size)
        assert got == shadow[target][at:at + size], f"load of {size} at {at:#x}"
    for c in both:
        assert await c.load(c.memory["segment"], SEGMENT) == shadow[c.node]
        assert await c.read(M["REG_SMFU_LOAD_ERRORS"]) == 0
        for event in ("MALFORMED_TLP", "UNSUPPORTED_TLP", "UNEXPECTED_CPL", "BAD_PACKET"):
            assert await c.events(event) == 0, event


@cocotb.test(**LIMIT)
async def many_at_once(dut):
    """Loads of both computers under way together, with completions cut at every read completion boundary."""
    both = await machine(dut)
    rng = random.Random(cocotb.RANDOM_SEED + 1)
    data = [some_bytes(rng, 0x4000) for _ in both]
    for c in both:
        c.rc.split_on_all_rcb = c.node == 0
        await c.store(c.memory["segment"], data[c.node])
    places = [(both[k & 1], rng.randrange(2), rng.randrange(0x3000), rng.randrange(1, 1500)) for k in range(60)]
    loads = [cocotb.start_soon(c.window.read(c.at(target, at), size)) for c, target, at, size in places]
    for load, (_, target, at, size) in zip(loads, places):
        assert await with_timeout(load.join(), 2, "ms") == data[target][at:at + size]


@cocotb.test(**LIMIT)
async def interrupts(dut):
    """A record in host memory, then the message of its vector; Function Mask and the vector's mask hold it back."""
    c = (await machine(dut))[0]
    assert await c.pci.alloc_irq_vectors(16, 16) == 16
    for vector in range(16):
        data = await c.pci.bar_window[BAR_REGISTERS].read_dword(0x8000 + 16 * vector + 8)
        assert data == c.pci.msi_vectors[vector].data
    event = c.pci.msi_vectors[EVENT_VECTOR].event

    async def head():
        return await c.read(M["REG_EVQ_HEAD"])

    async def control(mask):
        word = await c.pci.capability_read_word(PciCapId.MSIX, 2)
        await c.pci.capability_write_word(PciCapId.MSIX, 2, word & ~0x4000 | mask << 14)

    for _ in range(3):
        await c.write(M["REG_EVQ_TAIL"], await head())
        before = await head()
        event.clear()
        await unmapped_store(c)
        await with_timeout(event.wait(), 50, "us")
        record = await c.load(c.memory["events"] + 16 * (before % (1 << RING_LOG2)), 16)
        assert record[7] == M["EV_STORE_UNMAPPED"], record.hex()
        assert await head() == before + 1
    await c.write(M["REG_EVQ_TAIL"], await head())
    await control(1)
    event.clear()
    await unmapped_store(c)
    await Timer(10, "us")
    assert not event.is_set(), "a message in spite of Function Mask"
    assert await c.read(M["REG_MSIX_PBA"]) == 1 << EVENT_VECTOR
    await control(0)
    await with_timeout(event.wait(), 50, "us")
    assert await c.read(M["REG_MSIX_PBA"]) == 0


async def unmapped_store(c):
    await c.map_nodes(1)
    await c.window.write_dword(c.at(1, 0), 1)
    await c.map_nodes(2)


@cocotb.test(**LIMIT)
async def one_sided(dut):
    """Puts, gets and atomics by descriptors: DMA at both ends; a notification wakes its reader by MSI-X."""
    both = await machine(dut)
    for c in both:
        await c.set_up_rma()
    c, other = both
    rng = random.Random(cocotb.RANDOM_SEED + 2)
    assert await c.pci.alloc_irq_vectors(16, 16) == 16
    local, remote = bytearray(some_bytes(rng, 0x8000)), bytearray(some_bytes(rng, 0x8000))
    await c.store(c.memory["segment"], local)
    await other.store(other.memory["segment"], remote)
    remotely = 0
    for size in (1, 8, 63, 256, 1000, 5000):
        a, b = rng.randrange(0x1000), 0x3000 + rng.randrange(0x1000)
        await c.post(OP_PUT, 1, size, a, b, flags=ACK)
        remote[b:b + size] = local[a:a + size]
        remotely += 1
        await until(lambda count=remotely: done(c, count), what=f"put of {size}")
        await c.post(OP_GET, 1, size, b, a + 0x5000)
        local[a + 0x5000:a + 0x5000 + size] = remote[b:b + size]
        remotely += 1
        await until(lambda count=remotely: done(c, count), what=f"get of {size}")
    assert await c.load(c.memory["segment"], 0x8000) == local
    assert await other.load(other.memory["segment"], 0x8000) == remote

    event = c.pci.msi_vectors[NOTE_VECTOR].event
    event.clear()
    await c.pages.write(0x28, struct.pack("<Q", 0))  # armed; none seen yet
    await c.post(OP_PUT, 1, 64, 0, 0, cookie=0xc00c1e, flags=NOTIFY_REQUESTER | ACK)
    await with_timeout(event.wait(), 100, "us")
    assert await c.word(c.memory["notes"]) == 0xc00c1e
    assert (await c.status())[3] == 0


@cocotb.test(**LIMIT)
async def puts_alone(dut):
    """A NIC without gets, atomics, messages and work queues: puts arrive, the others are refused, and all goes on."""
    both = await machine(dut)
    for c in both:
        await c.set_up_rma()
    c, other = both
    without = await c.read(M["REG_BUILD"]) >> 27 & 0xf
    assert without == 0b0111, without
    data = some_bytes(random.Random(cocotb.RANDOM_SEED + 3), 3000)
    await c.store(c.memory["segment"], data)
    for n, (op, second) in enumerate(((OP_GET, None), (OP_ATOMIC, [1, 0, 0, 0]), (OP_SEND, [0, 0, 0, 0]))):
        await c.post(OP_PUT, 1, 3000, 0, 0x3001, flags=ACK)
        await c.post(op, 1, 8, 0x1000, 0x1000, flags=ACK, second=second)
        await until(lambda errors=n + 1: failed(c, errors), what=f"refusal of operation {op}")
        assert (await c.status())[3] >> 24 == ST_DISABLED
        assert await other.events("CONTEXT_OFF") == n + 1
        assert await other.load(other.memory["segment"] + 0x3001, 3000) == data
    await c.write(M["REG_CONTEXT_CTRL"](1), 1 | 2 | 4 << 16 | DOMAIN << 32)
    await c.pages.write(0x2010, struct.pack("<I", 1))  # doorbell of its work queue
    await until(lambda: counted(c, "BAD_DESCRIPTOR", 1), what="refusal of a doorbell")  # register reads do not wait for pages


async def counted(computer, name, events):
    return await computer.events(name) == events


async def done(computer, operations):
    return (await computer.status())[2] == operations


@cocotb.test(**LIMIT)
async def errors(dut):
    """What cannot be done: by the NIC's rules, and because a host answers its reads with UR or CA."""
    both = await machine(dut)
    c, other = both
    # UR: only the driver's BAR says so, and only to what no register is.
    try:
        await c.read(0x0050)
        raise RuntimeError("a register that is none was read")
    except Exception as e:  # cocotbext-pcie raises a plain Exception
        assert "Unsuccessful completion" in str(e), e
    assert await c.events("UNSUPPORTED_TLP") == 1
    # A window load that its target's host refuses reads as all ones; the events say why.
    for base, reason in ((0x7fff_0000_0000, "UR"), (None, "CA")):
        if base is None:
            base = other.allocate("broken", 4096)
            other.regions["broken"].read = broken
        await other.give_out(base)
        before = await other.events("TARGET_HOST_ERROR")
        assert await c.window.read(c.at(1, 0), 8) == b"\xff" * 8, reason
        assert await other.events("TARGET_HOST_ERROR") == before + 1, reason
    await other.give_out(other.memory["segment"])
    assert await c.events("LOAD_REMOTE_ERROR") == 2
    # Another domain's window reads all ones, too.
    await c.map_nodes(2, domain=WINDOW_DOMAIN + 1)
    assert await c.window.read(c.at(1, 0), 8) == b"\xff" * 8
    assert await c.events("LOAD_REMOTE_ERROR") == 3
    await c.map_nodes(2)
    # A put whose source the host does not have ends with an error of its context.
    for x in both:
        await x.set_up_rma()
    await c.store(c.memory["table"], struct.pack("<QQ", 0x7fff_0000_0000 | 7, DOMAIN))
    await c.post(OP_PUT, 1, 8, 0, 0x1000, flags=ACK)
    await until(lambda: failed(c), what="error of a put")
    assert await c.events("RMA_HOST_ERROR") == 1
    # All goes on.
    await c.window.write(c.at(1, 0x100), b"still alive")
    assert await c.window.read(c.at(1, 0x100), 11) == b"still alive"


async def broken(address, length, **_):
    raise RuntimeError("this memory is broken")


async def failed(computer, errors=1):
    return (await computer.status())[3] & 0xffffff >= errors


@cocotb.test(**LIMIT)
async def configuration(dut):
    """What a driver changes: MPS and MRRS, bus master, function-level reset. The shim checks every request."""
    both = await machine(dut)
    c, other = both
    data = some_bytes(random.Random(3), 4096)
    await c.store(c.memory["segment"], data)
    for payload, request in ((0, 0), (1, 2), (0, 5)):
        await device_control(c, 0x70e0, payload << 5 | request << 12)
        c.function.sent.clear()
        await other.window.write(other.at(0, 0x1000), data[:1000])
        assert await other.quiet() == 0
        assert await other.window.read(other.at(0, 0), 1000) == data[:1000]
        writes = [t for t in c.function.sent if t.fmt_type in (TlpType.MEM_WRITE, TlpType.MEM_WRITE_64)]
        longest = max(4 * t.length for t in writes)
        assert longest == min(128 << payload, 256)
    # Without bus master: the other node reads all ones, its stores are reported, and no request leaves (the shim).
    await c.pci.clear_master()
    await Timer(100, "ns")
    c.function.sent.clear()
    assert await other.window.read(other.at(0, 0), 8) == b"\xff" * 8
    await other.window.write(other.at(0, 0), bytes(8))
    assert await other.quiet() != 0
    assert await c.read(M["REG_NODE"]) == 0
    assert all(t.is_completion() for t in c.function.sent)
    await c.pci.set_master()
    await other.quiet()
    assert await other.window.read(other.at(0, 0), 8) == data[:8]
    # Function-level reset, then everything again.
    await device_control(c, 0, 0x8000)
    await until(lambda: out_of_reset(c), what="function-level reset")
    await c.pci.config_write_word(4, 6)
    assert await c.read(M["REG_SMFU_CTRL"]) == 0
    await device_control(c, 0x70e0, 1 << 5 | 2 << 12)
    await c.set_up()
    await other.write(M["REG_LINK_CTRL"], 1 | 32 << 8 | 2048 << 16)
    for x in both:
        await until(lambda x=x: link_up(x), what="link up again")
    await other.quiet()
    await other.window.write(other.at(0, 0x80), b"after the reset")
    assert await other.window.read(other.at(0, 0x80), 15) == b"after the reset"
    assert await c.events("LINK_UP") == 1 and await other.events("LINK_UP") == 2


async def device_control(computer, clear, put):
    control = await computer.pci.capability_read_word(PciCapId.EXP, 8)
    await computer.pci.capability_write_word(PciCapId.EXP, 8, control & ~clear | put)


async def out_of_reset(computer):
    return not computer.function.in_reset
