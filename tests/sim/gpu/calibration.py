# SPDX-License-Identifier: Apache-2.0
"""Runs the calibration benchmarks and compares with the published figures: C1, C2, C3 within 10 %, C4 exact."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

BENCHMARKS = ["store_latency", "load_latency", "store_bandwidth", "load_bandwidth", "coalescing"]
TOLERANCE = {"C1": 0.10, "C2": 0.10, "C3": 0.10, "C4": 0.0}


def main(bench: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        subprocess.run([bench, *BENCHMARKS, "--quick", "--no-report", "--json", str(out)], check=True, timeout=500)
        records = [json.loads(line) for line in out.read_text().splitlines()]
    missing, bad = set(TOLERANCE), 0
    for r in records:
        reference = r.get("reference")
        if not reference:
            continue
        figure = reference["source"].split()[0]
        missing.discard(figure)
        deviation = r["value"] / reference["value"] - 1
        if abs(deviation) > TOLERANCE[figure]:
            bad += 1
            print(f"{figure}: {r['benchmark']} {r['variant']} {r['params']}: {r['value']:g} {r['unit']}, {deviation:+.1%}")
    for figure in sorted(missing):
        print(f"{figure}: no record refers to it")
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
