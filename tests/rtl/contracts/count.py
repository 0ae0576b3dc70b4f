#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the streams of the NIC's modules with and without a contract.

A stream is an output of a module: ports x_valid_o, x_ready_i, x_sop_o and x_eop_o, or a struct of beats x_o with
x_ready_i. A stream that comes straight from an inner module counts there. Handshakes (x_valid_o and x_ready_i without
sop) are counted separately. tests/rtl/contracts/<module>.sv binds the contracts by the port's name. Exit status 1 if a
stream has no contract.
"""

import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
RTL = HERE.parents[2] / "rtl"
PORT = re.compile(r"^\s*(input|output)\b(.*?)(\w+)\s*(?:,|$|\))", re.MULTILINE)


def code(path):
    return re.sub(r"//.*", "", path.read_text())


def streams(module):
    """Names of the streams and of the handshakes that a module drives itself."""
    head, _, body = module.partition(");")
    ports = {name: (way, kind) for way, kind, name in PORT.findall(head)}
    found, plain = [], []
    for name, (way, kind) in ports.items():
        # .x_o(NAME or .x_o({NAME or .NAME, : a port of a module inside
        if way != "output" or re.search(rf"\.\w+_o\(\s*{{?{name}\b|\.{name}\s*[,)]", body):
            continue
        if name.endswith("_valid_o") and name[:-7] + "ready_i" in ports:
            (found if name[:-7] + "sop_o" in ports else plain).append(name[:-8])
        elif "_beat_t" in kind and name.endswith("_o") and name[:-1] + "ready_i" in ports:
            found.append(name[:-2])
    return found, plain


def bound(name):
    """Names of the ports that have a contract in a module."""
    path = HERE / f"{name}.sv"
    if not path.exists():
        return set()
    text = code(path)
    return set(re.findall(rf"`\w+\({name}, (\w+)", text)) | set(re.findall(r"\b(\w+)_contract\b", text)) - {"stream"}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--missing", action="store_true", help="list handshakes without a contract, too")
    opts = args.parse_args()
    total = {"streams": [0, 0], "handshakes": [0, 0]}
    failed = False
    for path in sorted([*RTL.glob("*/*.sv"), *RTL.glob("rma/*/*.sv"), RTL / "nic_top.sv"]):
        have = bound(path.stem)
        for kind, names in zip(total, streams(code(path))):
            missing = [n for n in names if n not in have]
            total[kind][0] += len(names) - len(missing)
            total[kind][1] += len(names)
            failed |= kind == "streams" and bool(missing)
            if missing and (kind == "streams" or opts.missing):
                print(f"{path.relative_to(RTL)}: no contract of {kind} {', '.join(missing)}")
    for kind, (have, all_of_them) in total.items():
        print(f"{kind}: {have} of {all_of_them} with a contract")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
