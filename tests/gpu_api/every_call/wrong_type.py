# SPDX-License-Identifier: Apache-2.0
"""An argument of a wrong type is one error, at the call and with its name, for every parameter of every public call.

  python tests/gpu_api/every_call/wrong_type.py [--compiler PROGRAM] nvcc|host

One program makes all wrong calls, each in a line of its own; the compiler's errors are counted by line."""
import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import declared_calls
from every_call import INCLUDE, PROLOGUE, ROOT

WRONG = """
struct wrong {};
struct not_plain { not_plain(const not_plain&); };
struct not_a_number { int n; };
"""
# What a place is replaced by: no place, one of what cannot be copied as bytes.
WRONG_PLACES = ("wrong", "not_plain*")
REDUCTIONS = ("ggas_allreduce", "ggas_reduce", "ggas_reducescatter", "ggas_scan")


def wrong_calls(form):
    """Calls with one argument of a wrong type, or by a wrong group, each as parameters of a kernel."""
    group = [f"ggas::{form.group} group"] if form.group else []
    values = [p.as_value() for p in form.call.parameters]
    if group:
        yield ["wrong group", *values]
    if "grid" in form.call.groups:
        yield ["ggas::warp group", *values]
    parameters = group + values
    for i, parameter in enumerate(form.call.parameters, len(group)):
        is_place = parameter.type == "P"
        instead = WRONG_PLACES if is_place else ("wrong",)
        if is_place and form.call.name.startswith(REDUCTIONS):
            instead = (*instead, "not_a_number*")
        for kind in instead:
            yield [*parameters[:i], f"{kind} {parameter.name}", *parameters[i + 1:]]


def line(number, form, parameters):
    arguments = ", ".join((["group"] if form.group else []) + [p.name for p in form.call.parameters])
    explicit = f"<{', '.join(form.call.explicit)}>" if form.call.explicit else ""
    return f'extern "C" __global__ void call_{number}({", ".join(parameters)}) {{ (void){form.name}{explicit}({arguments}); }}'


def some_forms(calls):
    """Every form without a group, and one with."""
    forms = declared_calls.forms(calls)
    first_groups = {(f.call, f.call.groups[0]) for f in forms if f.group}
    return [f for f in forms if not f.group or (f.call, f.group) in first_groups]


def program():
    lines = (PROLOGUE + WRONG).split("\n")
    names = {}
    for form in some_forms(declared_calls.of_headers(INCLUDE / "ggas")):
        for parameters in wrong_calls(form):
            lines.append(line(len(lines), form, parameters))
            names[len(lines)] = form.name
    return "\n".join(lines) + "\n", names


def errors(output, source):
    """(line or 0 where it is in no line of the source, text) of every error, its notes with it."""
    start = re.compile(r"^(?:(\S+?)[(:](\d+)(?:\)|:\d+)?: error.*|.*\berror\b.*)$", re.M)
    found = list(start.finditer(output))
    ends = [m.start() for m in found[1:]] + [len(output)]
    return [(int(m[2]) if m[1] == str(source) else 0, output[m.start():end]) for m, end in zip(found, ends, strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("by", choices=("nvcc", "host"))
    parser.add_argument("--compiler", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "wrong_type.cu"
        text, names = program()
        source.write_text(text)
        command = [args.compiler, "-std=c++20", "-I", str(INCLUDE)]
        if args.by == "nvcc":
            command += ["-Xcudafe", "--error_limit=100000", "-cuda", "-o", f"{folder}/wrong_type.ii"]
        else:
            command += ["-x", "c++", "-fsyntax-only", "-fmax-errors=0", "-I", str(ROOT)]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True)
        found = [(at, text) for at, text in errors(done.stdout + done.stderr, source) if not re.match(r"\d+ errors detected", text)]
    count = Counter(at for at, _ in found)
    silent = [n for n in names if count[n] == 0]
    several = [n for n in names if count[n] > 1]
    unnamed = [text for at, text in found if names.get(at, "\0") not in text]
    shown = text.split("\n")
    for what, lines in (("no error", silent), ("several errors", several)):
        for n in lines[:20]:
            print(f"{what}: {shown[n - 1]}")
    for error in unnamed[:20]:
        print(f"does not name the call: {error[:600]}")
    print(f"{args.by}: {len(names)} wrong calls, {len(silent)} without an error, {len(several)} with several, {len(unnamed)} errors that do not name a call")
    return 1 if silent or several or unnamed else 0


if __name__ == "__main__":
    sys.exit(main())
