# SPDX-License-Identifier: Apache-2.0
"""Runs the calibration benchmarks and compares with the published figures: C1, C2, C3, C5 within 10 %, C4 exact, C6 where C1 ... C4
leave it. And what must follow from them: how a put by the GPU compares with one by the host and with the original scheme."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

BENCHMARKS = ["store_latency", "load_latency", "store_bandwidth", "load_bandwidth", "coalescing", "put_latency", "transfer_path"]
# Deviations allowed, as parts of the published figure. C6 is not met and not fitted to: docs/calibration.md gives the
# reason. It must lie between the time that the hardware needs (2.0 us) and the round trip of C3 (3.0 us); 4.9 us were
# published.
ALLOWED = {"C1": (-0.10, 0.10), "C2": (-0.10, 0.10), "C3": (-0.10, 0.10), "C4": (0, 0), "C5": (-0.10, 0.10), "C6": (-0.59, -0.39)}
# put_latency of 8 bytes: gpu_notify_gpu is at most so many times the other variant.
AT_MOST = {"host": 1.15, "gpu_notify_host": 1 / 2.5}


def compare_puts(records) -> int:
    latency = {r["variant"]: r["value"] for r in records
               if r["benchmark"] == "put_latency" and r["metric"] == "half_round_trip" and r["params"]["bytes"] == 8}
    bad = 0
    for other, limit in AT_MOST.items():
        ratio = latency["gpu_notify_gpu"] / latency[other]
        if ratio > limit:
            bad += 1
            print(f"put_latency gpu_notify_gpu is {ratio:.3f} of {other}: at most {limit:.3f}")
    return bad


def main(bench: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        subprocess.run([bench, *BENCHMARKS, "--quick", "--no-report", "--json", str(out)], check=True, timeout=500)
        records = [json.loads(line) for line in out.read_text().splitlines()]
    missing, bad = set(ALLOWED), 0
    for r in records:
        reference = r.get("reference")
        if not reference:
            continue
        figure = reference["source"].split()[0]
        missing.discard(figure)
        deviation = r["value"] / reference["value"] - 1
        least, most = ALLOWED[figure]
        if not least <= deviation <= most:
            bad += 1
            print(f"{figure}: {r['benchmark']} {r['variant']} {r['params']}: {r['value']:g} {r['unit']}, {deviation:+.1%}")
    for figure in sorted(missing):
        print(f"{figure}: no record refers to it")
    bad += compare_puts(records)
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
