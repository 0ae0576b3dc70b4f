# SPDX-License-Identifier: Apache-2.0
"""--energy: joules of simulated clusters, by part."""

import json
import shutil

import pytest

PARTS = ["processor", "dram", "gpu", "gpu_memory", "pcie", "nic", "link"]
TOTAL, ABOVE = "energy_per_operation", "energy_above_idle_per_operation"
MODEL = ["--nic", "model", "--quick"]


def records(bench, tmp_path, *words, name="r"):
    file = tmp_path / f"{name}.jsonl"
    done = bench(*words, "--energy", "--json", file)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in file.read_text().splitlines()]


def points(found):
    """Energy by point, then by metric and part; and the record of the point itself."""
    out = {}
    for r in found:
        part = r["params"].pop("part", None)
        at = out.setdefault((r["variant"], json.dumps(r["params"])), {"record": r})
        if part:
            at[r["metric"], part] = r
    return out


def watts(point, part):
    r = point[TOTAL, part]
    return r["value"] * r["n"] / (r["sim"]["sim_ns"] * 1e-9)


def test_parts_add_up_and_idle_is_the_platforms(bench, tmp_path):
    found = points(records(bench, tmp_path, "load_latency", *MODEL))
    assert found
    for point in found.values():
        for metric in (TOTAL, ABOVE):
            assert sum(point[metric, p]["value"] for p in PARTS) == pytest.approx(point[metric, "all"]["value"], rel=1e-9)
        idle = {p: (point[TOTAL, p]["value"] - point[ABOVE, p]["value"]) * point["record"]["n"] / (point["record"]["sim"]["sim_ns"] * 1e-9) for p in PARTS}
        # Two nodes of galibier-k20; sim_ns is a sum of whole ns.
        assert idle["processor"] == pytest.approx(2 * 26.5, rel=1e-3) and idle["dram"] == pytest.approx(2 * 2.2, rel=1e-3)
        assert idle["gpu"] == pytest.approx(2 * 46.0, rel=1e-3) and idle["nic"] == pytest.approx(2 * 9.0, rel=1e-3)
        assert idle["pcie"] == pytest.approx(2 * 24 * 0.16, rel=1e-3) and idle["link"] == pytest.approx(2 * 0.6, rel=1e-3)


def test_the_report_stacks_parts_and_multiplies_by_delay(bench, tmp_path):
    records(bench, tmp_path, "barrier", *MODEL, "--report", tmp_path / "with")
    assert bench("barrier", *MODEL, "--report", tmp_path / "without").returncode == 0
    pages = [(tmp_path / folder / "index.html").read_text() for folder in ("with", "without")]
    assert pages[0].count("<svg") == pages[1].count("<svg") + 1
    assert "energy × delay" in pages[0] and "energy × delay" not in pages[1]
    assert "energy_per_operation" not in pages[0]  # no rows of parts in the table of the benchmark


def test_energy_changes_nothing_else(bench, tmp_path):
    without = tmp_path / "without.jsonl"
    assert bench("barrier", *MODEL, "--json", without).returncode == 0
    values = [json.loads(line)["value"] for line in without.read_text().splitlines()]
    assert values == [r["value"] for r in records(bench, tmp_path, "barrier", *MODEL) if "part" not in r["params"]]


def test_twice_the_run_is_twice_the_energy(bench, tmp_path):
    """Eight steps more take twice as much as four steps more; the launch is in both."""
    joules = {}
    for steps in (4, 8, 16):
        found = points(records(bench, tmp_path, "himeno", *MODEL, "--grid", "32x18x12", "--steps", str(steps), name=str(steps)))
        for (variant, _), point in found.items():
            r = point["record"]
            joules[variant, steps] = point[TOTAL, "all"]["value"] * r["n"]
            assert watts(point, "nic") == pytest.approx(2 * 9.0, rel=0.01)
    for variant in ("host", "mpi", "put", "hybrid"):  # where GPUs poll for each other steps differ by a turn
        assert joules[variant, 16] - joules[variant, 8] == pytest.approx(2 * (joules[variant, 8] - joules[variant, 4]), rel=0.01), variant


def test_rtl_and_model_agree(bench, tmp_path):
    rtl = points(records(bench, tmp_path, "put_latency", "--quick", name="rtl"))
    model = points(records(bench, tmp_path, "put_latency", *MODEL, name="model"))
    assert rtl.keys() == model.keys()
    for at, point in rtl.items():
        for part in ("all", "processor", "gpu", "nic"):
            assert watts(model[at], part) == pytest.approx(watts(point, part), rel=0.02), (at, part)


@pytest.mark.parametrize("name", ["put_latency", "get_latency"])
def test_a_processor_that_sleeps_takes_less_than_one_that_polls(bench, tmp_path, name):
    polling = points(records(bench, tmp_path, name, *MODEL, name="poll"))
    asleep = points(records(bench, tmp_path, name, *MODEL, "--timeout", "60000", "--set", "cpu.sleep_ns=200000.0", name="sleep"))
    assert polling.keys() == asleep.keys()
    for at, point in polling.items():
        assert watts(asleep[at], "processor") < watts(point, "processor"), at
        assert watts(asleep[at], "dram") < watts(point, "dram"), at


