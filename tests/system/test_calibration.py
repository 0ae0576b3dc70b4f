# SPDX-License-Identifier: Apache-2.0
"""The simulated testbed meets the published calibration figures: C4 exactly, C1, C2 and C3 within 10 %."""

import results

RUN = ["store_latency", "load_latency", "store_bandwidth", "load_bandwidth", "coalescing", "--quick", "--provider", "sim"]


def test_calibration_figures(records):
    compared = {}
    for r in records(*RUN):
        if r["reference"]:
            compared.setdefault((r["reference"]["source"], r["benchmark"]), []).append(results.deviation(r))
    assert set(compared) == {("C1", "store_latency"), ("C2", "load_latency"), ("C3", "store_bandwidth"), ("C3", "load_bandwidth"), ("C4", "coalescing")}
    assert len(compared["C4", "coalescing"]) == 24
    for (source, benchmark), deviations in compared.items():
        allowed = 0 if source == "C4" else 0.1
        assert max(map(abs, deviations)) <= allowed, (source, benchmark, deviations)
