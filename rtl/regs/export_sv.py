# SPDX-License-Identifier: Apache-2.0
"""SystemVerilog: package ggas_regs_pkg and register block regs. Plain enough for Verilator and for Yosys 0.23."""

from model import ADDR_BITS

HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Generated from rtl/regs/ggas.rdl by rtl/regs/generate.py: do not edit.\n\n"


def hexa(value, bits):
    return f"{bits}'h{value:0{(bits + 3) // 4}x}"


def member(reg, field):
    return f"{reg.name.lower()}_{field.name}"


def soft_fields(regs):
    return [(r, f) for r in regs.regs for f in r.fields if f.sw_write]


def hard_fields(regs):
    return [(r, f) for r in regs.regs for f in r.fields if f.hw_write]


def struct(name, comment, fields):
    lines = [f"  // {comment}", "  typedef struct packed {"]
    for r, f in fields:
        lines.append(f"    logic [{f.width - 1}:0] {member(r, f)};  // {f.desc}")
    return lines + [f"  }} {name};", ""]


def enum_constants(regs):
    lines = []
    for name, members in regs.enums.items():
        prefix = "EV" if name == "event_code" else name.upper()
        width = 8 if prefix == "EV" else max(m[1] for m in members).bit_length()
        lines.append(f"  // {name}")
        lines += [f"  localparam logic [{width - 1}:0] {prefix}_{m} = {width}'d{v};  // {d}" for m, v, d in members]
        if prefix == "EV":
            lines += ["  // A bit for each code: pulses of events, masks", f"  typedef logic [{len(members) - 1}:0] event_set_t;"]
        lines.append("")
    return lines


def addresses(regs):
    lines = ["  // Byte offsets in BAR0"]
    lines += [f"  localparam logic [{ADDR_BITS - 1}:0] ADDR_{x.name} = {hexa(x.addr, ADDR_BITS)};"
              for x in sorted(regs.regs + regs.blocks, key=lambda x: x.addr)]
    lines.append("")
    for b in regs.blocks:
        if b.is_array:
            lines.append(f"  localparam int unsigned {b.name}_NUM = {b.count};")
            lines.append(f"  localparam int unsigned {b.name}_STRIDE = {b.stride};")
            if len(b.regs) > 1:
                lines += [f"  localparam logic [{ADDR_BITS - 1}:0] {b.name}_{r.name} = {hexa(r.addr, ADDR_BITS)};" for r in b.regs]
    return lines + [""]


def counter_indices(regs):
    lines = ["  // Bit of a counter in the pulse vector of `counters`; its register is ADDR_COUNTERS + 8 * index"]
    base = regs.counters[0].addr
    for i, c in enumerate(regs.counters):
        if c.addr != base + 8 * i:
            raise SystemExit(f"counter {c.name}: offset {c.addr:#x} leaves a gap")
        lines.append(f"  localparam int unsigned CNT_{c.name} = {i};  // {c.regs[0].title}")
    lines.append(f"  localparam int unsigned CNT_NUM = {len(regs.counters)};")
    return lines + [f"  localparam logic [{ADDR_BITS - 1}:0] ADDR_COUNTERS = {hexa(base, ADDR_BITS)};", ""]


def package(regs):
    lines = ["// A package is a vocabulary: no build uses every word of it.", "// verilator lint_off UNUSEDPARAM", "package ggas_regs_pkg;", ""]
    lines += enum_constants(regs) + addresses(regs) + counter_indices(regs)
    lines += struct("cfg_t", "Fields that software writes", soft_fields(regs))
    lines += struct("sts_t", "Fields that hardware drives", hard_fields(regs))
    reset = ", ".join(f"{f.width}'d{f.reset or 0}" for _, f in soft_fields(regs))
    lines += [f"  localparam cfg_t CFG_RESET = {{{reset}}};", "", "endpackage", "// verilator lint_on UNUSEDPARAM"]
    return HEAD + "\n".join(lines) + "\n"


