#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What libggas_mpi_types.so costs MPI programs without GPU memory, by processor time; runs in turn, medians.
calls: in default mode, next to the same program without the library. packs: in host mode, next to the better of the two
MPIs without it. waits: n requests of columns in host mode, next to the MPI with messages of as many bytes, which is what
it is given then; the difference is what the library itself takes for a request. `./ggas build mpi_costs` makes the
programs."""

import argparse
import os
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MPIS = ("openmpi", "mpich")
MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def times(build, mpi, subject, mode):
    """Nanoseconds by name, of one process. mode: None without the library, else what GGAS_MPI_TYPES is."""
    environment = {**os.environ, **MAY}
    if mode is not None:
        environment["LD_PRELOAD"] = str(build / "userlib" / "mpi" / mpi / "libggas_mpi_types.so")
        environment.update({"GGAS_MPI_TYPES": mode} if mode else {})
    program = build / "benchmarks" / "mpi_types" / f"mpi_{subject}_{mpi}"
    said = subprocess.run([program], env=environment, capture_output=True, text=True, check=True).stdout
    return {name: float(ns) for name, ns in (line.split("\t") for line in said.splitlines())}


def medians(build, subject, ways, rounds):
    """By way, then by name; all ways in each round."""
    found = {way: defaultdict(list) for way in ways}
    for _ in range(rounds):
        for way in ways:
            for name, ns in times(build, way[0], subject, way[1]).items():
                found[way][name].append(ns)
    return {way: {name: statistics.median(all_) for name, all_ in by_name.items()} for way, by_name in found.items()}


def compare_calls(build, rounds):
    found = medians(build, "calls", [(mpi, mode) for mpi in MPIS for mode in (None, "")], rounds)
    for mpi in MPIS:
        for name, alone in found[mpi, None].items():
            ours = found[mpi, ""][name]
            print(f"{mpi:8} {name:32} {alone:12.1f} {ours:12.1f} ns {ours / alone:6.3f}")


def compare_packs(build, rounds):
    found = medians(build, "packs", [(mpi, mode) for mpi in MPIS for mode in (None, "host")], rounds)
    for mpi in MPIS:
        ratios = {}
        for name, ours in found[mpi, "host"].items():
            better = min(found[m, None][name] for m in MPIS)
            ratios[name] = ours / better
            print(f"{mpi:8} {name:40} {better:12.1f} {ours:12.1f} ns {ours / better:6.3f}")
        for what in ("pack ", "unpack "):
            some = [ratio for name, ratio in ratios.items() if name.startswith(what)]
            within = [sum(r <= bound for r in some) / len(some) for bound in (1.0, 1.2)]
            print(f"{mpi:8} {what}{len(some)} layouts: {within[0]:.0%} at most 1.0, {within[1]:.0%} at most 1.2, worst {max(some):.2f}")


def compare_waits(build, rounds):
    found = medians(build, "waits", [(mpi, mode) for mpi in MPIS for mode in (None, "host")], rounds)
    for mpi in MPIS:
        alone, ours = found[mpi, None], found[mpi, "host"]
        for name in (name for name in ours if " columns " in name):
            step, _, n = name.split()
            as_bytes = alone[f"{step} bytes {n}"]
            own = (ours[name] - as_bytes) / (2 * int(n))
            print(f"{mpi:8} {step} {2 * int(n):6}: MPI {alone[name] / 1e3:9.1f}, of bytes {as_bytes / 1e3:9.1f}, with the library {ours[name] / 1e3:9.1f} us, own {own:7.1f} ns a request")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subject", choices=("calls", "packs", "waits"))
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=9)
    opts = parser.parse_args()
    {"calls": compare_calls, "packs": compare_packs, "waits": compare_waits}[opts.subject](opts.build, opts.rounds)


if __name__ == "__main__":
    main()
