# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks on simulated nodes with the RTL of the NIC and with its model, and prints how far off the model
is, figure by figure.

    python benchmarks/nic/error.py build/release/benchmarks/ggas-bench
    python benchmarks/nic/error.py build/release/benchmarks/ggas-bench --platform modern --quick put_latency
    python benchmarks/nic/error.py build/release/benchmarks/ggas-bench --nodes 4 --topology ring --quick barrier
    python benchmarks/nic/error.py build/release/benchmarks/ggas-bench --quick --seeds 8 --all

With several seeds the RTL runs those in which the model gives other figures than with the first one. Exit status 1 if a
time or a rate is off by more than --bar percent, or a run did not end with status 0."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The suites of stores and of one-sided communication.
BENCHMARKS = ["store_latency", "load_latency", "store_bandwidth", "load_bandwidth", "barrier", "put_latency",
              "get_latency", "put_bandwidth", "get_bandwidth", "message_rate", "atomic_latency"]
NOT_OF_NODES = {"nic_cycles", "trace"}  # the NIC alone; it runs a file
UNITS = {"ns", "B/s", "1/s"}  # counts of instructions and transactions are no matter of time


def all_benchmarks(bench):
    text = subprocess.run([bench, "list"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^  (\w+)  ", text.partition("\nbenchmarks\n")[2], re.MULTILINE)
    return [name for name in names if name not in NOT_OF_NODES]


def key(record):
    return (record["benchmark"], record["variant"], record["metric"],
            json.dumps(record["params"], sort_keys=True))


def measure(args, name, nic, seed):
    """The figures of one benchmark by key; None: it failed, and said why."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        command = [args.bench, name, "--nic", nic, "--platform", args.platform, "--seed", str(seed),
                   "--nodes", str(args.nodes), "--topology", args.topology,
                   "--json", str(out)] + (["--quick"] if args.quick else [])
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout)
        except subprocess.TimeoutExpired:
            print(f"{' '.join(command)}: not ended after {args.timeout} s", file=sys.stderr)
            return None
        if done.returncode != 0:
            print(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}", file=sys.stderr)
            return None
        records = [json.loads(line) for line in out.read_text().splitlines()]
    return {key(r): r["value"] for r in records if r.get("unit") in UNITS}


def compare(args, name):
    """[(what the figure is of, that of the RTL, that of the model)]; None: a run failed."""
    rows, models = [], []
    for seed in range(args.seed, args.seed + args.seeds):
        model = measure(args, name, "model", seed)
        if model is None:
            return None
        if model in models:
            continue
        models.append(model)
        rtl = measure(args, name, "rtl", seed)
        if rtl is None:
            return None
        for k, value in rtl.items():
            params = " ".join(f"{p}={v}" for p, v in json.loads(k[3]).items())
            if k in model and value != 0:
                rows.append(((name, k[1], params, k[2], seed), value, model[k]))
    return rows


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="the program ggas-bench")
    parser.add_argument("names", nargs="*", help="benchmarks; default: stores and one-sided")
    parser.add_argument("--all", action="store_true", help="all benchmarks of several nodes")
    parser.add_argument("--platform", default="galibier-k20")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--topology", default="auto", help="as ggas-bench has it; default auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1, help="so many, from --seed on; default 1")
    parser.add_argument("--quick", action="store_true", help="few points of each")
    parser.add_argument("--bar", type=float, default=5.0, help="percent; default 5")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds that a run may take; default 3600")
    return parser.parse_intermixed_args()


def main():
    args = arguments()
    print(f"Simulated: provider sim, platform {args.platform}, {args.nodes} nodes ({args.topology}).\n")
    print("| benchmark | variant | point | figure | seed | rtl | model | model is off by |\n" + "|---" * 8 + "|")
    worst, over, count, failed = 0.0, 0, 0, []
    for name in args.names or (all_benchmarks(args.bench) if args.all else BENCHMARKS):
        rows = compare(args, name)
        if rows is None:
            failed.append(name)
            continue
        for what, rtl, model in rows:
            off = 100 * (model / rtl - 1)
            worst = max(worst, abs(off))
            over += abs(off) > args.bar
            print(f"| {' | '.join(map(str, what))} | {rtl:.6g} | {model:.6g} | {off:+.1f} % |")
        sys.stdout.flush()
        count += len(rows)
    print(f"\n{count} figures, {over} off by more than {args.bar:g} %, the worst by {worst:.1f} %.")
    if failed:
        print(f"failed: {' '.join(failed)}")
    return 1 if over or failed else 0


if __name__ == "__main__":
    sys.exit(main())
