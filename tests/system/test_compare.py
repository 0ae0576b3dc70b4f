# SPDX-License-Identifier: Apache-2.0
"""benchmarks/compare: records of several libraries become one table; its programs may be missing or fail."""

import fcntl
import json
import os
import re
import subprocess
import sys

import pytest
import results
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks" / "compare"))

import compare  # noqa: E402
import joining  # noqa: E402
import publish  # noqa: E402
import quantities  # noqa: E402
import table  # noqa: E402

GPU = "NVIDIA H200"


def record(benchmark, variant, value, unit="ns", nodes=4, n=7, **params):
    metric = {"B/s": "bandwidth", "1/s": "updates"}.get(unit) or {"barrier": "latency", "put_latency": "half_round_trip"}.get(benchmark, "time")
    return {
        "benchmark": benchmark, "variant": variant, "provider": "cuda", "platform": GPU, "nic": "none", "nodes": nodes, "params": params, "metric": metric, "unit": unit,
        "value": value, "p50": value, "p99": value, "n": n, "reference": None, "limit": None, "sim": {"cycles": 0, "sim_ns": 0, "wall_s": None}, "seed": 1, "version": "0.1.0",
    }  # fmt: skip


def rows_of(records, nodes=4):
    return {row["quantity"]: row for row in joining.join(records)[GPU, nodes]}


def test_the_best_record_of_a_library_counts():
    sync = rows_of([record("barrier", "nvshmem", value, threads=t, method="sync") for t, value in ((32, 1860.0), (256, 2286.0))])["sync, one block a GPU"]
    assert sync["nvshmem"] == 1860 and sync["params"]["nvshmem"]["threads"] == 32
    puts = rows_of([record("put_bandwidth", "raw", v, "B/s", bytes=1 << 30, blocks=b, connections=1, method="stores") for b, v in ((8, 3.6e11), (16, 3.4e11), (132, 3.7e11))])
    assert puts["put in a kernel, 1 GiB, at most 16 SMs"]["limit"] == 3.6e11
    assert puts["put in a kernel, 1 GiB, all SMs"]["limit"] == 3.7e11


def test_a_figure_of_a_grid_is_none_of_a_block():
    sync = rows_of([record("barrier", variant, value, threads=32, method="sync") for variant, value in (("block", 900.0), ("grid", 700.0))])
    assert sync["sync, one block a GPU"]["ggas"] == 900


def test_a_ratio_below_one_means_that_ours_is_faster():
    times = rows_of([record("barrier", "block", 800.0, threads=32, method="sync"), record("barrier", "nvshmem", 1600.0, threads=32, method="sync")])
    assert times["sync, one block a GPU"]["ratio"] == 0.5
    rates = rows_of([record("random_access", "mailbox", 6e10, "1/s", elements=1 << 29), record("random_access", "nvshmem", 3e10, "1/s", elements=1 << 29, method="atomic")])
    assert rates["RandomAccess, any method"]["ratio"] == 0.5
    assert rates["RandomAccess, any method"]["bar_met"] is False


def test_the_fastest_of_the_others_is_the_opponent():
    found = rows_of([record("allreduce", v, t, elements=1, method="graph") for v, t in (("stream", 3000.0), ("nccl", 7650.0), ("nccl_window", 3500.0))])
    row = found["allreduce, graph node, 1 float"]
    assert row["ratio"] == pytest.approx(3000 / 3500)
    assert (row["nccl"], row["nvshmem"], row["bar_met"]) == (7650, None, True)


def test_tagged_puts_have_rows_of_their_own():
    found = rows_of([record("put_latency", v, t, bytes=8, threads=32) for v, t in (("put_signal", 2000.0), ("put_tagged", 1200.0), ("nvshmem", 2400.0), ("raw", 1700.0))])
    rows = [found[f"{way}, 8 B, one block"] for way in ("put + signal", "tagged put + take")]
    assert [(row["ggas"], row["nvshmem"], row["limit"], row["bar_met"]) for row in rows] == [(2000, 2400, 1700, False), (1200, 2400, None, True)]


