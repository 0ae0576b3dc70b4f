# SPDX-License-Identifier: Apache-2.0
"""C header (kernel style: no includes, plain constants) and C++ name tables."""

HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Generated from rtl/regs/ggas.rdl by rtl/regs/generate.py: do not edit. */\n"


def define(name, value, comment=""):
    line = f"#define {name:<44} {value}"
    return f"{line}  /* {comment} */" if comment else line


def field_defines(prefix, reg):
    lines = []
    for f in reg.fields:
        if f.width == 64:
            continue
        name = f"{prefix}_{f.name.upper()}"
        lines.append(define(f"{name}_SHIFT", f.low, f.desc))
        lines.append(define(f"{name}_MASK", f"{((1 << f.width) - 1) << f.low:#x}ULL"))
    return lines


def c_header(regs):
    lines = ["#ifndef GGAS_REGS_H", "#define GGAS_REGS_H", "", "/* Registers: byte offsets in BAR0, and their fields */"]
    for r in regs.regs:
        lines.append(define(f"GGAS_REG_{r.name}", f"{r.addr:#06x}", r.title))
        lines += field_defines(f"GGAS_{r.name}", r)
    for b in regs.blocks:
        if not b.is_array:
            lines.append(define(f"GGAS_REG_{b.name}", f"{b.addr:#06x}", b.regs[0].title))
        elif len(b.regs) == 1:
            lines += [define(f"GGAS_REG_{b.name}(i)", f"({b.addr:#06x} + {b.stride:#x} * (i))"), define(f"GGAS_{b.name}_NUM", b.count)]
        else:
            lines.append(define(f"GGAS_{b.name}_NUM", b.count))
            for r in b.regs:
                lines.append(define(f"GGAS_REG_{b.name}_{r.name}(i)", f"({b.addr + r.addr:#06x} + {b.stride:#x} * (i))", r.title))
                lines += field_defines(f"GGAS_{b.name}_{r.name}", r)
    for name, members in regs.enums.items():
        prefix = "GGAS_EV" if name == "event_code" else f"GGAS_{name.upper()}"
        lines += ["", f"/* {name} */"] + [define(f"{prefix}_{m}", v, d) for m, v, d in members]
    return HEAD + "\n".join(lines + ["", "#endif"]) + "\n"


def quoted(s):
    return '"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"'


def cpp_names(regs):
    lines = ["#pragma once", "", "#include <array>", "#include <cstdint>", "", "namespace ggas::regs {", "",
             "struct named {", "  uint16_t value;    // BAR0 offset of a counter; code of an event", "  const char* name;", "  const char* text;", "};", ""]
    events = regs.enums["event_code"]
    for title, rows in (("counters", [(f"{c.addr:#06x}", c.name, c.regs[0].title) for c in regs.counters]),
                        ("events", [(str(v), m, d) for m, v, d in events])):
        lines.append(f"inline constexpr std::array<named, {len(rows)}> {title}{{{{")
        lines += [f"    {{{v}, {quoted(n)}, {quoted(t)}}}," for v, n, t in rows] + ["}};", ""]
    base = next(b for b in regs.blocks if b.name == "EVENT_COUNT")
    lines += ["// BAR0 offset of the counter of an event code.",
              f"constexpr uint16_t event_counter(unsigned code) {{ return static_cast<uint16_t>({base.addr:#06x} + {base.stride} * code); }}",
              "", "}  // namespace ggas::regs"]
    return HEAD + "\n".join(lines) + "\n"
