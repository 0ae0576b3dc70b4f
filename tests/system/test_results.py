# SPDX-License-Identifier: Apache-2.0
"""Result records: format, repeatability, verified kernels for several node counts."""

import re

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


def test_a_record_says_what_was_overridden_and_how_it_was_made(records, tmp_path, monkeypatch):
    (tmp_path / "s.toml").write_text('benchmarks = ["barrier"]\nsize = "quick"\n[cluster]\nset = ["link.latency_ns=200"]\nfaults = ["0->1 drop at 30"]\n')
    monkeypatch.setenv("GGAS_NEW_SWITCH", "on")
    monkeypatch.setenv("GGAS_SECRET", "00")
    for r in records("--scenario", "s.toml", "--set", "cpu.call_ns=100", "--topology", "full", "--nodes", "3"):
        results.check(r, "record")
        run = r["run"]
        assert run["command"] == "ggas-bench --nodes 3 --topology full --set cpu.call_ns=100 --scenario s.toml"
        assert run["topology"] == "full" and run["faults"] == ["0->1 drop at 30"] and run["set"] == ["link.latency_ns=200", "cpu.call_ns=100"]
        assert run["environment"] == {"GGAS_NEW_SWITCH": "on"} and set(run["files"]) == {"s.toml"}
        assert re.fullmatch("[0-9a-f]{12}(-dirty)?|unknown", run["commit"]) and "Release" in run["compiler"]


# Other words, the same figures.
@pytest.mark.parametrize("changed", [["--set", "nic.clock_mhz=175"], ["--topology", "full"], ["--fault", "0->1 drop at 1000000"], ["--nic", "model"], "GGAS_NEW_SWITCH"])
def test_published_figures_stand_only_where_nothing_was_overridden(records, monkeypatch, changed):
    words = ["coalescing", "--provider", "sim"]
    assert any(r["reference"] for r in records(*words))
    if isinstance(changed, str):
        monkeypatch.setenv(changed, "on")
    assert not any(r["reference"] for r in records(*words, *([] if isinstance(changed, str) else changed)))


def test_the_table_says_it_too(bench):
    done = bench("barrier", "--quick", "--nic", "model", "--topology", "ring", "--nodes", "4", "--set", "link.latency_ns=200")
    assert "overridden: --topology ring, --set link.latency_ns=200\n" in done.stdout
    assert "run: ggas-bench barrier --quick --nodes 4 --nic model --topology ring --set link.latency_ns=200; " in done.stdout


def test_several_seeds_are_their_median_with_a_spread(records, bench):
    words = ["barrier", "--quick", "--nic", "model"]
    alone = [records(*words, "--seed", seed) for seed in (5, 6, 7)]
    together = records(*words, "--seed", 5, "--seeds", 3)
    for number, r in enumerate(together):
        results.check(r, "record")
        values = sorted(of_seed[number]["value"] for of_seed in alone)
        assert (r["value"], r["seeds"]) == (values[1], {"count": 3, "least": values[0], "most": values[2]})
        assert (r["seed"], r["n"]) == (5, sum(of_seed[number]["n"] for of_seed in alone))
    assert any(r["seeds"]["least"] < r["seeds"]["most"] for r in together)
    assert bench(*words, "--seeds", "0").returncode == 2
    done = bench(*words, "--seeds", "2", "--trace", "t.json")
    assert done.returncode == 2 and "need one seed: no --seeds" in done.stderr


def test_wall_clock_on_demand(records):
    for r in records("load_latency", "--quick", "--provider", "shm", "--wall"):
        assert r["sim"]["wall_s"] > 0


def test_same_seed_same_bytes(bench, tmp_path):
    names = ["load_latency", "coalescing", "barrier", "allreduce", "random_access", "put_latency", "atomic_latency"]
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
    assert {r.pop("run")["command"] for r in one} == {"ggas-bench coalescing --seed 1 --provider sim"}
    assert {r.pop("run")["command"] for r in two} == {"ggas-bench coalescing --seed 2 --provider sim"}
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