def test_messages_stand_next_to_what_another_library_has_for_them():
    """NVSHMEM: puts with signal, by a benchmark of another name; NCCL: sends and receives as nodes of graphs."""
    half = {"metric": "half_round_trip"}
    puts = [record("put_latency", v, t, bytes=8, threads=32) for v, t in (("put_signal", 900.0), ("nvshmem", 2000.0), ("raw", 1500.0))]
    blocks = [record("message", v, t, bytes=8, method="named") | half for v, t in (("thread", 800.0), ("block", 4800.0))]
    row = rows_of(puts + blocks)["message between blocks, 8 B, NVSHMEM's put + signal"]
    assert (row["ggas"], row["nvshmem"], row["limit"], row["bar"], row["bar_met"]) == (4800, 2000, 1500, 1400, False)
    assert "message between blocks, 8 B, NVSHMEM's put + signal" not in rows_of(puts)
    sends = [record("message_on_stream", v, t, bytes=b, method="one_way") for b in (8, 1 << 20) for v, t in (("stream", 3000.0), ("nccl", 4000.0), ("nccl_window", 4500.0))]
    rows = rows_of(sends)
    assert [rows[f"send and receive, graph nodes, in sequence, {size}"]["bar_met"] for size in ("8 B", "1 MB")] == [False, True]
    groups = [quantities.group_of(q, library) for q in quantities.messages() for library in ("nvshmem", "nccl") if ", 4 KB" in q.text]
    assert groups == ["latencies", None, None, "messages", None, "messages"]


def test_a_bar_may_be_a_part_of_the_other_library():
    found = rows_of([record("alltoall", "nvshmem", 8000.0, elements=64, method="block"), record("alltoall", "block", 4100.0, elements=64, method="block")])
    row = found["alltoall by a block, 64 floats"]
    assert (row["bar"], row["bar_met"]) == (4000, False)


def test_large_allreduces_are_judged_by_the_bytes_that_leave_a_gpu():
    sends = [record("put_bandwidth", "raw", v, "B/s", bytes=1 << 30, blocks=b, connections=12, method=m) for b, v, m in ((8, 3.5e11, "stores"), (0, 3.9e11, "copy_engine"))]
    row = rows_of([*sends, record("allreduce", "nccl", 6e5, elements=1 << 25, method="graph")])["allreduce, graph node, 32 Mi floats"]
    assert row["limit"] == pytest.approx(1e9 * 1.5 * 4 * (1 << 25) / 3.5e11)


def test_long_collectives_have_a_bus_bandwidth():
    """NCCL's convention: bytes that leave a GPU over the time, of an allreduce 2 (n - 1) / n of the vector, of an allgather n - 1 parts."""
    times = {"allreduce": (1 << 25, 6e5, 1.5), "allgather": (1 << 20, 5e4, 3), "broadcast": (1 << 20, 3e4, 1), "alltoall": (1 << 10, 5e3, None)}
    rows = rows_of([record(name, "graph", ns, elements=elements, method="graph") for name, (elements, ns, _) in times.items()]).values()
    assert [row["bus_bytes"] for row in rows] == [4 * (1 << 25) * 1.5, None, 4 * (1 << 20), 4 * (1 << 20) * 3]
    lines = table.bus_lines(list(rows))
    assert len(lines) == 4 and "336 GB/s" in lines[1] and "252 GB/s" in lines[3]
    assert table.bus_lines([]) == []


def test_each_number_of_gpus_has_a_table():
    tables = joining.join([record("barrier", "nvshmem", 1000.0, nodes=n, method="sync") for n in (2, 4)])
    assert list(tables) == [(GPU, 2), (GPU, 4)]


@pytest.mark.parametrize("change", [{"n": 4}, {"p50": None}])
def test_a_figure_that_is_no_median_is_refused(change):
    with pytest.raises(results.BadResults, match="barrier, nvshmem.*median of 5 samples"):
        joining.join([record("barrier", "nvshmem", 1000.0, method="sync") | change])


def test_records_of_other_methods_do_not_count():
    assert joining.join([record("allreduce", "auto", 1.0, elements=1, method="tuning")]) == {(GPU, 4): []}
    rates = (("local", 29, 9e10), ("bucket", 20, 8e10), ("bucket", 29, 6e10), ("atomic", 29, 4e10))
    found = rows_of([record("random_access", variant, rate, "1/s", elements=1 << log2) for variant, log2, rate in rates])
    assert [found[f"RandomAccess, {way}"]["ggas"] for way in ("any method", "remote atomics")] == [6e10, 4e10]


