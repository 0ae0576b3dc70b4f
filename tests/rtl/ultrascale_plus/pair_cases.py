# SPDX-License-Identifier: Apache-2.0
"""Tests of the NIC at a second root complex, through the shim and the model of the hard block, and over lanes."""

import logging

import cocotb
import machine
from hard_block import HardBlock

logging.getLogger("cocotb.block").setLevel(logging.ERROR)


def attach(node, slot):
    """The block of a node; that of node 0 generates the clock."""
    block = HardBlock(slot.block, cocotb.top.user_clk, clock=node == 0)
    return block, block.function


machine.attach = attach

from nic_cases import (  # noqa: E402, F401
    configuration,
    enumerates,
    errors,
    interrupts,
    many_at_once,
    one_sided,
    stores_and_loads,
)