def range_test(b):
    lo, hi = b.addr >> 3, (b.addr + b.size - 1) >> 3
    aligned = b.size & (b.size - 1) == 0 and b.addr % b.size == 0
    if lo == hi:
        test = f"word == {hexa(lo, 13)}"
    elif aligned:
        n = (b.size >> 3).bit_length() - 1
        test = f"addr_i[{ADDR_BITS - 1}:{n + 3}] == {hexa(b.addr >> (n + 3), ADDR_BITS - 3 - n)}"
    else:
        test = f"word >= {hexa(lo, 13)} && word <= {hexa(hi, 13)}"
    if 8 * len(b.regs) == b.stride:
        return f"({test})"
    if b.stride & (b.stride - 1) or b.addr % b.stride:
        raise SystemExit(f"{b.name}: a stride with holes must be a power of two and aligned")
    bits = b.stride.bit_length() - 1
    holes = " && ".join(f"addr_i[{bits - 1}:3] != {bits - 3}'d{i}" for i in range(b.stride // 8) if i >= len(b.regs))
    return f"({test} && {holes})"


def unit_hit(regs, unit):
    """Address test of a unit; neighbouring single registers are one range."""
    merged = []
    for b in (b for b in regs.blocks if b.unit == unit):
        last = merged[-1] if merged else None
        if last and last.addr + last.size == b.addr and len(last.regs) == len(b.regs) == 1:
            merged[-1] = type(b)(last.name, last.addr, last.count + b.count, 8, b.regs, unit, True)
        else:
            merged.append(b)
    return " ||\n      ".join(range_test(b) for b in merged)


def block_ports(regs):
    lines = []
    for u in regs.units:
        lines += [f"  output logic        ext_{u}_req_o,    // access to `{u}` this cycle",
                  f"  input  wire  [63:0] ext_{u}_rdata_i,  // its answer, next cycle"]
    return lines


def write_lines(reg):
    lines = [f"        {hexa(reg.addr >> 3, 13)}: begin  // {reg.name}"]
    for f in reg.fields:
        for byte in range(f.low // 8, f.high // 8 + 1):
            lo, hi = max(f.low, 8 * byte), min(f.high, 8 * byte + 7)
            if f.sw_write:
                lines.append(f"          if (wstrb_i[{byte}]) cfg_o.{member(reg, f)}[{hi - f.low}:{lo - f.low}] <= wdata_i[{hi}:{lo}];")
    return lines + ["        end"]


def read_value(reg):
    parts, at = [], 64
    for f in sorted(reg.fields, key=lambda f: -f.low):
        if f.high + 1 < at:
            parts.append(f"{at - f.high - 1}'d0")
        if f.pulse:
            parts.append(f"{f.width}'d0")
        elif f.hw_write:
            parts.append(f"sts_i.{member(reg, f)}")
        elif f.sw_write:
            parts.append(f"cfg_o.{member(reg, f)}")
        else:
            parts.append(hexa(f.reset, f.width))
        at = f.low
    return "{" + ", ".join(parts + ([f"{at}'d0"] if at else [])) + "}"


def block(regs):
    pulses = [(r, f) for r, f in soft_fields(regs) if f.pulse]
    units = regs.units
    lines = ["// Register block: storage, address decode and read mux. One access a cycle, answered in the next one. Ranges held",
             "// elsewhere are passed on (`ext_*`, same timing). A write to a read-only register has no effect.",
             "`default_nettype none", "", "module regs (", "  input  wire         clk_i,", "  input  wire         rst_ni,",
             "  input  wire         req_i,      // access this cycle", "  input  wire         write_i,",
             f"  input  wire  [{ADDR_BITS - 1}:0] addr_i,     // byte offset; bits 2:0 do not matter",
             "  input  wire  [63:0] wdata_i,", "  input  wire  [7:0]  wstrb_i,    // bytes to write",
             "  output logic        ack_o,      // answer to the access of the cycle before",
             "  output logic [63:0] rdata_o,    // valid with ack_o after a read",
             "  output logic        error_o,    // valid with ack_o: no register there",
             "  output logic        busy_o,     // must be clocked in the next cycle", ""]
    lines += block_ports(regs)
    lines += ["  output logic        ext_write_o,", f"  output logic [{ADDR_BITS - 1}:0] ext_addr_o,", "  output logic [63:0] ext_wdata_o,",
              "  output logic [7:0]  ext_wstrb_o,", "", "  output ggas_regs_pkg::cfg_t cfg_o,", "  input  ggas_regs_pkg::sts_t sts_i", ");", "",
              f"  wire [12:0] word = addr_i[{ADDR_BITS - 1}:3];", "  wire unused = &{1'b0, addr_i[2:0]};", "",
              "  // ---- ranges held elsewhere"]
    for u in units:
        lines.append(f"  wire hit_{u} =\n      {unit_hit(regs, u)};")
    for u in units:
        ro = "" if any(b.writable for b in regs.blocks if b.unit == u) else " && !write_i"
        lines.append(f"  assign ext_{u}_req_o = req_i && hit_{u}{ro};")
    lines += ["  assign ext_write_o = write_i;", "  assign ext_addr_o  = addr_i;", "  assign ext_wdata_o = wdata_i;", "  assign ext_wstrb_o = wstrb_i;", "",
              "  // ---- writes", "  always_ff @(posedge clk_i or negedge rst_ni) begin", "    if (!rst_ni) begin", "      cfg_o <= ggas_regs_pkg::CFG_RESET;", "    end else begin"]
    lines += [f"      cfg_o.{member(r, f)} <= {f.width}'d0;" for r, f in pulses]
    lines += ["      if (req_i && write_i) begin", "        case (word)"]
    for r in regs.regs:
        if r.writable:
            lines += ["  " + x for x in write_lines(r)]
    lines += ["          default: ;", "        endcase", "      end", "    end", "  end", "",
              "  // ---- reads", "  logic [63:0] own_q;", "  logic        own_hit;", "  logic [63:0] own_rdata;", "",
              "  always_comb begin", "    own_hit   = 1'b1;", "    own_rdata = 64'd0;", "    case (word)"]
    lines += [f"      {hexa(r.addr >> 3, 13)}: own_rdata = {read_value(r)};" for r in regs.regs]
    lines += ["      default:  own_hit = 1'b0;", "    endcase", "  end", ""]
    lines += [f"  logic ext_{u}_q;" for u in units]
    lines += ["", "  always_ff @(posedge clk_i or negedge rst_ni) begin", "    if (!rst_ni) begin", "      ack_o   <= 1'b0;", "      error_o <= 1'b0;", "      own_q   <= 64'd0;"]
    lines += [f"      ext_{u}_q <= 1'b0;" for u in units]
    lines += ["    end else begin", "      ack_o <= req_i;", "      if (req_i) begin", "        own_q   <= own_rdata;",
              "        error_o <= !own_hit" + "".join(f" && !hit_{u}" for u in units) + ";"]
    lines += [f"        ext_{u}_q <= hit_{u};" for u in units]
    lines += ["      end", "    end", "  end", "", "  always_comb begin", "    rdata_o = own_q;"]
    lines += [f"    if (ext_{u}_q) rdata_o = ext_{u}_rdata_i;" for u in units]
    busy = " || ".join(["ack_o"] + [f"cfg_o.{member(r, f)} != {f.width}'d0" for r, f in pulses])
    lines += ["  end", "", f"  assign busy_o = {busy};", "", "endmodule", "", "`default_nettype wire"]
    return HEAD + "\n".join(lines) + "\n"