def test_a_grid_stands_beside_a_grid_and_a_block_beside_a_block():
    found = rows_of([
        record("allreduce", v, t, elements=1 << 14, method=m, blocks=b, threads=256)
        for v, m, b, t in (("block", "block", 1, 7600.0), ("grid", "grid", 64, 1500.0), ("nvshmem", "block", 1, 29000.0), ("nvshmem", "grid", 16, 9000.0), ("raw", "grid", 64, 1400.0))
    ])  # fmt: skip
    block, grid = found["allreduce by a block, 16 Ki floats"], found["allreduce by a grid, 16 Ki floats"]
    assert (block["ggas"], block["nvshmem"], block["limit"]) == (7600, 29000, None)
    assert (grid["ggas"], grid["nvshmem"], grid["limit"]) == (1500, 9000, 1400)
    assert grid["shapes"] == {"ggas": "64x256", "nvshmem": "16x256", "nccl": None, "nccl_window": None, "yaksa": None, "limit": "64x256"}


def test_the_table_names_blocks_and_threads_and_libraries():
    found = [record("barrier", v, t, blocks=1, threads=n, method="sync", **more) for v, t, n, more in (("block", 900.0, 64, {}), ("nvshmem", 1600.0, 32, {"library": "NVSHMEM 3.8.0"}))]
    lines = table.text(GPU, 4, rows_of(found).values(), joining.libraries(found)).splitlines()
    assert lines[0] == "4 x NVIDIA H200, NVSHMEM 3.8.0"
    assert "900 ns    1x64" in lines[2] and "1.60 µs    1x32" in lines[2]


def test_64_byte_puts_of_warps_have_the_limit_of_warps():
    found = rows_of([record("message_rate", v, rate, "1/s", bytes=64, blocks=1, threads=512, **m) | {"metric": "messages"} for v, rate, m in (
        ("put_warp", 4e7, {}), ("put_thread", 4e8, {}), ("raw", 4.4e7, {"method": "put_warp"}), ("raw", 5e8, {"method": "put_thread"}))])  # fmt: skip
    assert [(found[f"64-byte puts of {who}, 1 SM"]["ggas"], found[f"64-byte puts of {who}, 1 SM"]["limit"]) for who in ("warps", "threads")] == [(4e7, 4.4e7), (4e8, 5e8)]


