#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/plots/*.svg from the published records in docs/results: run it when records there have changed."""

import hashlib
import sys
from pathlib import Path

import results
from plots import logarithmic_sizes, logarithmic_values, plt

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PLOTS = ROOT / "docs" / "results", ROOT / "docs" / "plots"
STYLE = {
    "GGAS": ("tab:blue", "o", "-"), "GGAS, tagged": ("tab:cyan", "o", "-"), "GGAS, grid": ("tab:cyan", "s", "-"), "NVSHMEM": ("tab:green", "v", "--"),
    "NVSHMEM, grid": ("tab:olive", "s", "--"), "NCCL": ("tab:red", "^", "--"), "NCCL, window": ("tab:orange", "^", "--"),
    "bare CUDA": ("black", "x", ":"), "bare CUDA, grid": ("tab:gray", "+", ":"),
}  # fmt: skip
# Variants of the records that GGAS and the others write.
OTHERS = {"NVSHMEM": {"nvshmem"}, "NCCL": {"nccl"}, "NCCL, window": {"nccl_window"}, "bare CUDA": {"raw"}}
FLOAT = 4  # bytes


def source(gpus):
    return f"compare-{gpus}.jsonl"


def fingerprint(panels):
    """What a picture says of the records that it was drawn from."""
    names = sorted({source(gpus) for _, gpus in panels})
    return "; ".join(f"{name} sha256 {hashlib.sha256((RESULTS / name).read_bytes()).hexdigest()}" for name in names)


def best(records, benchmark, place, **fit):
    """The best record at each place, over numbers of threads and the like: what the comparison counts too."""
    found = {}
    for r in records:
        params = r["params"]
        if r["benchmark"] != benchmark or place not in params or r["variant"] not in fit.get("variants", {r["variant"]}):
            continue
        if any(params.get(key) != value for key, value in fit.items() if key != "variants"):
            continue
        better = max if r["unit"] == "B/s" else min
        found[params[place]] = better(found.get(params[place], r["value"]), r["value"])
    return sorted(found.items())


def draw(ax, name, points, factor, places=1):
    if points:
        colour, marker, line = STYLE[name]
        ax.plot([places * x for x, _ in points], [y / factor for _, y in points], color=colour, marker=marker, linestyle=line, markersize=4, label=name)


def axes(ax, title, below, beside, logarithmic=True):
    ax.set_title(title, fontsize=9)
    logarithmic_sizes(ax)
    ax.set_xlabel(below)
    ax.set_ylabel(beside)
    if logarithmic:
        logarithmic_values(ax)
    else:
        ax.set_ylim(bottom=0)


def put_latency(ax, records, gpus):
    draw(ax, "GGAS", best(records, "put_latency", "bytes", variants={"put_signal"}), 1e3)
    draw(ax, "GGAS, tagged", best(records, "put_latency", "bytes", variants={"put_tagged"}), 1e3)
    for name in ("NVSHMEM", "bare CUDA"):
        draw(ax, name, best(records, "put_latency", "bytes", variants=OTHERS[name]), 1e3)
    axes(ax, f"put and signal by one block, {gpus} GPUs", "message, bytes", "half a round trip, µs")


def put_by_blocks(ax, records, gpus):
    draw(ax, "GGAS", best(records, "put_bandwidth", "blocks", variants={"put"}, method="kernel"), 1e9)
    draw(ax, "NVSHMEM", best(records, "put_bandwidth", "blocks", variants=OTHERS["NVSHMEM"], method="kernel"), 1e9)
    draw(ax, "bare CUDA", best(records, "put_bandwidth", "blocks", variants=OTHERS["bare CUDA"], method="stores", connections=1), 1e9)
    axes(ax, f"put in a kernel, 128 MiB (up to 4 blocks) and 1 GiB, {gpus} GPUs", "blocks", "GB/s a GPU", logarithmic=False)


def put_by_bytes(ax, records, gpus):
    draw(ax, "GGAS", best(records, "put_bandwidth", "bytes", variants={"copy_engine"}), 1e9)
    draw(ax, "NVSHMEM", best(records, "put_bandwidth", "bytes", variants=OTHERS["NVSHMEM"], method="stream"), 1e9)
    axes(ax, f"put on a stream, {gpus} GPUs", "message, bytes", "GB/s a GPU", logarithmic=False)


def in_kernel(benchmark, below):
    def panel(ax, records, gpus):
        draw(ax, "GGAS", best(records, benchmark, "elements", variants={"block"}), 1e3, FLOAT)
        draw(ax, "GGAS, grid", best(records, benchmark, "elements", variants={"grid"}), 1e3, FLOAT)
        for name in ("NVSHMEM", "bare CUDA"):
            for shape, label in (("block", name), ("grid", f"{name}, grid")):
                draw(ax, label, best(records, benchmark, "elements", variants=OTHERS[name], method=shape), 1e3, FLOAT)
        axes(ax, f"{benchmark} in a kernel, {gpus} GPUs", below, "µs")

    return panel


def graph_nodes(records):
    """Times of an allreduce as a graph node, by library."""
    yield "GGAS", best(records, "allreduce", "elements", variants={"graph", "auto"}, method="graph")
    for name in ("NVSHMEM", "NCCL", "NCCL, window"):
        yield name, best(records, "allreduce", "elements", variants=OTHERS[name], method="graph")


def allreduce(ax, records, gpus):
    for name, points in graph_nodes(records):
        draw(ax, name, points, 1e3, FLOAT)
    axes(ax, f"allreduce as a graph node, {gpus} GPUs", "vector, bytes", "µs")


def bus_bandwidth(ax, records, gpus):
    moved = 2 * (gpus - 1) / gpus * FLOAT  # bytes that leave a GPU, of an element
    for name, points in graph_nodes(records):
        draw(ax, name, [(n, moved * n / (ns * 1e-9)) for n, ns in points], 1e9, FLOAT)
    axes(ax, f"allreduce as a graph node, {gpus} GPUs", "vector, bytes", "bus bandwidth, GB/s", logarithmic=False)


# By name of the picture: panels, each with the number of GPUs whose records it shows.
PICTURES = {
    "latency": [(put_latency, 2), (put_latency, 4)],
    "bandwidth": [(put_by_blocks, 2), (put_by_bytes, 2)],
    "allreduce": [(allreduce, 2), (allreduce, 4), (bus_bandwidth, 2), (bus_bandwidth, 4)],
    "in_kernel": [
        (in_kernel("allreduce", "vector, bytes"), 2),
        (in_kernel("alltoall", "part for each GPU, bytes"), 2),
        (in_kernel("broadcast", "vector, bytes"), 2),
        (in_kernel("allgather", "part of each GPU, bytes"), 2),
    ],  # fmt: skip
}


def picture(panels, folder, name):
    records = {gpus: results.read(RESULTS / source(gpus)) for _, gpus in panels}
    rows = len(panels) // 2  # two panels side by side
    figure, places = plt.subplots(rows, 2, figsize=(10, 3.6 * rows), squeeze=False)
    for ax, (panel, gpus) in zip(places.flat, panels):
        panel(ax, records[gpus], gpus)
        ax.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Description": fingerprint(panels)})
    plt.close(figure)


def main():
    PLOTS.mkdir(exist_ok=True)
    for name, panels in PICTURES.items():
        picture(panels, PLOTS, name)
        print(PLOTS / f"{name}.svg")


if __name__ == "__main__":
    sys.exit(main())
