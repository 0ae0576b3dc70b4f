# SPDX-License-Identifier: Apache-2.0
"""The shim of docs/tlp-boundary.md: a PCIe function of cocotbext-pcie whose requests and completions are a NIC's.

Configuration space, BAR decode and the MSI-X capability are here (that is, cocotbext-pcie's); everything after a BAR
is the RTL, reached through the tlp_port of its nic_slot.
"""

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import Edge, Timer
from cocotbext.pcie.core import Endpoint
from cocotbext.pcie.core.caps import MsixCapability
from cocotbext.pcie.core.tlp import CplStatus, Tlp, TlpAttr, TlpType
from cocotbext.pcie.core.utils import PcieId

KINDS = {TlpType.MEM_READ: 0, TlpType.MEM_READ_64: 0, TlpType.MEM_WRITE: 1, TlpType.MEM_WRITE_64: 1,
         TlpType.CPL: 2, TlpType.CPL_DATA: 3}
# Fields of ggas_pkg::tlp_hdr_t, low bits first.
FIELDS = (("poisoned", 1), ("attr", 3), ("lower_addr", 7), ("byte_count", 13), ("status", 3), ("completer", 16),
          ("requester", 16), ("tag", 10), ("last_be", 4), ("first_be", 4), ("len_dw", 11), ("addr", 64), ("bar", 3),
          ("kind", 4))
BAR_REGISTERS, BAR_WINDOW, BAR_PAGES = 0, 2, 4
WINDOW_BYTES = 1 << 21


def pack(**values):
    word, at = 0, 0
    for name, bits in FIELDS:
        value = values.get(name, 0)
        assert value >> bits == 0, f"{name}: {value:#x} has more than {bits} bits"
        word |= value << at
        at += bits
    return word


def unpack(word):
    values = {}
    for name, bits in FIELDS:
        values[name] = word & ((1 << bits) - 1)
        word >>= bits
    return values


def payload(tlp):
    return int.from_bytes(tlp.get_data() or b"", "little")


