#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the RTL: lines, ports of modules, lines of always blocks.

Exit status 1 if a module has more ports than PORTS, an always block more lines than BLOCK, or a file more than FILE.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent
PORTS, BLOCK, FILE = 60, 60, 550


def code(text):
    """Without comments, line by line as it was."""
    return re.sub(r"//.*", "", text)


def closing(text, start):
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed")


def ports(text):
    """Ports of the module in `text`; 0 for a package."""
    module = re.search(r"\bmodule\s+\w+\s*(#\s*)?", text)
    if not module:
        return 0
    at = module.end()
    if module.group(1):  # parameters
        at = closing(text, at) + 1
    at = text.index("(", at)
    inside = text[at + 1 : closing(text, at)]
    while (flat := re.sub(r"[\[({][^\[\](){}]*[\])}]", "", inside)) != inside:
        inside = flat
    return sum(1 for port in inside.split(",") if port.strip())


def blocks(text):
    """(first line, lines) of each always block."""
    lines = text.split("\n")
    for first, line in enumerate(lines):
        if not re.match(r"\s*always(_ff|_comb|_latch)?\b", line):
            continue
        depth = 0
        for last in range(first, len(lines)):
            depth += len(re.findall(r"\b(?:begin|case|function)\b", lines[last]))
            depth -= len(re.findall(r"\b(?:end|endcase|endfunction)\b", lines[last]))
            if depth == 0 and re.search(r";|\bend\b", lines[last]):
                break
        yield first + 1, last - first + 1


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("files", nargs="*", type=pathlib.Path, help="files (all of rtl/)")
    opts = args.parse_args()
    files = opts.files or sorted(ROOT.rglob("*.sv"))
    most = {"ports": (0, ""), "lines of an always block": (0, ""), "lines of a file": (0, "")}
    bars = dict(zip(most, (PORTS, BLOCK, FILE)))
    total, bad = 0, []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as e:
            sys.exit(f"measure: {path}: {e.strerror}")
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        length = text.count("\n")
        total += length
        found = [("ports", ports(code(text)), str(name)), ("lines of a file", length, str(name))]
        found += [("lines of an always block", n, f"{name}:{at}") for at, n in blocks(code(text))]
        for kind, n, where in found:
            most[kind] = max(most[kind], (n, where))
            if n > bars[kind]:
                bad.append(f"{where}: {n} {kind}, at most {bars[kind]}")
    print(f"{len(files)} files, {total} lines")
    for kind, (n, where) in most.items():
        print(f"most {kind}: {n} ({where}), at most {bars[kind]}")
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
