# SPDX-License-Identifier: Apache-2.0
"""The HTML report."""

import re
import subprocess
import sys

import plots
import results
from conftest import REPORT, ROOT

DATA = ROOT / "tests" / "system" / "data"


def write_report(*arguments, cwd):
    return subprocess.run([sys.executable, str(REPORT / "report.py"), *map(str, arguments)], cwd=cwd, capture_output=True, text=True)


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
    assert page.count("<svg") == 3  # bounds, latency, bandwidth
    assert page.index("<svg") < page.index("<section")
    for word in ("99.1 %", "≤ 400 GB/s", "21.0 nJ", "1.20 µs"):
        assert word in page, word


def test_curves_are_told_apart_by_what_differs_at_one_place():
    records = results.read(DATA / "cuda.jsonl")
    puts = plots.series([r for r in records if r["benchmark"] == "put_bandwidth"], "bytes")
    assert list(puts) == ["kernel, blocks 8", "kernel, blocks 16", "kernel, blocks 132", "copy_engine"]
    assert all(len(members) == 2 for members in puts.values())
    assert list(plots.series([r for r in records if r["benchmark"] == "store_latency"], "bytes")) == ["store"]


def test_recorded_results_keep_the_format():
    files = sorted((ROOT / "docs" / "results").glob("*.jsonl"))
    assert files
    for file in files:
        for r in results.read(file):
            assert "driver" in r["platform"] and r["nodes"] >= 2 and r["n"] >= 5, (file, r)


def test_bad_results_are_named(tmp_path):
    for text, word in (("{", "bad:1"), ('{"benchmark": "x"}', "variant"), ("", "no results")):
        (tmp_path / "bad").write_text(text)
        done = write_report("bad", cwd=tmp_path)
        assert done.returncode == 2 and word in done.stderr, done.stderr
    assert write_report("missing", cwd=tmp_path).returncode == 2
