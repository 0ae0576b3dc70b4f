# SPDX-License-Identifier: Apache-2.0
"""benchmarks/report/bars.py: which points of ranks and notifications on GPUs miss a bar."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "report"))

import bars  # noqa: E402


def record(benchmark, variant, value, nodes=2, **params):
    return {
        "benchmark": benchmark, "variant": variant, "provider": "cuda", "platform": "2 x GPU", "nic": "none", "nodes": nodes, "params": params, "metric": "time", "unit": "ns",
        "value": value, "p50": value, "p99": value, "n": 11, "reference": None, "limit": None, "sim": {"cycles": 0, "sim_ns": 0, "wall_s": None}, "seed": 1, "version": "1",
    }  # fmt: skip


def point(size, **by):
    return [record("upc", v, t, bytes=size, method="gather", threads=128, blocks=8, elements=size // 4) for v, t in by.items()]


def of(records):
    return {bar.text.split(",")[0]: bar for bar in bars.bars(records)}


def test_modes_are_compared_with_the_better_reference():
    found = of(point(64, all=100, mine=55, none=30, push=110, pull=100))
    assert [found[name].met() for name in ("mine", "all", "none")] == [True, True, True]
    found = of(point(64, all=104, mine=61, none=70, push=110, pull=100))
    assert [found[name].met() for name in ("mine", "all", "none")] == [False, False, False]


def test_mine_and_none_end_at_1_kb_and_all_at_64():
    found = of(point(4096, all=100, mine=90, none=90, push=100, pull=100) + point(1 << 20, all=300, mine=1, none=1, push=100, pull=100))
    assert (len(found["mine"].points), len(found["all"].points), len(found["none"].points)) == (0, 1, 0)


def test_one_of_five_points_may_miss():
    good = [r for size in (4, 8, 16, 32) for r in point(size, all=100, mine=50, push=100, pull=100)]
    assert of(good + point(64, all=100, mine=90, push=100, pull=100))["mine"].met()
    assert not of(good[4:] + point(64, all=100, mine=90, push=100, pull=100))["mine"].met()


def test_barriers_and_notifications():
    shape = {"threads": 128, "method": "barrier"}
    records = [
        record("upc", "all", 900, ranks=16, blocks=16, **shape), record("upc", "grid_sync", 1000, ranks=16, blocks=16, **shape),
        record("upc", "all", 2500, ranks=16, blocks=8, **shape), record("barrier", "block", 2000, blocks=1, **shape),
        record("notification", "ring", 50, bytes=8), record("notification", "claimed", 100, bytes=8),
    ]  # fmt: skip
    found = of(records)
    assert found["barrier of the ranks of a GPU"].met() and found["notification"].met()
    assert not found["barrier of the ranks of all GPUs"].met()


def test_messages_are_compared_with_what_does_less():
    def half(variant, value, **params):
        return record("message", variant, value, ranks=2, threads=128, bytes=8, **params) | {"metric": "half_round_trip"}

    named, rate = {"method": "named"}, {"ranks": 64, "threads": 32, "bytes": 8}
    records = [
        half("flag", 1000, **named), half("block", 1400, **named),
        half("block", 500, **named, waiting=10), half("block", 1600, **named, waiting=1000), half("block", 1200, method="any_source", waiting=10),
        record("message", "thread", 30, **rate) | {"metric": "messages"}, record("message", "stores", 100, **rate) | {"metric": "messages"},
        record("message", "begin", 130, ranks=1, threads=8) | {"metric": "latency"}, record("message", "barrier", 100, ranks=1, threads=8) | {"metric": "latency"},
    ]  # fmt: skip
    found = of(records)
    assert found["ping-pong of blocks"].met() and len(found["ping-pong of blocks"].points) == 1
    assert not found["1"].met() and found["any source"].met()
    assert found["bare stores of as many lines"].met() and not found["the beginning of a launch"].met()


def test_the_barrier_of_all_blocks_needs_no_number_of_ranks_to_be_compared():
    at = {"blocks": 16, "threads": 256, "method": "barrier"}
    found = of([record("barrier", "ranks", 130, ranks=32, **at), record("barrier", "grid", 100, **at)])
    assert not found["barrier of the blocks of all GPUs as ranks"].met()


def test_pi_and_the_steps_of_blocks():
    at = {"ranks": 1024, "threads": 128, "intervals": 2}
    records = [record("pi", v, t, **at) for v, t in (("reduce", 90), ("two_kernels", 100), ("grid_sync", 80), ("send", 500), ("two_kernels_in_order", 100))]
    records += [record("virtualization", "registers", t, blocks=b, threads=256) for b, t in ((131, 100), (132, 100), (133, 150), (263, 150), (264, 150), (265, 150))]
    found = {bar.text: bar for bar in bars.bars(records)}
    assert found["pi by a reduction, of two kernels"].met() and found["pi by a reduction, of one kernel with grid.sync()"].met()
    assert not found["pi by messages, of two kernels"].met()
    assert [round(r, 2) for r, _ in found["a multiple of the multiprocessors, of a block more"].points] == [0.67, 1.0]


@pytest.mark.parametrize(("mine", "status"), [(50, 0), (70, 1)])
def test_the_status_says_whether_all_are_met(tmp_path, mine, status, capsys):
    file = tmp_path / "r.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in point(64, all=100, mine=mine, none=10, push=100, pull=100)))
    assert bars.main([str(file)]) == status
    assert "notification, of the way before: no records" in capsys.readouterr().out


def test_files_that_are_no_records(tmp_path, capsys):
    assert bars.main([str(tmp_path / "absent")]) == 2
    assert "absent" in capsys.readouterr().err
