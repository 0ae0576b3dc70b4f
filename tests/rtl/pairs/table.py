#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of pairs in docs/rtl-tests.md from results of pairs_test.

    pairs_test --gtest_filter='*Long*' --gtest_output=json:pairs.json
    tests/rtl/pairs/table.py pairs.json

Several files are added up; those of pairs_4k_test have a table of their own (--4k). A cell has the number of events and
the number of operations during them; a failed cell says so.
Exit status 1 if a cell failed or is missing.
"""

import argparse
import json
import pathlib
import sys

DOC = pathlib.Path(__file__).resolve().parents[3] / "docs" / "rtl-tests.md"
BEGIN, END = "<!-- {} -->\n", "<!-- end of {} -->\n"


def results(files):
    """(feature, disturbance) -> [seeds, events, operations, failed], in the order of the tests; and cycles of all."""
    cells, cycles = {}, 0
    for file in files:
        for suite in json.loads(file.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                if "feature" not in test:
                    continue
                cell = cells.setdefault((test["feature"], test["disturbance"]), [set(), 0, 0, False])
                cell[0].add(test["seed"])
                cell[1] += int(test["events"])
                cell[2] += int(test["operations"])
                cell[3] |= "failures" in test
                cycles += int(test["cycles"])
    return cells, cycles


def table(cells, cycles):
    features = list(dict.fromkeys(f for f, _ in cells))
    rows = list(dict.fromkeys(d for _, d in cells))
    seeds = sorted(set().union(*(c[0] for c in cells.values())), key=int)
    events, failed = sum(c[1] for c in cells.values()), sum(c[3] for c in cells.values())
    lines = ["| disturbance | " + " | ".join(features) + " |", "|---" * (len(features) + 1) + "|"]
    for row in rows:
        found = [cells.get((f, row)) for f in features]
        texts = ["**missing**" if c is None else f"{'**failed** ' * c[3]}{c[1]:,} / {c[2]:,}" for c in found]
        lines.append(f"| {row} | " + " | ".join(texts) + " |")
    lines += ["", f"Seeds {', '.join(seeds)}: {events:,} events in {len(cells)} cells, {cycles:,} cycles of three NICs; cells that failed: {failed}.", ""]
    missing = len(features) * len(rows) - len(cells)
    return "\n".join(lines), failed + missing


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--4k", dest="name", action="store_const", const="pairs of 4 KB", default="pairs",
                      help="the table of an MTU of 4 KB")
    args.add_argument("files", nargs="+", type=pathlib.Path, help="JSON of GoogleTest")
    opts = args.parse_args()
    text, wrong = table(*results(opts.files))
    page = DOC.read_text()
    begin = page.index(BEGIN.format(opts.name)) + len(BEGIN.format(opts.name))
    end = page.index(END.format(opts.name))
    DOC.write_text(page[:begin] + text + page[end:])
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
