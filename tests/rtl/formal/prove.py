#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves properties of RTL modules with Yosys and an SMT solver.

    prove.py --generated DIR [NAME...]     prove these (default: all of proofs.toml); exit status 1 if one does not hold
    prove.py --generated DIR NAME --vcd F  write the counterexample as a waveform

A proof is a file NAME.sv of properties, spliced into its module in front of `endmodule` (Yosys has no `bind`), so it sees
the module's own signals and the RTL stays free of it. A proof of several modules together is a module of its own instead,
a `bench`. Each is proved for all time: base case by bounded model checking, then temporal induction.
Then every mutant of the module (a text replaced, see proofs.toml) must fail: a proof that cannot fail proves nothing.
docs/formal.md explains how to write one.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
RTL = HERE.parents[2] / "rtl"
TIMEOUT_S = 300  # of one run of the solver

SCRIPT = """
read_verilog -sv -formal -DSYNTHESIS {defines} {files}
{params}
hierarchy -check -top {top}
proc
{free}
prep -flatten
async2sync
dffunmap
write_smt2 -wires {out}
"""

PRELUDE = """
  // Reset in the first cycle and never again.
  logic f_init = 1'b1;
  always_ff @(posedge clk_i) f_init <= 1'b0;
  always_comb assume (rst_ni == !f_init);
"""


class Failed(Exception):
    pass


def command(args, log):
    """True if it ends with 0 in time; its output is added to the log."""
    with open(log, "a") as out:
        try:
            return subprocess.run(args, stdout=out, stderr=subprocess.STDOUT, timeout=TIMEOUT_S).returncode == 0
        except subprocess.TimeoutExpired:
            raise Failed(f"{args[0]} did not end within {TIMEOUT_S} s") from None


def splice(module, properties):
    """The module's text with the prelude and the properties in front of its last `endmodule`."""
    head, tail = module.rsplit("endmodule", 1)
    return head + PRELUDE + properties + "endmodule" + tail


def build(name, proof, generated, folder, mutant=None):
    """Writes the SMT-LIB model; returns its path."""
    texts = {m: (RTL / m).read_text() for m in [*proof.get("with", []), proof["module"]]}
    if mutant:
        before, after = mutant
        at = next((m for m in reversed(texts) if before in texts[m]), None)
        if at is None:
            raise Failed(f"mutant: '{before}' is not in {', '.join(texts)}")
        texts[at] = texts[at].replace(before, after, 1)
    if "bench" in proof:
        top_file = HERE / proof["bench"]
        texts[proof["bench"]] = splice(top_file.read_text(), "")
    else:
        top_file = RTL / proof["module"]
        properties = (HERE / proof.get("properties", f"{name}.sv")).read_text()
        texts[proof["module"]] = splice(texts[proof["module"]], properties)
    files = [RTL / "ggas_pkg.sv", generated / "ggas_regs_pkg.sv", *sorted((RTL / "common").glob("*_pkg.sv"))]
    files += [RTL / p for p in proof.get("packages", [])]
    for path, text in texts.items():
        files.append(folder / pathlib.Path(path).name)
        files[-1].write_text(text)
    params = " ".join(f"-set {k} {v}" for k, v in proof.get("parameters", {}).items())
    model = folder / "model.smt2"
    script = folder / "script.ys"
    defines = " ".join(f"-D{k}={v}" for k, v in proof.get("defines", {}).items())
    script.write_text(SCRIPT.format(defines=defines, files=" ".join(map(str, files)), top=top_file.stem, out=model,
                                    free="\n".join(f"cutpoint $paramod*{m}* {m}" for m in proof.get("free", [])),
                                    params=f"chparam {params} {top_file.stem}" if params else ""))
    if not command(["yosys", "-q", script], folder / "yosys.log"):
        raise Failed("Yosys cannot read it:\n" + "\n".join((folder / "yosys.log").read_text().splitlines()[-5:]))
    return model


def check(model, depth, log, vcd, *mode):
    """True if the assertions hold for `depth` cycles from reset, or with -i after `depth` good cycles from anywhere."""
    wave = ["--dump-vcd", vcd] if vcd else []
    return command(["yosys-smtbmc", "-s", "z3", "--unroll", "--noprogress", *mode, "-t", str(depth), *wave, model], log)


def holds(model, proof, log, vcd=None):
    """Nothing, or why the proof fails."""
    if not check(model, proof["base"], log, vcd):
        return f"a counterexample within {proof['base']} cycles\n{tail(log)}"
    if not check(model, proof["step"], log, vcd, "-i"):
        return f"not inductive in {proof['step']} cycles\n{tail(log)}"
    return None


def tail(log):
    lines = [line for line in log.read_text().splitlines() if re.search(r"Assert failed|Status|BMC failed|Unreached", line)]
    return "\n".join(lines[-6:])


def prove(name, proof, generated, vcd=None):
    """Raises Failed, or returns a line of text."""
    start = time.monotonic()
    for mutant in [None, *proof["mutants"]]:
        with tempfile.TemporaryDirectory() as tmp:
            folder = pathlib.Path(tmp)
            why = holds(build(name, proof, generated, folder, mutant), proof, folder / "smt.log", None if mutant else vcd)
        if mutant is None and why:
            raise Failed(why)
        if mutant and not why:
            raise Failed(f"the mutant '{mutant[0]}' -> '{mutant[1]}' passes: the properties are too weak")
    seconds = time.monotonic() - start
    return f"proved (base {proof['base']}, induction {proof['step']}), {len(proof['mutants'])} mutants caught, {seconds:.0f} s"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("names", nargs="*", help="proofs of proofs.toml")
    args.add_argument("--generated", type=pathlib.Path, required=True, help="folder of ggas_regs_pkg.sv")
    args.add_argument("--jobs", type=int, default=1, help="proofs at a time")
    args.add_argument("--vcd", help="where the counterexample goes")
    opts = args.parse_args()
    if opts.jobs < 1:
        args.error(f"--jobs: must be 1 or more, not {opts.jobs}")
    if not (opts.generated / "ggas_regs_pkg.sv").is_file():
        args.error(f"--generated {opts.generated}: ggas_regs_pkg.sv is not there; build the target ggas_regs")

    proofs = tomllib.loads((HERE / "proofs.toml").read_text())
    unknown = [n for n in opts.names if n not in proofs]
    if unknown:
        args.error(f"no proof named {', '.join(unknown)} in proofs.toml; there are {', '.join(proofs)}")
    names = opts.names or list(proofs)
    good = True
    with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
        runs = {n: pool.submit(prove, n, proofs[n], opts.generated, opts.vcd) for n in names}
        for name, run in runs.items():
            try:
                print(f"{name:20} {run.result()}", flush=True)
            except Failed as e:
                good = False
                print(f"{name:20} FAILED: {e}", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