def test_published_pages_come_from_the_published_records():
    for path, text in publish.pages().items():
        assert path.read_text() == text, f"{path}: run benchmarks/compare/publish.py"


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A tree of pages with marks, and records of 2 and 4 GPUs."""
    folder = tmp_path / "docs" / "results"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("| `compare-2.jsonl` | made | old |\n| `compare-4.jsonl` | made | old |\n")
    marks = lambda *names: "".join(f"<!-- {n} -->\n?\n<!-- end of {n} -->\n" for n in names)  # noqa: E731
    (tmp_path / "docs" / "comparison.md").write_text("before\n" + marks("table of 2 GPUs", "table of 4 GPUs", "rows behind") + "after\n")
    (tmp_path / "README.md").write_text(marks("excerpt", "rows behind"))
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "RESULTS", folder)
    monkeypatch.setattr(publish.pictures, "main", lambda: None)
    return tmp_path


def records_file(folder, *gpus):
    file = folder / "records.jsonl"
    found = [record("barrier", v, t, nodes=n, blocks=1, threads=32, method="sync") for n in gpus for v, t in (("block", 1000.0 * n), ("nvshmem", 1500.0))]
    file.write_text("".join(json.dumps(r) + "\n" for r in found))
    return str(file)


def test_records_are_published_by_their_number_of_gpus(published):
    assert publish.main([records_file(published, 2, 4), "--state", "abc"]) == 0
    page = (published / "docs" / "comparison.md").read_text()
    assert page.startswith("before\n") and page.endswith("after\n") and "?" not in page
    assert "2 x NVIDIA H200" in page and "* sync, one block a GPU: 167 % (GGAS 4.00 µs; NVSHMEM 1.50 µs)" in page
    assert "On 2 GPUs 1 of 1 rows is slower than" in (published / "README.md").read_text()
    assert (published / "docs" / "results" / "README.md").read_text().count("| abc |") == 2
    assert publish.main([records_file(published, 2), "--state", "def"]) == 0
    assert (published / "docs" / "results" / "README.md").read_text() == "| `compare-2.jsonl` | made | def |\n| `compare-4.jsonl` | made | abc |\n"


def test_pages_without_marks_and_other_numbers_of_gpus_are_refused(published, capsys):
    assert publish.main([records_file(published, 3)]) == 2
    assert "records of 3 GPUs" in capsys.readouterr().err
    (published / "README.md").write_text("nothing")
    assert publish.main([records_file(published, 2, 4)]) == 2
    assert "marks of 'excerpt': 0 of them" in capsys.readouterr().err


@pytest.fixture
def programs(tmp_path):
    """Puts programs in place that print records and end with a status; returns the folder."""

    def write(**scripts):
        for name, (found, status) in scripts.items():
            file = tmp_path / ("cuda/ggas-bench-cuda" if name == "ggas" else f"compare/compare_{name}")
            file.parent.mkdir(exist_ok=True)
            lines = "".join(json.dumps(r) + "\n" for r in found)
            # GGAS writes into the file after --json, its last argument.
            body = f"open(sys.argv[-1], 'w').write({lines!r})" if name == "ggas" else f"sys.stdout.write({lines!r})"
            if name == "nvshmem":  # one group of rows has them
                body = f"if sys.argv[2] == 'latencies': {body}"
            file.write_text(f"#!{sys.executable}\nimport os, sys\n{body}\nsys.stdout.flush()\nsys.exit({status})\n")
            file.chmod(0o755)
        return tmp_path

    return write


def barrier(variant, value):
    return [record("barrier", variant, value, threads=32, method="sync")]


def test_one_run_measures_everybody(programs, tmp_path, capsys):
    folder = programs(ggas=(barrier("block", 800.0), 0), raw=(barrier("raw", 750.0), 0), nvshmem=(barrier("nvshmem", 1600.0), 0), nccl=([], 0))
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == 0
    table = capsys.readouterr().out
    assert "4 x NVIDIA H200" in table and "0.50" in table and "met" in table
    row = json.loads((tmp_path / "out" / "comparison.json").read_text())[0]
    assert (row["ggas"], row["nvshmem"], row["nccl"], row["limit"], row["ratio"]) == (800, 1600, None, 750, 0.5)
    assert row["to_limit"] == pytest.approx(800 / 750)
    assert len(results.read(tmp_path / "out" / "records.jsonl")) == 3
    assert (tmp_path / "out" / "comparison.svg").read_text().startswith("<?xml")
    assert compare.main(["--records", str(tmp_path / "out" / "records.jsonl"), "--out", str(tmp_path / "again")]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == table.splitlines()[:3]


@pytest.mark.parametrize(("gpus", "asked"), [("0", False), ("2", True)])
def test_our_program_is_asked_for_the_same_gpus(programs, tmp_path, gpus, asked):
    """No number is passed on for all of them: it takes all by itself and refuses 0."""
    folder = programs(ggas=(barrier("block", 800.0), 0))
    ours = folder / "cuda" / "ggas-bench-cuda"
    ours.write_text(ours.read_text().replace("import os, sys", f"import os, sys\nopen({str(tmp_path / 'words')!r}, 'w').write(' '.join(sys.argv[1:]))"))
    assert compare.main(["--programs", str(folder), "--gpus", gpus, "--out", str(tmp_path / "out")]) == 0
    assert (f"--nodes {gpus}" in (tmp_path / "words").read_text()) is asked


def test_help_has_examples(capsys):
    with pytest.raises(SystemExit) as end:
        compare.main(["--help"])
    reported = capsys.readouterr().out
    assert end.value.code == 0 and "./ggas compare --gpus 2" in reported and "77 no GPU" in reported


def test_a_missing_library_leaves_its_column_empty(programs, tmp_path, capsys):
    folder = programs(ggas=(barrier("block", 800.0), 0), raw=(barrier("raw", 750.0), 0))
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == 0
    reported = capsys.readouterr()
    assert "NVSHMEM" in reported.err and "compare_nvshmem does not exist" in reported.err and "800 ns" in reported.out


@pytest.mark.parametrize(("end", "status", "seen"), [("3", 3, 3), ("os.kill(os.getpid(), 6)", 1, -6)])
def test_a_failing_library_is_reported_and_the_rest_is_shown(programs, tmp_path, capsys, end, status, seen):
    folder = programs(ggas=(barrier("block", 800.0), 0), raw=(barrier("raw", 750.0), 0), nvshmem=(barrier("nvshmem", 1600.0), end))
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == status
    reported = capsys.readouterr()
    assert f"NVSHMEM latencies: exit status {seen}" in reported.err and "1.60 µs" in reported.out


def test_a_group_that_fails_leaves_the_others_alone_and_its_cells_say_why(programs, tmp_path, capsys):
    """NVSHMEM's program is run once for each group of rows; what a group printed before it failed stands."""
    ring = [record("ring", v, 9e3, elements=1003, **m) for v, m in (("put_signal", {}), ("raw", {}))]
    folder = programs(ggas=(barrier("block", 800.0) + ring, 0), raw=(barrier("raw", 750.0), 0), nvshmem=([], 0))
    program = folder / "compare" / "compare_nvshmem"
    line = json.dumps(barrier("nvshmem", 1600.0)[0])
    program.write_text(f"""#!{sys.executable}
import sys
group = sys.argv[2]
open({str(tmp_path / "groups")!r}, "a").write(group + " ")
if group == "rates": sys.exit("a message\\nthe GPU is lost")
if group == "ring":
    print({line!r}[:40], end="")
    sys.exit(3)
if group == "latencies": print({line!r})
""")
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == 3
    assert tuple((tmp_path / "groups").read_text().split()) == quantities.NVSHMEM_GROUPS
    reported = capsys.readouterr().out
    assert "1.60 µs" in reported
    (cell,) = [line for line in reported.splitlines() if line.startswith("1,003 floats")]
    number = cell.split()[cell.split().index("kernel") + 3]
    assert f"{number} NVSHMEM ring: exit status 3" in reported, reported
    again = tmp_path / "out" / "records.jsonl"
    assert compare.main(["--records", str(again), "--out", str(tmp_path / "again")]) == 0
    assert "NVSHMEM ring: exit status 3" in capsys.readouterr().out
    why = json.loads((tmp_path / "out" / "failures.json").read_text())
    assert {f["group"]: f["why"] for f in why if f["library"] == "nvshmem"} == {
        "rates": "NVSHMEM rates: exit status 1: the GPU is lost", "ring": "NVSHMEM ring: exit status 3"}  # fmt: skip


