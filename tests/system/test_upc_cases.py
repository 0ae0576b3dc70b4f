# SPDX-License-Identifier: Apache-2.0
"""benchmarks/report/upc_cases.py: the table and the plot of the testbed of UPC's collectives."""

import csv
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "report"))

import report  # noqa: E402
import upc_cases  # noqa: E402


def record(case, metric, value, slowest=3):
    return {
        "benchmark": "upc_cases", "variant": case, "provider": "sim", "platform": "modern", "nic": "model", "nodes": 2, "metric": metric, "unit": "ns", "value": value,
        "params": {"elements": 16, "bytes": 64, "threads": 64, "method": "exchange", "scheme": "direct", "slowest": slowest}, "p50": value, "p99": value, "n": 1,
        "reference": None, "limit": None, "sim": {"cycles": 0, "sim_ns": 0, "wall_s": None}, "seed": 1, "version": "1",
    }  # fmt: skip


def write(folder, records):
    file = folder / "records.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in records))
    return str(file)


def test_a_point_is_a_row(tmp_path):
    points = [record(c, m, v) for c in ("case_0", "case_12") for m, v in (("collective", 100), ("computing", 200), ("overall", 290))]
    points.append(record("case_0", "collective", 90) | {"benchmark": "upc"})
    assert upc_cases.main([write(tmp_path, points), "--out", str(tmp_path / "out")]) == 0
    rows = list(csv.DictReader((tmp_path / "out" / "upc_cases.csv").open()))
    assert [r["case"] for r in rows] == ["case_0", "case_12"]
    assert (rows[0]["collective_ns"], rows[0]["overall_ns"], rows[0]["slowest_rank"]) == ("100", "290", "3")
    assert (tmp_path / "out" / "upc_cases.svg").read_text().startswith("<svg")


def test_what_is_missing_is_named(tmp_path, capsys):
    assert upc_cases.main([write(tmp_path, [record("case_0", "collective", 100)]), "--out", str(tmp_path)]) == 2
    assert "no record of computing, overall" in capsys.readouterr().err
    assert upc_cases.main([write(tmp_path, [record("case_0", "collective", 100) | {"benchmark": "upc"}])]) == 2
    assert "no record of upc_cases" in capsys.readouterr().err


def test_the_report_has_them(tmp_path):
    points = [record("case_0", m, v) for m, v in (("collective", 100), ("computing", 200), ("overall", 290))]
    assert report.main([write(tmp_path, points), "--out", str(tmp_path / "out")]) == 0
    assert [r["case"] for r in csv.DictReader((tmp_path / "out" / "upc_cases.csv").open())] == ["case_0"]
    assert (tmp_path / "out" / "upc_cases.svg").read_text().startswith("<svg")
    assert report.main([write(tmp_path, [p | {"benchmark": "upc"} for p in points]), "--out", str(tmp_path / "none")]) == 0
    assert not (tmp_path / "none" / "upc_cases.csv").exists()