class NicFunction(Endpoint):
    """One NIC (`slot`: its nic_slot) as a function on a bus."""

    def __init__(self, slot):
        super().__init__()
        self.slot = slot
        self.vendor_id, self.device_id, self.class_code = 0x1234, 0x6767, 0x020700  # fabric controller
        self.pcie_cap.max_payload_size_supported = 1  # 256 bytes
        self.pcie_cap.extended_tag_supported = True   # tags 0 … 255 at 64 bit
        self.pcie_cap.function_level_reset_capability = True
        self.pcie_cap.initiate_function_level_reset = self.reset_function
        self.msix_cap = MsixCapability()
        self.msix_cap.msix_table_size = 15
        self.msix_cap.msix_table_bar_indicator_register = BAR_REGISTERS
        self.msix_cap.msix_pba_bar_indicator_register = BAR_REGISTERS
        self.msix_cap.msix_table_offset, self.msix_cap.msix_pba_offset = 0x8000, 0xC000
        self.register_capability(self.msix_cap)
        self.configure_bar(BAR_REGISTERS, 1 << 16, ext=True)
        self.configure_bar(BAR_WINDOW, WINDOW_BYTES, ext=True, prefetch=True)
        self.configure_bar(BAR_PAGES, 1 << 21, ext=True)
        self.sent, self.in_reset = [], False
        self.requests, self.completions = Queue(), Queue()
        cocotb.start_soon(self.feed(self.requests, "req"))
        cocotb.start_soon(self.feed(self.completions, "cpl"))
        cocotb.start_soon(self.collect())
        self.show_configuration()

    # ---- configuration space
    def show_configuration(self):
        """Puts what the NIC obeys on its pins."""
        slot = self.slot
        slot.mps_s.value = 128 << self.pcie_cap.max_payload_size
        slot.mrrs_s.value = 128 << self.pcie_cap.max_read_request_size
        slot.bus_id_s.value = int(self.pcie_id)
        slot.msix_enable_s.value = int(self.msix_cap.msix_enable)
        slot.msix_mask_s.value = int(self.msix_cap.msix_function_mask)
        slot.bus_master_s.value = int(self.bus_master_enable)

    async def write_config_register(self, reg, data, mask):
        await super().write_config_register(reg, data, mask)
        self.show_configuration()

    async def reset_function(self):
        """Function-level reset: configuration space falls back, the NIC is informed and starts when it is done."""
        cocotb.start_soon(self._reset())

    async def _reset(self):
        self.in_reset = True
        self.memory_space_enable = self.bus_master_enable = False
        self.msix_cap.msix_enable = self.msix_cap.msix_function_mask = False
        self.pcie_cap.max_payload_size, self.pcie_cap.max_read_request_size = 0, 2
        self.show_configuration()
        self.slot.flr_s.value = 1
        while not int(self.slot.flr_done_s.value):
            await Edge(self.slot.flr_done_s)
        self.slot.flr_s.value = 0
        await Edge(self.slot.flr_done_s)
        self.in_reset = False

    # ---- host to NIC
    async def handle_tlp(self, tlp):
        if tlp.fmt_type not in KINDS:
            await super().handle_tlp(tlp)
            return
        if tlp.is_completion():
            word = pack(kind=KINDS[tlp.fmt_type], bar=7, len_dw=tlp.length, tag=tlp.tag, status=int(tlp.status),
                        requester=int(tlp.requester_id), completer=int(tlp.completer_id), byte_count=tlp.byte_count,
                        lower_addr=tlp.lower_address, attr=int(tlp.attr), poisoned=int(tlp.ep))
            self.completions.put_nowait((word, payload(tlp), tlp))
            return
        bar, offset = self.match_bar(tlp.address)
        if not self.memory_space_enable:
            tlp.release_fc()
            if tlp.is_nonposted():
                await self.send(Tlp.create_ur_completion_for_tlp(tlp, self.pcie_id))
            return
        word = pack(kind=KINDS[tlp.fmt_type], bar=bar, addr=offset, len_dw=tlp.length, first_be=tlp.first_be,
                    last_be=tlp.last_be, tag=tlp.tag, requester=int(tlp.requester_id), attr=int(tlp.attr),
                    poisoned=int(tlp.ep))
        self.requests.put_nowait((word, payload(tlp), tlp))

    async def feed(self, queue, port):
        """TLPs of a queue into the port `req` or `cpl`, in sequence."""
        header, data = getattr(self.slot, f"{port}_hdr_s"), getattr(self.slot, f"{port}_data_s")
        go, gone = getattr(self.slot, f"{port}_go_s"), getattr(self.slot, f"{port}_gone_s")
        turn = 0
        while True:
            word, bits, tlp = await queue.get()
            turn ^= 1
            header.value, data.value, go.value = word, bits, turn
            while int(gone.value) != turn:
                await Edge(gone)
            tlp.release_fc()

    # ---- NIC to host
    async def collect(self):
        slot, turn = self.slot, 0
        await Timer(1, "ns")
        while True:
            while int(slot.out_new_s.value) == turn:
                await Edge(slot.out_new_s)
            turn ^= 1
            tlp = self.make(unpack(int(slot.out_hdr_s.value)), slot.out_data_s)
            slot.out_seen_s.value = turn
            self.sent.append(tlp)
            await self.send(tlp)

    def make(self, h, data):
        """The TLP of cocotbext-pcie for a header of the NIC, checked against what configuration space allows."""
        tlp = Tlp()
        wide, has_data = h["addr"] >> 32 != 0, h["kind"] in (1, 3)
        tlp.fmt_type = ((TlpType.MEM_READ, TlpType.MEM_READ_64), (TlpType.MEM_WRITE, TlpType.MEM_WRITE_64),
                        (TlpType.CPL, TlpType.CPL), (TlpType.CPL_DATA, TlpType.CPL_DATA))[h["kind"]][wide]
        tlp.length, tlp.tag, tlp.attr, tlp.ep = h["len_dw"], h["tag"], TlpAttr(h["attr"]), bool(h["poisoned"])
        tlp.requester_id = PcieId.from_int(h["requester"])
        if tlp.is_completion():
            tlp.completer_id = PcieId.from_int(h["completer"])
            tlp.status, tlp.byte_count, tlp.lower_address = CplStatus(h["status"]), h["byte_count"], h["lower_addr"]
        else:
            tlp.address, tlp.first_be, tlp.last_be = h["addr"], h["first_be"], h["last_be"]
            assert self.bus_master_enable, f"a request without bus master: {tlp!r}"
            assert tlp.requester_id == self.pcie_id, f"requester of {tlp!r} is not {self.pcie_id}"
            assert tlp.tag < (256 if self.pcie_cap.extended_tag_field_enable else 32) or tlp.is_posted()
            if tlp.is_nonposted():
                assert 4 * tlp.length <= 128 << self.pcie_cap.max_read_request_size, f"MRRS: {tlp!r}"
        if has_data:
            assert 4 * tlp.length <= 128 << self.pcie_cap.max_payload_size, f"MPS: {tlp!r}"
            tlp.set_data((int(data.value) & ((1 << 32 * tlp.length) - 1)).to_bytes(4 * tlp.length, "little"))
        assert tlp.check(), f"cocotbext-pcie finds fault with {tlp!r}"
        return tlp