def test_every_group_of_rows_is_one_of_the_program():
    text = (ROOT / "benchmarks" / "compare" / "nvshmem" / "nvshmem.cu").read_text()
    assert [name for name in re.findall(r'\{"(\w+)", ', text)] == [*quantities.NVSHMEM_GROUPS, quantities.ENERGY]
    found = {quantities.group_of(q, "nvshmem") for q in quantities.QUANTITIES}
    assert found - {None} == {*quantities.NVSHMEM_GROUPS, quantities.ENERGY}


def energy(variant, joules, n=3, **params):
    return record("energy", variant, joules, unit="J", n=n, method="gpus", elements=1024, **params) | {"metric": "energy_per_call"}


def test_energy_is_measured_instead_of_times(programs, tmp_path, capsys):
    """Our program is asked for the loads that have a row, the others for their group."""
    folder = programs(ggas=([energy("allreduce", 2e-4)], 0), raw=(barrier("raw", 750.0), 0), nccl=([energy("nccl_window", 8e-4, load="allreduce")], 0), nvshmem=([], 0))
    for program in ("cuda/ggas-bench-cuda", "compare/compare_nccl", "compare/compare_nvshmem"):
        text = (folder / program).read_text()
        (folder / program).write_text(text.replace("import os, sys", f"import os, sys\nopen({str(tmp_path / 'words')!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))"))
    assert compare.main(["--programs", str(folder), "--energy", "--out", str(tmp_path / "out")]) == 0
    (row,) = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert (row["ggas"], row["nccl_window"], row["ratio"], row["bar_met"]) == (2e-4, 8e-4, 0.25, True)
    assert "energy of an allreduce of 1 Ki floats, idle included" in capsys.readouterr().out
    assert sorted((tmp_path / "words").read_text().replace(str(tmp_path), "").splitlines()) == [
        "0 energy", "0 energy", "energy --load barrier --load allreduce --load alltoall --load put --no-report --json /out/ggas.jsonl"]  # fmt: skip


