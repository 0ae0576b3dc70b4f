# SPDX-License-Identifier: Apache-2.0
"""Plays the NIC at the TLP boundary of the shim: memory after three BARs, and a DMA engine with the NIC's tags."""

import random

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import Event, RisingEdge
from nic_function import FIELDS, pack, unpack

MRD, MWR, CPL, CPLD = 0, 1, 2, 3
TAGS = 512
STREAMS = ("rx_req", "rx_cpl", "tx_req", "tx_cpl")


class Stream:
    """The signals of one stream."""

    def __init__(self, dut, name):
        for signal in ("valid", "ready", "sop", "eop", "hdr", "data"):
            setattr(self, signal, getattr(dut, f"{name}_{signal}"))


class NicSide:
    def __init__(self, dut, seed):
        self.dut, self.rng = dut, random.Random(seed)
        self.beat = len(dut.rx_req_data) // 8
        self.idle = self.busy = 0.0  # share of cycles without an offer; without ready
        self.memory = {0: bytearray(1 << 16), 2: bytearray(1 << 21), 4: bytearray(1 << 21)}
        self.out = {"tx_req": Queue(), "tx_cpl": Queue()}
        self.tags, self.reads = list(range(TAGS)), {}
        self.tag_free = Event()
        self.broken, self.unexpected, self.resets = [], [], 0
        self.count = dict.fromkeys(STREAMS, 0)
        self.writes_issued = 0  # DMA writes that the shim took
        self.on_read = None     # called before a read of a BAR is answered
        for name in ("rx_req_ready", "rx_cpl_ready", "tx_req_valid", "tx_cpl_valid", "np_credit", "nic_flr_done"):
            getattr(dut, name).setimmediatevalue(0)
        self.owed = self.inside = 0  # credits; reads of the host that hold one
        cocotb.start_soon(self.receive("rx_req", self.request))
        cocotb.start_soon(self.receive("rx_cpl", self.completion))
        cocotb.start_soon(self.drive("tx_req"))
        cocotb.start_soon(self.drive("tx_cpl"))
        cocotb.start_soon(self.pins())

    # ---- pins
    async def pins(self):
        dut = self.dut
        reset = 0  # cycles left
        while True:
            await RisingEdge(dut.user_clk)
            dut.np_credit.value = int(self.owed > 0)
            if self.owed:
                self.owed, self.inside = self.owed - 1, self.inside - 1
            if int(dut.nic_flr.value) and not int(dut.nic_flr_done.value):
                reset = reset + 1
                dut.nic_flr_done.value = int(reset > 20)
            elif not int(dut.nic_flr.value) and int(dut.nic_flr_done.value):
                dut.nic_flr_done.value, reset = 0, 0
                self.resets += 1
                self.owed = self.inside = 0

    # ---- streams
    async def receive(self, name, use):
        s, clk = Stream(self.dut, name), RisingEdge(self.dut.user_clk)
        header, data, inside = None, b"", False
        while True:
            await clk
            if int(s.valid.value) and int(s.ready.value):
                if int(s.sop.value):
                    if inside:
                        self.broken.append((name, header))
                    header, data = unpack(int(s.hdr.value)), b""
                else:
                    assert inside, f"{name}: a beat outside a TLP"
                data += int(s.data.value).to_bytes(self.beat, "little")
                inside = not int(s.eop.value)
                if not inside:
                    self.count[name] += 1
                    length = 4 * header["len_dw"] if header["kind"] in (MWR, CPLD) else 0
                    assert len(data) == max(self.beat, -(-length // self.beat) * self.beat), f"{name}: {header}"
                    use(header, data[:length])
            s.ready.value = int(self.rng.random() >= self.busy)

    async def drive(self, name):
        s, clk = Stream(self.dut, name), RisingEdge(self.dut.user_clk)
        while True:
            if self.out[name].empty():
                s.valid.value = 0
                await clk  # a signal is written just after an edge, or it would come a cycle late
                continue
            header, data, taken = self.out[name].get_nowait()
            beats = max(1, -(-len(data) // self.beat))
            for i in range(beats):
                while self.rng.random() < self.idle:
                    s.valid.value = 0
                    await clk
                part = data[self.beat * i:self.beat * (i + 1)]
                s.sop.value, s.eop.value, s.valid.value = int(i == 0), int(i == beats - 1), 1
                s.hdr.value = header
                s.data.value = int.from_bytes(part, "little")
                await clk
                while not int(s.ready.value):
                    await clk
            self.count[name] += 1
            if taken:
                taken()

    # ---- requests of the host
    def request(self, h, data):
        if h["kind"] == MRD:
            self.inside += 1
            assert self.inside <= 32, "more requests than credits"
            if self.on_read:
                self.on_read(h)
            self.answer(h)
        elif h["kind"] == MWR:
            memory = self.memory[h["bar"]]
            for at in enabled(h):
                memory[h["addr"] + at] = data[at]

    def answer(self, h):
        """Completions, cut at 128 bytes of the address and at random."""
        memory, places = self.memory[h["bar"]], enabled(h)
        first = h["addr"] + (places[0] if places else 0)
        end = h["addr"] + (places[-1] + 1 if places else 1)
        common = dict(requester=h["requester"], completer=int(self.dut.nic_bus_id.value), tag=h["tag"], attr=h["attr"],
                      bar=7)
        at = first
        while at < end:
            border = min(end, (at // 128 + self.rng.choice((1, 1, 2))) * 128)
            low, high = at & ~3, -(-border // 4) * 4
            word = pack(kind=CPLD, len_dw=(high - low) // 4, byte_count=end - at, lower_addr=at & 0x7f, **common)
            self.out["tx_cpl"].put_nowait((word, bytes(memory[low:high]), self.credit if border == end else None))
            at = border

    def credit(self):
        self.owed += 1

    # ---- DMA
    def completion(self, h, data):
        read = self.reads.get(h["tag"])
        if read is None or h["tag"] >= TAGS:
            self.unexpected.append(h)
            return
        read["got"] += data[h["lower_addr"] & 3:][:h["byte_count"]]
        if h["status"] or h["kind"] == CPL:
            read["status"] = h["status"]
        elif h["byte_count"] > len(data) - (h["lower_addr"] & 3):
            return
        read["poisoned"] = h["poisoned"]
        del self.reads[h["tag"]]
        self.tags.append(h["tag"])
        self.tag_free.set()
        read["done"].set()

    async def read(self, address, size):
        """Bytes of the host; status of the completion."""
        got, status = b"", 0
        parts = [await self.begin_read(at, n) for at, n in pieces(address, size, int(self.dut.nic_mrrs.value))]
        for part in parts:
            await part["done"].wait()
            got += part["got"]
            status |= part["status"]
        return got, status

    async def begin_read(self, address, size):
        while not self.tags or not int(self.dut.np_ok.value):
            if self.tags:
                await RisingEdge(self.dut.user_clk)
            else:
                self.tag_free.clear()
                await self.tag_free.wait()
        tag = self.tags.pop(self.rng.randrange(len(self.tags)))
        read = self.reads[tag] = dict(got=b"", status=0, poisoned=0, done=Event())
        header, _ = request_header(address, size)
        word = pack(kind=MRD, bar=7, tag=tag, requester=int(self.dut.nic_bus_id.value), **header)
        self.out["tx_req"].put_nowait((word, b"", None))
        return read

    def write(self, address, data, poisoned=0):
        for at, n in pieces(address, len(data), min(int(self.dut.nic_mps.value), 512)):
            header, shift = request_header(at, n)
            part = bytes(shift) + data[at - address:at - address + n]
            part += bytes(-len(part) % 4)
            word = pack(kind=MWR, bar=7, requester=int(self.dut.nic_bus_id.value), poisoned=poisoned, **header)
            self.out["tx_req"].put_nowait((word, part, self.issued))

    def issued(self):
        self.writes_issued += 1


def enabled(h):
    """Offsets of the bytes that a request has enabled."""
    n = 4 * h["len_dw"]
    last = h["last_be"] if h["len_dw"] > 1 else h["first_be"]
    return [i for i in range(n) if (h["first_be"] if i < 4 else last if i >= n - 4 else 15) >> i % 4 & 1]


def pieces(address, size, limit):
    """Cuts at the limit and at 4 KB."""
    at = address
    while at < address + size:
        n = min(limit - at % limit, address + size - at, 4096 - at % 4096)
        yield at, n
        at += n


def request_header(address, size):
    shift, end = address % 4, address + size
    dws = (shift + size + 3) // 4
    first, last = 15 << shift & 15, 15 >> -end % 4
    if dws == 1:
        first, last = first & last, 0
    return dict(addr=address & ~3, len_dw=dws, first_be=first, last_be=last), shift


assert sum(bits for _, bits in FIELDS) == 159
