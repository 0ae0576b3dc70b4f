# SPDX-License-Identifier: Apache-2.0
"""The register description, reduced to what the exporters need."""

from dataclasses import dataclass

from systemrdl import RDLCompileError, RDLCompiler
from systemrdl.node import RegNode

ENUMS = ("smfu_mode_e", "link_state_e", "event_code_e")
ADDR_BITS = 16  # BAR0 is 64 KB


class Error(Exception):
    """The description breaks a rule of these exporters."""


@dataclass
class Field:
    name: str  # lower case
    low: int
    width: int
    desc: str
    reset: int | None
    sw_write: bool
    hw_write: bool
    pulse: bool  # reads 0, is 1 for one cycle after a write of 1
    enum: str | None  # name of the encoding, without _e

    @property
    def high(self):
        return self.low + self.width - 1


@dataclass
class Reg:
    name: str  # upper case
    addr: int  # absolute for a plain register, relative inside a block
    title: str
    fields: list[Field]
    kind: str  # type it is an instance of, without _t; its own name if anonymous

    @property
    def writable(self):
        return any(f.sw_write for f in self.fields)


@dataclass
class Block:
    """Registers held outside the register block: an array of registers or of register files."""

    name: str
    addr: int
    count: int
    stride: int
    regs: list[Reg]
    unit: str  # the unit that holds it: the type's name, without _t
    is_array: bool

    @property
    def size(self):
        return self.count * self.stride

    @property
    def writable(self):
        return any(r.writable for r in self.regs)


@dataclass
class Regs:
    name: str
    desc: str
    regs: list[Reg]  # stored or wired in the register block
    blocks: list[Block]  # external
    enums: dict[str, list[tuple[str, int, str]]]  # name without _e: (member, value, description)

    @property
    def units(self):
        """External units in the order of their first address."""
        return list(dict.fromkeys(b.unit for b in self.blocks))

    @property
    def counters(self):
        return [b for b in self.blocks if b.unit == "counter" and not b.is_array]


def text(s):
    return " ".join((s or "").split())


def unit_of(node):
    name = node.inst.original_def.type_name if node.inst.original_def else None
    return (name or node.inst_name.lower()).removesuffix("_t")


def field(node):
    enum = node.get_property("encode")
    reset = node.get_property("reset")
    return Field(
        name=node.inst_name.lower(), low=node.low, width=node.width, desc=text(node.get_property("desc")), reset=reset,
        sw_write=node.is_sw_writable, hw_write=node.is_hw_writable, pulse=bool(node.get_property("singlepulse")),
        enum=enum.type_name.removesuffix("_e") if enum else None)


def register(node, addr):
    if node.get_property("regwidth") != 64:
        raise Error(f"register {node.inst_name}: regwidth must be 64")
    if addr % 8:
        raise Error(f"register {node.inst_name}: offset {addr:#x} is not a multiple of 8")
    title = node.get_property("name")
    return Reg(node.inst_name.upper(), addr, "" if title == node.inst_name else text(title),
               [field(f) for f in node.fields()], unit_of(node))


def block(node):
    is_reg = isinstance(node, RegNode)
    regs = [register(node, 0)] if is_reg else [register(r, r.raw_address_offset) for r in node.registers()]
    count = node.array_dimensions[0] if node.is_array else 1
    stride = node.array_stride if node.is_array else 8 * len(regs)
    return Block(node.inst_name.upper(), node.raw_address_offset, count, stride, regs, unit_of(node), node.is_array)


def check_events(codes, regs, blocks):
    """The RTL takes its widths from EVENT_COUNT: codes count from 0, each has a counter and a bit of the mask."""
    counters = next((b.count for b in blocks if b.name == "EVENT_COUNT"), 0)
    mask = next((f.width for r in regs if r.name == "EVQ_MASK" for f in r.fields), 0)
    if sorted(v for _, v, _ in codes) != list(range(counters)) or mask != counters or counters > 64:
        raise Error(f"{len(codes)} event codes, {counters} counters in EVENT_COUNT, {mask} bits in EVQ_MASK:"
                    " they must be as many, from code 0 on, at most 64")


def load(path):
    rdl = RDLCompiler()
    try:
        rdl.compile_file(str(path))
        top = rdl.elaborate().top
    except RDLCompileError as e:
        raise Error("the SystemRDL compiler rejects it") from e
    regs, blocks = [], []
    for child in top.children(unroll=False):
        if child.external:
            blocks.append(block(child))
        elif isinstance(child, RegNode) and not child.is_array:
            regs.append(register(child, child.raw_address_offset))
        else:
            raise Error(f"{child.inst_name}: only external registers may be arrays or in register files")
    enums = {}
    for name in ENUMS:
        members = rdl.namespace.lookup_type(name)
        if members is None:
            raise Error(f"enum {name} is missing")
        enums[name.removesuffix("_e")] = [(m.name, m.value, text(m.rdl_desc)) for m in members]
    check_events(enums["event_code"], regs, blocks)
    last = max([r.addr + 8 for r in regs] + [b.addr + b.size for b in blocks])
    if last > 1 << ADDR_BITS:
        raise Error(f"offset {last - 1:#x} is outside the {1 << ADDR_BITS}-byte register space")
    return Regs(text(top.get_property("name")), text(top.get_property("desc")), regs, blocks, enums)
