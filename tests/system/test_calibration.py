# SPDX-License-Identifier: Apache-2.0
"""The simulated testbed meets the published calibration figures: C4 exactly, C1, C2, C3 and C5 within 10 %. C6 is not met (docs/calibration.md)."""

import results

RUN = ["store_latency", "load_latency", "store_bandwidth", "load_bandwidth", "coalescing", "put_latency", "put_bandwidth", "transfer_path", "--quick", "--provider", "sim"]


def test_calibration_figures(records):
    compared = {}
    for r in records(*RUN):
        if r["reference"]:
            compared.setdefault((r["reference"]["source"], r["benchmark"]), []).append(results.deviation(r))
    expected = {("C1", "store_latency"), ("C2", "load_latency"), ("C3", "store_bandwidth"), ("C3", "load_bandwidth"), ("C4", "coalescing")}
    expected |= {("C5", "transfer_path"), ("C5", "put_bandwidth"), ("C6", "put_latency")}
    assert set(compared) == expected
    assert len(compared["C4", "coalescing"]) == 24
    assert len(compared["C5", "transfer_path"]) == 4
    for (source, benchmark), deviations in compared.items():
        allowed = {"C4": (0, 0), "C6": (-0.59, -0.39)}.get(source, (-0.1, 0.1))
        assert allowed[0] <= min(deviations) and max(deviations) <= allowed[1], (source, benchmark, deviations)


def test_put_by_the_gpu_beats_the_original_way(records):
    """Small puts with notifications in GPU memory: hardly slower than the processor's, much faster than the original scheme."""
    found = records("put_latency", "--quick", "--provider", "sim")
    small = {r["variant"]: r["value"] for r in found if r["metric"] == "half_round_trip" and r["params"]["bytes"] == 8}
    assert small["gpu_notify_gpu"] <= 1.15 * small["host"]
    assert small["gpu_notify_gpu"] <= small["gpu_notify_host"] / 2.5
    costs = {(r["variant"], r["metric"]): r["value"] for r in found}
    assert costs["gpu_notify_gpu", "gpu_pcie_reads"] == 0
    assert costs["gpu_notify_gpu", "gpu_pcie_writes"] == 1  # a descriptor is one store
    assert costs["gpu_notify_host", "gpu_pcie_reads"] >= 4


def test_only_calibration_runs_carry_published_figures(records):
    for r in records("put_latency", "transfer_path", "--quick", "--provider", "sim", "--set", "nic.clock_mhz=175"):
        assert r["reference"] is None
