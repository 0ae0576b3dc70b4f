# SPDX-License-Identifier: Apache-2.0
"""Every benchmark in a size (quick, middle) on a simulated platform: status 0, and records of each. At full size:
benchmarks/full_size.py."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def benchmarks(bench):
    text = subprocess.run([bench, "list"], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^  (\w+)  ", text.partition("\nbenchmarks\n")[2], re.MULTILINE)) - {"trace"}  # it runs a file


def main(bench, platform, size):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        done = subprocess.run([bench, "thesis", f"--{size}", "--platform", platform, "--no-report", "--json", str(out)], timeout=800)
        seen = {r["benchmark"] for r in map(json.loads, out.read_text().splitlines())}
    missing = sorted(benchmarks(bench) - seen)
    if missing:
        print("no record of", ", ".join(missing))
    return done.returncode or bool(missing)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
