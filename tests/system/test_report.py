# SPDX-License-Identifier: Apache-2.0
"""The HTML report."""

import html
import json
import math
import re
import shutil
import subprocess
import sys

import pictures
import plots
import pytest
import results
from conftest import REPORT, ROOT

DATA = ROOT / "tests" / "system" / "data"


def write_report(*arguments, cwd):
    return subprocess.run([sys.executable, str(REPORT / "report.py"), *map(str, arguments)], cwd=cwd, capture_output=True, text=True)


def refused(done, *words):
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_run_with_report(bench, tmp_path):
    done = bench("coalescing", "store_latency", "--quick", "--provider", "sim", "--report", "out")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("<svg") == 2 and page.count("<table>") == 2
    assert "galibier-k20" in page and "C4" in page and "exact" in page
    assert not re.search(r'<(script|link|img)\b|src="|href="http|url\(http', page), "the page needs other files"
    assert (tmp_path / "out" / "results.jsonl").exists()


def test_providers_never_share_a_section(bench, tmp_path):
    for provider in ("shm", "sim"):
        done = bench("load_latency", "--quick", "--provider", provider, "--json", provider)
        assert done.returncode == 0, done.stderr
    assert write_report("shm", "sim", "--out", "both", cwd=tmp_path).returncode == 0
    page = (tmp_path / "both" / "index.html").read_text()
    sections = page.split("<h2>")[1:]
    assert len(sections) == 2
    assert sections[0].startswith("Measured") and sections[1].startswith("Simulated")
    assert page.count("<svg") == 2


def test_measured_gpus(tmp_path):
    """Records of provider cuda: a section that begins with the bounds, a curve for each number of blocks, energies."""
    assert write_report(DATA / "cuda.jsonl", "--out", "out", cwd=tmp_path).returncode == 0
    page = (tmp_path / "out" / "index.html").read_text()
    assert "Measured: provider cuda, on NVIDIA H200" in page and "NVLink 4 x 18" in page and "driver 580" in page
    assert page.count("<svg") == 4  # bounds, latency, bandwidth over blocks and over bytes
    assert "calibration" not in page  # nothing was published for these
    assert page.index("<svg") < page.index("<section")
    for word in ("99.1 %", "≤ 400 GB/s", "21.0 nJ", "1.20 µs"):
        assert word in page, word


def test_curves_are_distinguished_by_what_differs_at_one_place():
    records = results.read(DATA / "cuda.jsonl")
    puts = plots.series([r for r in records if r["benchmark"] == "put_bandwidth"], "bytes")
    assert list(puts) == ["kernel, blocks 8", "kernel, blocks 16", "kernel, blocks 132", "copy_engine"]
    assert all(len(members) == 2 for members in puts.values())
    assert list(plots.series([r for r in records if r["benchmark"] == "store_latency"], "bytes")) == ["store"]


def test_every_benchmark_of_gpus_has_its_plots():
    found = results.read(ROOT / "docs" / "results" / "gpu-2.jsonl")
    count = {name: len(plots.plots_of(name, [r for r in found if r["benchmark"] == name])) for name in {r["benchmark"] for r in found}}
    assert {name: n for name, n in count.items() if n != 1} == {"put_bandwidth": 2, "message_rate": 2, "energy": 0, "atomic_latency": 0}  # of one word


RUN = {"command": "ggas-bench barrier --topology ring", "topology": "ring", "set": ["link.latency_ns=500"], "faults": ["0->1 drop at 3"], "hosts": [],
       "environment": {"GGAS_TUNING": "mine.toml"}, "files": {"mine.toml": "0123456789abcdef"}, "commit": "1d6dc5a3b72f", "compiler": "GNU 12.2.0, Release"}  # fmt: skip


def simulated(**changes):
    return {
        "benchmark": "barrier", "variant": "block", "provider": "sim", "platform": "galibier-k20", "nic": "rtl", "nodes": 4, "params": {"threads": 256}, "metric": "latency", "unit": "ns",
        "value": 1000.0, "p50": None, "p99": None, "n": 3, "reference": None, "limit": None, "sim": {}, "seed": 1, "seeds": None, "version": "0.1.0", "run": RUN,
    } | changes  # fmt: skip


