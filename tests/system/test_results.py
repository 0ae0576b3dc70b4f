# SPDX-License-Identifier: Apache-2.0
"""Result records: format, repeatability, verified kernels for several node counts."""

import pytest
import results

TINY = ["coalescing", "--provider", "sim"]


@pytest.mark.parametrize("nodes", [2, 3, 5])
def test_records_keep_the_format_for_any_number_of_nodes(records, nodes):
    found = records("thesis", "--quick", "--provider", "shm", "--nodes", nodes, "--seed", 7, timeout=280)
    for number, r in enumerate(found):
        results.check(r, f"record {number}")
        assert (r["nodes"], r["seed"], r["provider"], r["platform"], r["nic"]) == (nodes, 7, "shm", "host", "none")
        assert r["value"] > 0 and r["n"] > 0
        assert r["reference"] is None and r["limit"] is None
        assert r["sim"]["wall_s"] is None
    assert {r["benchmark"] for r in found} >= {"store_latency", "barrier", "reduce", "allreduce", "random_access", "put_latency", "get_bandwidth", "message_rate"}


def test_wall_clock_on_demand(records):
    for r in records("load_latency", "--quick", "--provider", "shm", "--wall"):
        assert r["sim"]["wall_s"] > 0


def test_same_seed_same_bytes(bench, tmp_path):
    names = ["store_latency", "load_latency", "coalescing", "barrier", "allreduce", "random_access", "put_latency", "atomic_latency"]
    for name in ("a", "b"):
        done = bench(*names, "--quick", "--provider", "sim", "--json", name)
        assert done.returncode == 0, done.stderr
    first = (tmp_path / "a").read_bytes()
    assert len(first) > 1000
    assert first == (tmp_path / "b").read_bytes()


def test_another_seed_shifts_only_times(records):
    """The seed moves the moment at which kernels begin: the cost of a point may differ, what it counts may not."""
    one, two = records(*TINY, "--seed", 1), records(*TINY, "--seed", 2, name="two")
    assert [r.pop("seed") for r in one] == [1] * len(one)
    assert [r.pop("seed") for r in two] == [2] * len(two)
    assert [r.pop("sim") for r in one] != [r.pop("sim") for r in two]
    assert one == two


def test_another_seed_is_another_stream_of_updates(records):
    arguments = ["random_access", "--quick", "--provider", "sim"]
    one, two = records(*arguments, "--seed", 1), records(*arguments, "--seed", 2, name="two")
    assert [r["params"] for r in one] == [r["params"] for r in two]
    assert [r["value"] for r in one] != [r["value"] for r in two]


def test_simulated_records_name_platform_and_bound(records):
    found = records("store_bandwidth", "--quick", "--provider", "sim", "--platform", "modern")
    for r in found:
        results.check(r, "record")
        assert (r["provider"], r["platform"], r["nic"]) == ("sim", "modern", "rtl")
        assert r["reference"] is None  # published on another platform
        assert 0 < r["value"] <= r["limit"]["value"]
        assert r["sim"]["cycles"] > 0 and r["sim"]["sim_ns"] > 0
