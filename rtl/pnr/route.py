# SPDX-License-Identifier: Apache-2.0
"""Places and routes a mapped unit in a ring of registers, on an ECP5-85."""

import json

import border
import netlist

DEVICE = "LFE5UM5G-85, CABGA756, speed 8"
OPTIONS = (
    "--um5g-85k",
    "--package",
    "CABGA756",
    "--speed",
    "8",
    "--lpf-allow-unconstrained",
    "--timing-allow-fail",
)
# For one unit router1 makes faster wires; router2 is made for a full device, and leads some wires around half of it.
ALONE = ("--router", "router1")
# The whole NIC fills nine tenths of the device: the placer may try as often as it likes to find a cell a place.
TOGETHER = ("--router", "router2", "--placer-heap-cell-placement-timeout", "0")
HAS = {"lut4": 83640, "ff": 83640, "ebr": 208, "dsp": 156}
LIMIT = 3600  # seconds of what is done before a unit is routed

WRAP = """
read_verilog {ring}
synth_ecp5 -top border -run begin:blif
delete =unit
read_rtlil {unit}
hierarchy -check -top border
flatten
opt_clean -purge
write_json {out}
"""
JOIN = """
read_rtlil {units}
read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v
hierarchy -check -top unit_0
flatten
opt_clean -purge
blackbox =A:whitebox
write_json {out}
"""
PIN_MHZ = 250  # of the lanes at the pins
LPF = """
FREQUENCY PORT "clk" {mhz} MHZ;
FREQUENCY PORT "pin_clk" {pin_mhz} MHZ;
"""


def fits(area):
    return all(area[column] <= HAS[column] for column in HAS)


def fmax_of(report):
    """{clock: MHz} of nextpnr's report; nextpnr's names of clocks say which net carries them."""
    return {clock.removeprefix("$glbnet$").removesuffix("$TRELLIS_IO_IN"): round(paths["achieved"], 1) for clock, paths in report["fmax"].items()}


def route(unit, mhz, seed, limit):
    """{fmax_mhz: {clock: MHz}, ...} of a unit in its ring, kept next to its netlist; {error: text} if the time is up."""
    unit.area()
    ring = border.ring(unit.ports)
    key = netlist.key_of(unit.tools, ring, WRAP, str(OPTIONS + ALONE), str(mhz), str(seed))[:8]
    base = unit.folder / f"{key}"
    if not base.with_suffix(".routed").exists():
        base.with_suffix(".v").write_text(ring, encoding="utf-8")
        script = WRAP.format(ring=base.with_suffix(".v"), unit=unit.netlist, out=base.with_suffix(".json"))
        netlist.yosys(unit.tools, script, base.with_suffix(".wrap"), LIMIT)
    return _in_time(unit.tools.nextpnr, unit.tools.chips, base, mhz, seed, ALONE, limit)


def route_all(units, cache, mhz, seed, limit, nextpnr):
    """The same of all mapped units together, the first one being the top with its pins, by another nextpnr."""
    tools, text = units[0].tools, netlist.joined(units)
    key = netlist.key_of(tools, nextpnr, text, JOIN, LPF, str(OPTIONS + TOGETHER), str(mhz), str(seed))[:16]
    base = cache / f"whole-{key}"
    if not base.with_suffix(".routed").exists():
        base.with_suffix(".il").write_text(text, encoding="utf-8")
        base.with_suffix(".lpf").write_text(LPF.format(mhz=mhz, pin_mhz=PIN_MHZ), encoding="utf-8")
        netlist.yosys(
            tools,
            JOIN.format(units=base.with_suffix(".il"), out=base.with_suffix(".json")),
            base.with_suffix(".join"),
            LIMIT,
        )
    options = (*TOGETHER, "--lpf", str(base.with_suffix(".lpf")))
    return _in_time(nextpnr, None, base, mhz, seed, options, limit)


def _in_time(nextpnr, folder, base, mhz, seed, options, limit):
    """{fmax_mhz: {clock: MHz}, ...}, or {error: text, ...} if the time is up."""
    try:
        return _place_and_route(nextpnr, folder, base, mhz, seed, options, limit)
    except netlist.TimedOut:
        return {"error": f"not routed within {limit} s", "seed": seed, "asked_mhz": mhz}


def _place_and_route(nextpnr, folder, base, mhz, seed, options, limit):
    result, source, report = (base.with_suffix(end) for end in (".routed", ".json", ".report"))
    if not result.exists():
        netlist.run(
            [
                nextpnr,
                *OPTIONS,
                *options,
                "--json",
                str(source),
                "--freq",
                str(mhz),
                "--seed",
                str(seed),
                "--report",
                str(report),
            ],
            limit,
            base.with_suffix(".log"),
            folder,
        )
        got = {"fmax_mhz": fmax_of(json.loads(report.read_text(encoding="utf-8"))), "seed": seed, "asked_mhz": mhz}
        result.write_text(json.dumps(got), encoding="utf-8")
        source.unlink()
    return json.loads(result.read_text(encoding="utf-8"))