def page_of(tmp_path, *records):
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    done = write_report("r.jsonl", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return html.unescape((tmp_path / "out" / "index.html").read_text())


def test_runs_under_other_conditions_have_sections_of_their_own(tmp_path):
    plain = RUN | {"command": "ggas-bench barrier", "topology": "auto", "set": [], "faults": [], "environment": {}, "files": {}}
    page = page_of(tmp_path, simulated(), simulated(run=plain), simulated(run=plain | {"commit": "other"}), simulated(run=None), simulated(run=plain | {"command": "ggas-bench barrier --quick"}))
    assert page.count("<h2>") == 4
    for text in ("overridden: --topology ring, --set link.latency_ns=500, --fault 0->1 drop at 3, GGAS_TUNING=mine.toml; mine.toml 0123456789abcdef; 1d6dc5a3b72f; GNU 12.2.0, Release",
                 "<code>ggas-bench barrier --quick</code>", results.UNKNOWN):  # fmt: skip
        assert text in page, text


def test_seeds_have_a_spread_in_table_and_plot(tmp_path, monkeypatch):
    of_seeds = simulated(seeds={"count": 8, "least": 950.0, "most": 1058.0})
    page = page_of(tmp_path, of_seeds)
    assert "medians of 8 seeds from 1" in page and "-5.0 … +5.8 %" in page
    monkeypatch.setattr(plots, "svg", lambda figure: figure)
    (line,) = plots.curve("barrier", [of_seeds], "threads", "").axes[0].collections
    assert [tuple(p) for p in line.get_paths()[0].vertices] == [(256, 0.95), (256, 1.058)]


def test_the_summary_names_what_is_missed(tmp_path):
    def goal(value, bound, at_most):
        return simulated(benchmark="nic_cycles", metric="store_to_flit", unit="cycles", value=value, limit={"value": bound, "at_most": at_most, "source": "NIC", "goal": True})

    far = simulated(value=600.0, reference={"value": 1000.0, "source": "C6"})
    bounded = [simulated(variant=v, value=value, limit={"value": 800.0, "at_most": False, "source": "hops"}) for v, value in (("near", 1000.0), ("near", 900.0), ("far", 4000.0))]
    page = page_of(tmp_path, goal(6, 12, True), goal(15, 12, True), goal(0.95, 0.9, False), far, simulated(reference={"value": 950.0, "source": "C1"}), *bounded)
    summary = page[page.index("Summary") : page.index("<section")]
    for text in ("1 of 2 figures with a published one are within 10 %", "barrier block latency (threads 256), -40.0 %", "2 of 3 goals are met", "Goal missed by 25.0 %", "1.12 ×", "5.00 ×"):
        assert text in summary, text
    assert "1.25 ×" not in summary and "of bound" not in page[page.index("nic_cycles</span>") : page.index("barrier</span>")]


def test_legends_cover_no_line(monkeypatch):
    monkeypatch.setattr(plots, "svg", lambda figure: figure)
    found = results.read(ROOT / "docs" / "results" / "gpu-2.jsonl")
    figures = [f for name in dict.fromkeys(r["benchmark"] for r in found) for f in plots.plots_of(name, [r for r in found if r["benchmark"] == name])]
    assert len(figures) > 10
    for figure in figures:
        figure.canvas.draw()
        (ax,) = figure.axes
        legend = ax.get_legend()
        assert legend is None or not legend.get_window_extent().overlaps(ax.get_window_extent())


def test_the_links_to_sections_wrap():
    assert re.search(r"nav \{[^}]*flex-wrap: wrap", (REPORT / "report.html.j2").read_text())


def test_the_energy_table_is_that_of_its_record():
    found = {(r["variant"], r["metric"] == "power"): results.human(r["value"], r["unit"]) for r in results.read(ROOT / "docs" / "results" / "gpu-2.jsonl") if r["benchmark"] == "energy"}
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:5]] for line in page[page.index("| load | energy for") :].split("\n\n")[0].splitlines()[2:]]
    assert {load for load, *_ in rows} == {variant for variant, _ in found}
    for load, _, power, result in rows:
        assert (power, result) == (found[load, True], found.get((load, False), "")), load


def test_recorded_results_keep_the_format():
    files = sorted((ROOT / "docs" / "results").glob("*.jsonl"))
    assert files
    within_a_gpu = {"barrier", "message", "pack", "pi", "upc", "virtualization"}
    for file in files:
        for r in results.read(file):
            fewest = 1 if file.stem.endswith("-1") or r["benchmark"] in within_a_gpu else 2  # all others are between GPUs
            samples = 3 if r["benchmark"] == "energy" else 5  # windows of 5 s each
            assert "driver" in r["platform"] and r["nodes"] >= fewest and r["n"] >= samples, (file, r)


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_pictures_are_of_the_published_records(name):
    """If not: .venv/bin/python benchmarks/report/pictures.py"""
    assert pictures.fingerprint(pictures.PICTURES[name]) in (ROOT / "docs" / "plots" / f"{name}.svg").read_text()


def test_a_picture_shows_the_best_record_of_each_place():
    def record(variant, threads, value, unit="ns"):
        return {"benchmark": "b", "variant": variant, "unit": unit, "value": value, "params": {"bytes": 8, "threads": threads}}

    found = [record("x", 32, 5), record("x", 64, 3), record("y", 32, 1)]
    assert pictures.best(found, "b", "bytes", variants={"x"}) == [(8, 3)]
    assert pictures.best(found, "b", "bytes", threads=32) == [(8, 1)]
    assert pictures.best([r | {"unit": "B/s"} for r in found], "b", "bytes", variants={"x"}) == [(8, 5)]


