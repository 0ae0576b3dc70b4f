# SPDX-License-Identifier: Apache-2.0
"""The elaborated NIC, and its units mapped to ECP5 one by one.

The NIC is elaborated as a whole (seconds); then each unit is cut out and mapped by itself, with what lies below it
flat, but for units of their own, which are left out. The mapped netlist is kept under a hash of the unit's elaborated
text: only what changed is mapped again. A comment or another line number changes nothing.

LUTs are not joined to wider ones (-nowidelut): Yosys then takes fewer of them, and the units are not slower.
"""

import collections
import hashlib
import json
import pathlib
import re
import subprocess
import threading

READ = """
read_verilog -sv -DSYNTHESIS {defines} {files}
hierarchy -check -top {top} -chparam DATA_W {width}
proc
opt_clean
write_rtlil {out}
"""
MAP = """
read_rtlil {source}
synth_ecp5 -top unit -nowidelut -run begin:check
opt_clean -purge
select -assert-none t:$_DLATCH* t:$dlatch t:$mem*
tee -q -o {stat} stat -json
select unit
write_rtlil -selected {out}
"""
MAP_LIMIT = 3600  # seconds of one unit
MEMORY = 32 << 30  # bytes of addresses of one tool; WebAssembly reserves many

# The LUTs that a cell needs. A distributed RAM of 16 x 4 needs the LUTs of two slices, and makes the LUTs of the slice
# that writes it unusable.
CELLS = {
    "LUT4": ("lut4", 1),
    "CCU2C": ("lut4", 2),
    "TRELLIS_DPR16X4": ("lut4", 6),
    "TRELLIS_FF": ("ff", 1),
    "DP16KD": ("ebr", 1),
    "PDPW16KD": ("ebr", 1),
    "MULT18X18D": ("dsp", 1),
}


class Failed(Exception):
    """A tool failed; the text holds the end of what it said."""


class TimedOut(Failed):
    """A tool did not end in time."""


class Design:
    """Modules of the elaborated NIC: text, hierarchy, ports."""

    def __init__(self, text):
        self.text, self.plain = {}, {}
        for block in re.findall(r"(?ms)^(?:attribute [^\n]*\n)*module .*?^end\n", text):
            block = re.sub(r"(?m)^ *attribute \\src [^\n]*\n", "", block)
            name = re.search(r"(?m)^module (\S+)", block).group(1)
            self.text[name] = block
            hdlname = re.search(r'attribute \\hdlname "(\w+)"', block)
            self.plain[name] = hdlname.group(1) if hdlname else name.lstrip("\\")
        self.below = {
            name: collections.Counter(k for k in re.findall(r"(?m)^  cell (\S+) ", block) if k in self.text)
            for name, block in self.text.items()
        }

    def find(self, unit):
        """Names of the modules of a unit: one for each set of parameters."""
        return [name for name in self.text if self.plain[name] == unit]

    def closure(self, name, borders):
        """Module `name` and what lies below it, but not below modules of `borders`; in a fixed order."""
        order, todo = [], [name]
        while todo:
            at = todo.pop()
            if at in order:
                continue
            order.append(at)
            if at == name or self.plain[at] not in borders:
                todo += sorted(self.below[at], reverse=True)
        return order

    def instances(self, top):
        """How often each module occurs below `top`."""
        count = collections.Counter({top: 1})
        for name in self._topological(top):
            for kind, n in self.below[name].items():
                count[kind] += n * count[name]
        return count

    def _topological(self, top):
        seen, order = set(), []

        def visit(name):
            if name not in seen:
                seen.add(name)
                for kind in self.below[name]:
                    visit(kind)
                order.append(name)

        visit(top)
        return reversed(order)

    def cut(self, name, borders):
        """Text of module `name` as \\unit with what lies below it; modules of `borders` are ports alone: their names in it."""
        parts, names, leaves = [], {}, {}
        for at in self.closure(name, borders):
            names[at] = "\\unit" if at == name else f"\\{self.plain[at]}__{len(names)}"
            leaf = at != name and self.plain[at] in borders
            if leaf:
                leaves[names[at]] = at
            parts.append((_ports_only if leaf else str)(self.text[at]))
        text = "".join(parts)
        text = re.sub(
            r"(?m)^(module|  cell) (\S+)", lambda m: f"{m.group(1)} {names.get(m.group(2), m.group(2))}", text
        )
        return _renumber(text), leaves

    def ports(self, name):
        """[(direction, width, name)] of a module."""
        return [
            (way, int(width or 1), port)
            for width, way, port in re.findall(
                r"(?m)^  wire (?:width (\d+) )?(input|output) \d+ \\(\w+)$", self.text[name]
            )
        ]


