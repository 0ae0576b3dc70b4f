# SPDX-License-Identifier: Apache-2.0
"""The reference page docs/registers.md."""


def cell(s):
    return s.replace("|", "\\|")


def access(f):
    if f.pulse:
        return "W1 pulse"
    return "RW" if f.sw_write else "RO"


def bits(f):
    return str(f.low) if f.width == 1 else f"{f.high}:{f.low}"


def field_rows(reg):
    rows = []
    for f in reg.fields:
        reset = "" if f.reset is None else (str(f.reset) if f.reset < 10 else f"{f.reset:#x}")
        desc = f.desc + (f" See `{f.enum}`." if f.enum else "")
        rows.append(f"| | {bits(f)} | `{f.name}` | {access(f)} | {reset} | {cell(desc)} |")
    return rows


TABLE = ["| offset | bits | name | access | reset | meaning |", "|---|---|---|---|---|---|"]


def reg_rows(offset, reg):
    return [f"| {offset} | | **{reg.name}** | | | {cell(reg.title)} |"] + field_rows(reg)


def page(regs):
    out = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "<!-- Generated from rtl/regs/ggas.rdl by rtl/regs/generate.py: do not edit. -->", "",
           "# Registers", "",
           "Purpose: every register, counter and event code of the NIC. 64 KB, 64-bit registers, little endian. An access is 4 or 8 bytes,",
           "naturally aligned; anything else is answered UR (or dropped, if a write) and fires `UNSUPPORTED_TLP`. A write to a read-only field has no effect.", "",
           "## Control and status", ""] + TABLE
    for r in regs.regs:
        out += reg_rows(f"`{r.addr:#06x}`", r)
    out += ["", "## Counters", "", "64 bit, read only, 0 after reset.", "", "| offset | name | counts |", "|---|---|---|"]
    out += [f"| `{c.addr:#06x}` | **{c.name}** | {cell(c.regs[0].title)} |" for c in regs.counters]
    for b in regs.blocks:
        if b.is_array and len(b.regs) == 1:
            out.append(f"| `{b.addr:#06x} + {b.stride} i` | **{b.name}[{b.count}]** | Events of code i |")
    for b in regs.blocks:
        if len(b.regs) > 1:
            out += ["", f"## {b.name}[{b.count}]", ""] + TABLE
            for r in b.regs:
                out += reg_rows(f"`{b.addr + r.addr:#06x} + {b.stride:#x} i`", r)
    for name, members in regs.enums.items():
        out += ["", "## Event codes" if name == "event_code" else f"## Encoding `{name}`", "", "| value | name | meaning |", "|---|---|---|"]
        out += [f"| {v} | `{m}` | {cell(d)} |" for m, v, d in members]
    return "\n".join(out) + "\n"