def test_bad_results_are_named(tmp_path):
    good = json.loads((ROOT / "docs" / "results" / "gpu-2.jsonl").read_text().splitlines()[0])
    limit = {"value": 1, "source": "x", "at_most": True}
    changes = [
        ({"value": math.nan}, "'value' is nan"), ({"value": math.inf}, "'value' is inf"), ({"p99": "slow"}, "'p99'"), ({"nodes": -2}, "'nodes' is -2"), ({"n": -1}, "'n' is -1"),
        ({"reference": "C1"}, "'reference'"), ({"reference": {}}, "reference: key 'value'"), ({"limit": {"value": 3}}, "limit: key 'source'"), ({"limit": limit | {"value": 0}}, "must not be 0"),
        ({"params": {"bytes": None}}, "'bytes'"), ({"colour": 3}, "unknown key 'colour'"), ({"unit": 5}, "'unit'"), ({"seed": True}, "'seed'"),
        ({"run": {}}, "run: key 'command'"), ({"run": 3}, "'run'"), ({"seeds": {"count": 2}}, "seeds: key 'least'"), ({"limit": limit | {"goal": 1}}, "limit: key 'goal'"),
    ]  # fmt: skip
    cases = [(json.dumps(good | change), word) for change, word in changes]
    for text, word in [("{", "bad:1"), ("null", "JSON object"), ('{"benchmark": "x"}', "variant"), ("", "no results"), *cases]:
        (tmp_path / "bad").write_text(text)
        refused(write_report("bad", cwd=tmp_path), "bad", word)


def test_bad_files_are_named(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\0")
    shutil.copy(DATA / "cuda.jsonl", tmp_path / "good")
    cases = {"missing": "No such file", ".": "directory", "binary": "not a text file", "good --out good": "good", "good --out /dev/null/x": "/dev/null/x"}
    for line, word in cases.items():
        arguments = line.split()
        refused(write_report(*arguments, cwd=tmp_path), word)


def test_records_without_a_place_on_the_axis_still_make_a_table(tmp_path):
    good = json.loads((ROOT / "docs" / "results" / "gpu-2.jsonl").read_text().splitlines()[0])
    for params in ({"bytes": "many"}, {"bytes": -3}, {"connections": 2}):
        lines = [json.dumps(good | {"benchmark": name, "params": params}) + "\n" for name in ("store_latency", "message_rate")]
        (tmp_path / "odd").write_text("".join(lines))
        done = write_report("odd", "--out", "out", cwd=tmp_path)
        assert done.returncode == 0 and done.stderr == ""
        assert (tmp_path / "out" / "index.html").read_text().count("<table>") == 2


def test_each_section_says_what_it_shows(tmp_path):
    def at(variant, value, threads, **more):
        return simulated(variant=variant, value=value, params={"threads": threads}, **more)

    ways = [at("block", 900.0, 32), at("block", 1000.0, 256), at("grid", 4000.0, 256), at("grid", 9000.0, 512)]
    rates = [at(v, value, 1, benchmark="himeno", metric="flops", unit="1/s") for v, value in (("mpi", 2e9), ("device", 8e9))]
    counts = [at("store", value, t, benchmark="coalescing", metric="requests", unit="1") for t, value in ((1, 1.0), (64, 4.0))]
    page = page_of(tmp_path, *ways, *rates, *counts)
    for text in ("Latency, threads 256: best block 1.00 µs, worst grid 4.00 µs, 4 times.", "Flops, threads 1: best device 8.00 G/s, worst mpi 2.00 G/s, 4 times.",
                 "Requests, store: 1 (threads 1) to 4 (threads 64)."):  # fmt: skip
        assert text in page, text


def test_a_report_of_several_clusters_begins_with_a_summary(tmp_path):
    page = page_of(tmp_path, *(simulated(nodes=n, value=100.0 * n) for n in (2, 4, 8)))
    assert page.index('id="summary"') < page.index('id="scaling"') < page.index("<h2>")
    assert "barrier, 8 nodes: Latency, barrier block latency (threads 256): 800 ns." in page


def test_an_axis_without_a_power_of_two_names_its_places(monkeypatch):
    monkeypatch.setattr(plots, "svg", lambda figure: figure)
    records = [simulated(benchmark="virtualization", variant="shared", metric="time", params={"blocks": b}, value=100.0 * b) for b in (13, 14)]
    ax = plots.curve("virtualization", records, *plots.BLOCKS).axes[0]
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels() if label.get_text()] == ["13", "14"]
    plots.plt.close("all")
