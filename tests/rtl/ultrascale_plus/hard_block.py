# SPDX-License-Identifier: Apache-2.0
"""cocotbext-pcie's model of the UltraScale+ PCIe block, set up as docs/board.md says, on the signals of a scope.

What the model lacks is added here: credits for reads (pcie_tfc_nph_av), all credits for requests of the host
(pcie_cq_np_req), and the handshake of a function-level reset.
"""

import types

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiStreamBus
from cocotbext.pcie.xilinx.us import UltraScalePlusPcieDevice, usp_model

BAR_REGISTERS, BAR_WINDOW, BAR_PAGES = 0, 2, 4
WINDOW_BYTES = 1 << 21
SIGNALS = ("user_reset pcie_cq_np_req pcie_rq_seq_num0 pcie_rq_seq_num1 pcie_rq_seq_num_vld0 "
           "pcie_rq_seq_num_vld1 pcie_rq_tag0 pcie_rq_tag1 pcie_rq_tag_vld0 pcie_rq_tag_vld1 pcie_rq_tag_av "
           "cfg_max_payload cfg_max_read_req cfg_function_status cfg_bus_number cfg_interrupt_msix_enable "
           "cfg_interrupt_msix_mask").split()


class NoClock:
    """For a second block on the clock of the first."""

    def __init__(self, *_, **__):
        pass

    async def start(self):
        pass


class HardBlock(UltraScalePlusPcieDevice):
    """`dut`: a block_side. `user_clk`: its clock; `clock`: whether this block generates it."""

    def __init__(self, dut, user_clk, clock=True):
        width = len(dut.cq_tdata)
        driver = usp_model.Clock
        if not clock:
            usp_model.Clock = NoClock
        super().__init__(
            pcie_generation=3, pcie_link_width=8 if width == 256 else 16, user_clk_frequency=250e6, alignment="dword",
            max_payload_size=1024, enable_client_tag=False, enable_extended_tag=True, pf0_msix_enable=True,
            pf0_msix_table_size=15, pf0_msix_table_bir=BAR_REGISTERS, pf0_msix_table_offset=0x8000,
            pf0_msix_pba_bir=BAR_REGISTERS, pf0_msix_pba_offset=0xC000,
            rq_bus=AxiStreamBus.from_prefix(dut, "rq"), rc_bus=AxiStreamBus.from_prefix(dut, "rc"),
            cq_bus=AxiStreamBus.from_prefix(dut, "cq"), cc_bus=AxiStreamBus.from_prefix(dut, "cc"),
            user_clk=user_clk, **{name: getattr(dut, name) for name in SIGNALS})
        usp_model.Clock = driver
        self.pcie_cq_np_req = types.SimpleNamespace(value=0)  # the model misses pulses while CQ is blocked
        self.dut, self.user_clk = dut, user_clk
        self.read_credits = 15  # most that are shown
        f = self.functions[0]
        f.sent, f.in_reset = [], False
        f.vendor_id, f.device_id, f.class_code = 0x1234, 0x6767, 0x020700
        f.configure_bar(BAR_REGISTERS, 1 << 16, ext=True)
        f.configure_bar(BAR_WINDOW, WINDOW_BYTES, ext=True, prefetch=True)
        f.configure_bar(BAR_PAGES, 1 << 21, ext=True)
        f.pcie_cap.function_level_reset_capability = True
        f.pcie_cap.initiate_function_level_reset = self.reset_function
        dut.cfg_flr_in_process.setimmediatevalue(0)
        dut.pcie_tfc_nph_av.setimmediatevalue(0)
        cocotb.start_soon(self.show_credits())
        cocotb.start_soon(self.count_credits())

    @property
    def function(self):
        return self.functions[0]

    async def send(self, tlp):
        self.function.sent.append(tlp)
        await super().send(tlp)

    async def show_credits(self):
        while True:
            await RisingEdge(self.user_clk)
            free = self.upstream_port.fc_state[0].nph.tx_credits_available
            self.dut.pcie_tfc_nph_av.value = max(0, min(free, self.read_credits))

    async def count_credits(self):
        while True:
            await RisingEdge(self.user_clk)
            if not int(self.dut.user_reset.value):
                self.cq_np_req_count = min(self.cq_np_req_count + int(self.dut.pcie_cq_np_req.value), 32)

    async def reset_function(self):
        cocotb.start_soon(self._reset())

    async def _reset(self):
        f = self.function
        f.in_reset = True
        f.memory_space_enable = f.bus_master_enable = False
        f.msix_cap.msix_enable = f.msix_cap.msix_function_mask = False
        f.pcie_cap.max_payload_size, f.pcie_cap.max_read_request_size = 0, 2
        self.dut.cfg_flr_in_process.value = 1
        done = 0
        while not done:
            await RisingEdge(self.user_clk)
            done = int(self.dut.cfg_flr_done.value)
        self.dut.cfg_flr_in_process.value = 0
        f.in_reset = False
