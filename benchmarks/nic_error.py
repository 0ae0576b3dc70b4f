# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks on simulated nodes with the RTL of the NIC and with its model, and prints how far off the model
is, figure by figure.

    python benchmarks/nic_error.py build/release/benchmarks/ggas-bench
    python benchmarks/nic_error.py build/release/benchmarks/ggas-bench --platform modern --quick put_latency
    python benchmarks/nic_error.py build/release/benchmarks/ggas-bench --nodes 4 --topology ring --quick barrier

Exit status 1 if a time or a rate is off by more than --bar percent, or a run did not end with status 0."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# The suites of stores and of one-sided communication.
BENCHMARKS = ["store_latency", "load_latency", "store_bandwidth", "load_bandwidth", "barrier", "put_latency",
              "get_latency", "put_bandwidth", "get_bandwidth", "message_rate", "atomic_latency"]
UNITS = {"ns", "B/s", "1/s"}  # counts of instructions and transactions are no matter of time


def key(record):
    return (record["benchmark"], record["variant"], record["metric"],
            json.dumps(record["params"], sort_keys=True))


def measure(args, name, nic):
    """The figures of one benchmark by key; None: it failed, and said why."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        command = [args.bench, name, "--nic", nic, "--platform", args.platform, "--seed", str(args.seed),
                   "--nodes", str(args.nodes), "--topology", args.topology,
                   "--json", str(out)] + (["--quick"] if args.quick else [])
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}", file=sys.stderr)
            return None
        records = [json.loads(line) for line in out.read_text().splitlines()]
    return {key(r): r["value"] for r in records if r.get("unit") in UNITS}


def compare(args, name):
    """(rows of the table, worst deviation in percent)."""
    rtl, model = measure(args, name, "rtl"), measure(args, name, "model")
    if rtl is None or model is None:
        return [], float("inf")
    rows, worst = [], 0.0
    for k, value in rtl.items():
        if k not in model or value == 0:
            continue
        off = 100 * (model[k] / value - 1)
        worst = max(worst, abs(off))
        params = " ".join(f"{p}={v}" for p, v in json.loads(k[3]).items())
        rows.append(f"| {name} | {k[1]} | {params} | {k[2]} | {value:.6g} | {model[k]:.6g} | {off:+.1f} % |")
    return rows, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="the program ggas-bench")
    parser.add_argument("names", nargs="*", default=BENCHMARKS, help="benchmarks; default: stores and one-sided")
    parser.add_argument("--platform", default="galibier-k20")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--topology", default="auto", help="as ggas-bench has it; default auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="few points of each")
    parser.add_argument("--bar", type=float, default=5.0, help="percent; default 5")
    args = parser.parse_args()
    print(f"Simulated: provider sim, platform {args.platform}, {args.nodes} nodes ({args.topology}), seed {args.seed}.\n")
    print("| benchmark | variant | point | figure | rtl | model | model is off by |\n|---|---|---|---|---|---|---|")
    worst, over, count = 0.0, 0, 0
    for name in args.names or BENCHMARKS:
        rows, off = compare(args, name)
        print("\n".join(rows), flush=True)
        worst = max(worst, off)
        count += len(rows)
        over += sum(abs(float(r.split("|")[-2].split()[0])) > args.bar for r in rows)
    print(f"\n{count} figures, {over} off by more than {args.bar:g} %, the worst by {worst:.1f} %.")
    return 1 if worst > args.bar else 0


if __name__ == "__main__":
    sys.exit(main())