def _ports_only(text):
    head = text[: text.index("\n", text.index("\nmodule ") + 1 if not text.startswith("module ") else 0) + 1]
    lines = re.findall(r"(?m)^  (?:parameter .*|wire .*(?:input|output) \d+ .*)\n", text)
    return "attribute \\blackbox 1\n" + head + "".join(lines) + "end\n"


def _renumber(text):
    """Automatic names hold a line and a running number of the whole NIC: replaced by a number of this text."""
    text = re.sub(r"[\w./-]+\.sv:\d+(?:\.\d+-\d+\.\d+)?", "", text)
    numbers = {}
    return re.sub(r"\$(\d+)(?![0-9a-f])", lambda m: f"${numbers.setdefault(m.group(1), len(numbers))}", text)


def run(command, limit, log, folder=None):
    """Runs a tool with a time limit and a memory limit. Failed on any failure, TimedOut if it is the time."""
    program = pathlib.Path(command[0]).name
    command = ["prlimit", f"--as={MEMORY}", *command]
    with open(log, "w", encoding="utf-8") as file:
        try:
            code = subprocess.run(
                command, stdout=file, stderr=subprocess.STDOUT, timeout=limit, check=False, cwd=folder
            ).returncode
        except subprocess.TimeoutExpired:
            raise TimedOut(f"{program}: no end within {limit} s (log: {log})") from None
    if code:
        raise Failed(
            f"{program} failed with {code} (log: {log})\n" + pathlib.Path(log).read_text(encoding="utf-8")[-2000:]
        )


def yosys(tools, script, log, limit):
    path = pathlib.Path(log).with_suffix(".ys")
    path.write_text(script, encoding="utf-8")
    run([tools.yosys, "-q", str(path)], limit, log)


def elaborate(tools, files, top, width, defines, folder):
    out = folder / "elaborated.il"
    names = " ".join(str(f) for f in files)
    yosys(
        tools,
        READ.format(files=names, top=top, width=width, defines=" ".join(defines), out=out),
        folder / "elaborate.log",
        MAP_LIMIT,
    )
    return Design(out.read_text(encoding="utf-8"))


def key_of(tools, *texts):
    return hashlib.sha256("\0".join([tools.versions, *texts]).encode()).hexdigest()[:24]


def joined(units):
    """Text of the mapped units, all with their borders, as one design; the top is the first one."""
    number = {unit.name: f"\\unit_{i}" for i, unit in enumerate(units)}
    parts = []
    for unit in units:
        text = unit.netlist.read_text(encoding="utf-8")
        names = {"\\unit": number[unit.name], **{local: number[name] for local, name in unit.leaves.items()}}
        parts.append(
            re.sub(
                r"(?m)^(module|  cell) (\S+)",
                lambda m, names=names: f"{m.group(1)} {names.get(m.group(2), m.group(2))}",
                text,
            )
        )
    return "".join(parts)


_LOCKS = collections.defaultdict(threading.Lock)  # a unit is mapped once, for all that ask


class Unit:
    """A module with what lies below it, and the place where its results are kept."""

    def __init__(self, tools, design, name, borders, cache):
        self.tools, self.name, self.plain, self.ports = tools, name, design.plain[name], design.ports(name)
        self.source, self.leaves = design.cut(name, borders)
        self.key = key_of(tools, MAP, json.dumps(CELLS), self.source)
        self.folder = cache / f"{self.plain}-{self.key}"
        self.netlist = self.folder / "mapped.il"

    def area(self):
        """{lut4, ff, ebr, dsp, lutram}; maps the unit unless that was done."""
        with _LOCKS[self.key]:
            return self._area()

    def _area(self):
        result = self.folder / "area.json"
        if not result.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            source, stat = self.folder / "unit.il", self.folder / "stat.json"
            source.write_text(self.source, encoding="utf-8")
            yosys(
                self.tools, MAP.format(source=source, stat=stat, out=self.netlist), self.folder / "map.log", MAP_LIMIT
            )
            cells = json.loads(stat.read_text(encoding="utf-8"))["modules"]["\\unit"]["num_cells_by_type"]
            area = dict.fromkeys(("lut4", "ff", "ebr", "dsp"), 0)
            for kind, n in cells.items():
                if kind in CELLS:
                    column, each = CELLS[kind]
                    area[column] += each * n
            area["lutram"] = cells.get("TRELLIS_DPR16X4", 0)
            result.write_text(json.dumps(area), encoding="utf-8")
            source.unlink()
        return json.loads(result.read_text(encoding="utf-8"))