def test_energy_of_two_windows_is_refused():
    with pytest.raises(results.BadResults, match="median of 3 samples or more, not of 2"):
        rows_of([energy("allreduce", 2e-4, n=2)])


def test_versions_of_a_library_stand_side_by_side(programs, tmp_path, capsys):
    def allreduce(variant, value, **more):
        return [record("allreduce", variant, value, elements=1, method="graph", **more)]

    folder = programs(ggas=(allreduce("stream", 3000.0), 0), nccl=(allreduce("nccl", 4000.0, library="NCCL 2.28.9"), 0), nccl_2=(allreduce("nccl", 3500.0, library="NCCL 2.32.3"), 0))
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == 0
    reported = capsys.readouterr().out
    assert "NCCL 2.28.9" in reported and "NCCL 2.32.3" in reported and "4.00 µs" in reported and "3.50 µs" in reported
    row = json.loads((tmp_path / "out" / "comparison.json").read_text())[0]
    assert (row["nccl 2.28.9"], row["nccl 2.32.3"]) == (4000, 3500) and row["ratio"] == pytest.approx(3000 / 3500)


def test_a_folder_has_one_writer(programs, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    descriptor = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    folder = programs(ggas=(barrier("block", 800.0), 0))
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == 2
    assert f"{tmp_path / 'out'}: is being written by another run" in capsys.readouterr().err
    os.close(descriptor)


def test_without_gpus_nothing_is_measured(programs, tmp_path, capsys):
    folder = programs(ggas=([], 77), raw=([], 77))
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == 77
    assert "no GPU here" in capsys.readouterr().err


def test_a_line_that_is_no_record_is_named(programs, tmp_path, capsys):
    folder = programs(ggas=(barrier("block", 800.0), 0), raw=([{"benchmark": "barrier"}], 0))
    assert compare.main(["--programs", str(folder), "--out", str(tmp_path / "out")]) == 1
    assert "compare_raw:1: key 'variant' is missing" in capsys.readouterr().err


RECORDED = str(ROOT / "docs" / "results" / "compare-2.jsonl")


@pytest.mark.parametrize(
    "text, word", [(b"", "no results"), (b"{", "records:1"), (b"\xff\xfe", "not a text file"), (json.dumps(record("himeno", "device", 1.0)).encode(), "no record of a quantity")]
)
def test_files_without_records_are_bad_input(text, word, tmp_path, capsys):
    (tmp_path / "records").write_bytes(text)
    assert compare.main(["--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]) == 2
    assert word in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["--records", "/nowhere"], ["--records", "/"], ["--records", RECORDED, "--out", RECORDED], ["--programs", "/nowhere", "--out", "/dev/null/x"]])
def test_files_that_cannot_be_used_are_named(arguments, capsys):
    assert compare.main(arguments) == 2
    assert arguments[-1] in capsys.readouterr().err


def test_the_files_are_there_when_nobody_reads_the_table(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "compare" / "compare.py"), "--records", RECORDED, "--out", "out"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    run.stdout.close()
    assert run.stderr.read() == b"" and run.wait(timeout=60) == 0
    assert {f.name for f in (tmp_path / "out").iterdir()} == {"records.jsonl", "failures.json", "comparison.json", "comparison.svg"}


@pytest.mark.parametrize("arguments", [["--programs", "a", "--records", "b"], ["--gpus", "-1"], ["--gpus", "many"], ["--gpus", "65"], ["--records"]])
def test_bad_arguments(arguments):
    with pytest.raises(SystemExit) as end:
        compare.main(arguments)
    assert end.value.code == 2