def joules_of_launches(asleep):
    """What the processors of a node take above idle, by way: the launching calls."""
    return {variant: p[ABOVE, "processor"]["value"] * p["record"]["n"] / 2 for (variant, _), p in asleep.items()}


def test_c8(bench, tmp_path):
    """The machine of the published powers: one node of two. Asleep is what the GPU controls."""
    c8 = ["himeno", *MODEL, "--platform", "k20c-fdr"]
    sleep = ["--set", "cpu.sleep_ns=5000000.0"]
    polling = points(records(bench, tmp_path, *c8, name="poll"))
    asleep = points(records(bench, tmp_path, *c8, *sleep, name="sleep"))
    for point in polling.values():
        assert watts(point, "processor") / 2 == pytest.approx(50, rel=0.01)
        assert watts(point, "dram") / 2 == pytest.approx(3.9, rel=0.02)
    for at, point in asleep.items():
        assert watts(point, "processor") < watts(polling[at], "processor"), at
    (device,) = (point for (variant, _), point in asleep.items() if variant == "device")  # one launch; the GPU communicates
    assert 24 <= watts(device, "processor") / 2 <= 29
    assert watts(device, "dram") / 2 == pytest.approx(2.2, rel=0.1)
    # A step costs the processor its launches, whatever the grid. C8's: 640 x 640 x 386 points of 56 bytes, two GPUs of 150 GB/s.
    steps, step_s = device["record"]["n"], 640 * 640 * 386 / 2 * 56 / 150e9
    large = points(records(bench, tmp_path, *c8, *sleep, "--steps", str(steps), "--grid", "48x32x32", name="large"))
    small_j, large_j = joules_of_launches(asleep), joules_of_launches(large)
    for variant in ("stream", "stream_halves", "in_kernel", "in_kernel_last", "device", "put"):
        assert large_j[variant] == pytest.approx(small_j[variant], rel=0.05), variant
        assert 24 <= 26.5 + small_j[variant] / (steps * step_s) <= 29


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun")
def test_ranks_give_the_same_bytes(bench, tmp_path):
    words = ["barrier", "--quick", "--energy", "--json"]
    for ranks in ("1", "2"):
        done = bench(*words, tmp_path / ranks, "--ranks", ranks)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert b'"part":"all"' in (tmp_path / "1").read_bytes()


def test_other_providers_have_none(bench):
    done = bench("barrier", "--provider", "shm", "--energy")
    assert done.returncode == 2 and "--energy needs --provider sim" in done.stderr


UNIT_METRIC = "nic_energy_per_operation"


def shares(found):
    """By point: the NIC's joules by unit, and in all."""
    out = {}
    for r in found:
        unit = r["params"].pop("unit", None)
        at = out.setdefault((r["variant"], json.dumps({k: v for k, v in r["params"].items() if k != "part"})), {"units": {}})
        if unit:
            assert r["metric"] == UNIT_METRIC and r["unit"] == "J"
            at["units"][unit] = r["value"]
        elif r["metric"] == TOTAL and r["params"]["part"] == "nic":
            at["nic"] = r["value"]
    return out


def share(point, unit):
    return point["units"][unit] / point["nic"]


def test_units_of_the_nic_share_its_energy_by_what_changes(bench, tmp_path):
    """Single accesses go by the SMFU, puts by the RMA."""
    words = ["coalescing", "--quick", "--energy-units"]
    puts = shares(records(bench, tmp_path, "put_latency", *words[1:], name="puts"))
    accesses = shares(records(bench, tmp_path, *words, name="accesses"))
    for point in (*puts.values(), *accesses.values()):
        assert {"hostif", "smfu", "rma", "atu", "velo", "net", "links", "regs", "top"} <= set(point["units"])
        assert sum(point["units"].values()) == pytest.approx(point["nic"], rel=1e-9)
        assert all(joules >= 0 for joules in point["units"].values())
    most = max(accesses.values(), key=lambda point: share(point, "smfu"))
    for put in puts.values():
        assert share(most, "smfu") > 2 * share(put, "smfu") and share(put, "rma") > 2 * share(most, "rma")
    # More data of the GPU through the host interface: its share grows.
    stored = sorted((json.loads(params)["values"], share(point, "hostif")) for (variant, params), point in accesses.items() if variant == "consecutive_store")
    assert len(stored) > 2 and [s for _, s in stored] == sorted(s for _, s in stored)
    records(bench, tmp_path, *words, name="again")
    assert (tmp_path / "accesses.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_units_have_no_energy_without_signals(bench, tmp_path):
    done = bench("barrier", *MODEL, "--energy", "--energy-units")
    assert done.returncode == 2 and "--energy-units needs --nic rtl" in done.stderr
    for more, said in ((["--energy-units"], "--energy"), (["--energy", "--energy-units", "--waves", tmp_path / "w.fst"], "--waves")):
        done = bench("barrier", "--quick", *more)
        assert done.returncode != 0 and said in done.stderr
