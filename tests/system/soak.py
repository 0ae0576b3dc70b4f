# SPDX-License-Identifier: Apache-2.0
"""Traffic of all units on 8 nodes of RTL in a torus, with faults on their links, until so many cycles of NICs are run.

A run is one benchmark, which verifies its results, with faults drawn from the seed. Flits that are damaged, dropped or
doubled must change nothing. A link that is cut, and comes back, may end a run: with a message, in bounded time, never
with a wrong result. What failed is printed with the command that repeats it; status 1.
"""
import argparse
import collections
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODES, TOPOLOGY = 8, "torus:2x2x2"
ALL_NODES = "random_stores random_access alltoall allreduce allgather broadcast barrier global_reduction himeno".split()
PAIRS = "message_rate put_bandwidth get_bandwidth atomic_latency load_bandwidth store_bandwidth".split()
# What a benchmark says when an operation towards another node ended with an error; a wrong result reads otherwise.
REPORTED = ("peer error", "timeout", "timed out", "time-out", "broken", "unreachable", "link")
COUNTERS = ("LINK_TX_PACKETS", "LINK_RX_CRC_ERRORS", "LINK_RX_SEQ_ERRORS", "LINK_TX_REPLAYS", "EVENT_LINK_DEAD",
            "EVENT_PACKET_LOST")


def wires():
    """Both directions of every link: nodes whose numbers differ in one bit."""
    return [f"{a}->{a ^ 1 << d}" for a in range(NODES) for d in range(3)]


def drawn_faults(rng, cut):
    def rate():
        return f"{10 ** rng.uniform(-5, -3):.2e}"

    faults = [f"* corrupt rate {rate()}"]
    for kind in ("drop", "duplicate", "corrupt"):
        faults += [f"{wire} {kind} rate {rate()}" for wire in rng.sample(wires(), 4)]
    if cut:
        begin = rng.randrange(42, 120)
        faults.append(f"{rng.choice(wires())} cut from {begin} to {begin + rng.randrange(1, 40)}")
    return faults


def run_one(bench, name, seed, cut, timeout_s):
    """Cycles, counters, what went wrong (None: nothing), whether an error was reported, the command."""
    rng = random.Random(f"{seed} {name} {cut}")
    command = [bench, name, "--quick", "--nodes", str(NODES), "--topology", TOPOLOGY, "--seed", str(seed)]
    command += ["--wall", "--no-report"]
    for fault in drawn_faults(rng, cut):
        command += ["--fault", fault]
    with tempfile.TemporaryDirectory() as folder:
        records, state = Path(folder, "records"), Path(folder, "state")
        try:
            done = subprocess.run([*command, "--json", records, "--state", state], capture_output=True, text=True,
                                  timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return 0, {}, f"no end in {timeout_s} s", False, command
        lines = records.read_text().splitlines() if records.exists() else []
        cycles = sum(json.loads(line)["sim"]["cycles"] for line in lines)
        last = {}
        for line in state.read_text().splitlines() if state.exists() else []:
            at = json.loads(line)
            last[at["node"]] = at["counters"]
    counters = {name: sum(c.get(name, 0) for c in last.values()) for name in COUNTERS}
    if done.returncode == 0:
        return cycles, counters, None, False, command
    reported = cut and done.returncode == 1 and any(word in done.stderr for word in REPORTED)
    return cycles, counters, None if reported else f"status {done.returncode}: {done.stderr.strip()[-300:]}", reported, command


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="ggas-bench")
    parser.add_argument("--cycles", type=float, default=1e8,
                        help="cycles in which a NIC was awake, of all nodes together (default 1e8)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no run after so many")
    parser.add_argument("--short", action="store_true",
                        help="two runs of random stores: bit errors, and a link that is cut")
    options = parser.parse_args()
    began, cycles, failures, runs, reported = time.monotonic(), 0, [], 0, 0
    counted = collections.Counter()

    def go(name, seed, cut):
        nonlocal cycles, runs, reported
        more, counters, wrong, was_reported, command = run_one(options.bench, name, seed, cut, 1800)
        cycles, runs, reported = cycles + more, runs + 1, reported + was_reported
        counted.update(counters)
        if wrong:
            failures.append(name)
            words = " ".join(repr(w) if " " in w else w for w in command)
            print(f"{name}, seed {seed}: {wrong}\n  {words}", flush=True)
        return counters

    if options.short:
        go("random_stores", options.seed, False)
        go("random_stores", options.seed, True)
    seed = options.seed
    while not options.short and cycles < options.cycles and time.monotonic() - began < options.seconds:
        for name in [*ALL_NODES, *PAIRS]:
            if cycles >= options.cycles or time.monotonic() - began >= options.seconds:
                break
            go(name, seed, False)
            if name in ALL_NODES:
                go(name, seed, True)
        print(f"seed {seed}: {cycles / 1e6:.1f} M cycles, {runs} runs, {len(failures)} failed, "
              f"{time.monotonic() - began:.0f} s", flush=True)
        seed += 1
    print(f"{cycles} cycles of {NODES} NICs, {runs} runs, {reported} ended by a cut link, {len(failures)} failed; " +
          ", ".join(f"{k} {v}" for k, v in counted.items()))
    if counted["LINK_TX_REPLAYS"] == 0:
        sys.exit("no packet was sent again: the faults did nothing")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
