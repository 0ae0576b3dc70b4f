# SPDX-License-Identifier: Apache-2.0
"""Energy of a computer with made-up sensors: records, power over time, what is said of a sensor that is missing."""

import json
import os
import subprocess
import threading
import time

import pytest
import results

PROGRAM = os.environ["GGAS_BENCH_HOST"]
LIBRARY = os.path.dirname(os.environ["GGAS_MADE_UP_NVML"])  # of libnvidia-ml.so.1, whose GPUs are in the file MADE_UP_NVML
WATTS = {"intel-rapl:0": ("package-0", 60), "intel-rapl:0:0": ("dram", 4)}
GPU_COUNTS, GPU_SAYS = 200, 150  # watts by its counter and by its power


def replace(file, text):
    """In one step: a reader sees the old text or the new one."""
    new = file.with_name(file.name + ".new")
    new.write_text(text)
    new.replace(file)


class Sensors:
    """Counters that go on as their watts say, in a thread of its own."""

    def __init__(self, folder, zones=WATTS, gpu=True):
        self.zones, self.power, self.gpu, self.end = folder / "powercap", zones, folder / "gpus", threading.Event()
        for zone, (name, _) in zones.items():
            (self.zones / zone).mkdir(parents=True)
            (self.zones / zone / "name").write_text(name)
            (self.zones / zone / "max_energy_range_uj").write_text("262143328850")
        self.zones.mkdir(exist_ok=True)
        self.has_gpu, self.begin = gpu, time.monotonic()
        self.write()
        self.thread = threading.Thread(target=self.run)

    def write(self):
        seconds = time.monotonic() - self.begin
        for zone, (_, watts) in self.power.items():
            replace(self.zones / zone / "energy_uj", f"{int(1e6 * (1000 + watts * seconds))}\n")
        if self.has_gpu:
            replace(self.gpu, f"{int(1e3 * GPU_COUNTS * seconds)} {1000 * GPU_SAYS}\n")

    def run(self):
        while not self.end.wait(0.002):
            self.write()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()


def measure(folder, sensors, *arguments):
    environment = {**os.environ, "LD_LIBRARY_PATH": LIBRARY}
    if sensors.has_gpu:
        environment["MADE_UP_NVML"] = str(sensors.gpu)
    words = [PROGRAM, "energy", "--window", "0.4", "--quick", "--powercap", sensors.zones, "--json", "r.jsonl", *arguments]
    return subprocess.run([str(w) for w in words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_components_are_separate_and_named(tmp_path):
    with Sensors(tmp_path) as sensors:
        done = measure(tmp_path, sensors, "--power", "p.csv", "--report", "report")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    for number, r in enumerate(found):
        results.check(r, f"record {number}")
    power = {(r["variant"], r["params"]["method"], r["params"].get("when"), r["params"].get("sensor")): r["value"] for r in found if r["metric"] == "power"}
    variants = {"idle", "processor_poll", "processor_back_off", "processor_sleep"}
    assert {v for v, *_ in power} == variants
    for variant in variants:
        assert power[variant, "processors", None, None] == pytest.approx(60, rel=0.15)
        assert power[variant, "dram", None, None] == pytest.approx(4, rel=0.15)
        assert power[variant, "gpus", None, None] == pytest.approx(GPU_COUNTS, rel=0.15)
        assert power[variant, "gpus", None, "integrated power"] == pytest.approx(GPU_SAYS, rel=0.01)
    assert ("idle", "processors", "after", None) in power
    assert "gpu-0: integrated power differs from the energy counter by" in done.stdout
    assert "windows shorter than 5 s" in done.stdout
    head, *rows = (tmp_path / "p.csv").read_text().splitlines()
    assert head == "time_s,activity,gpu-0,dram-0,package-0"
    assert all(float(row.split(",")[2]) == GPU_SAYS for row in rows)
    assert 'id="power"' in (tmp_path / "report" / "index.html").read_text()


def test_without_sensors_there_is_no_figure(tmp_path):
    with Sensors(tmp_path, zones={}, gpu=False) as sensors:
        done = measure(tmp_path, sensors)
    assert done.returncode == 77
    assert "no power zones in" in done.stdout and "NVML does not start" in done.stdout
    assert (tmp_path / "r.jsonl").read_text() == ""


def test_dram_alone(tmp_path):
    with Sensors(tmp_path, zones={"intel-rapl:0:0": ("dram", 4)}, gpu=False) as sensors:
        done = measure(tmp_path, sensors)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert {r["params"]["method"] for r in found} == {"dram"}


def test_a_counter_that_stands_still_has_no_figure(tmp_path):
    sensors = Sensors(tmp_path, gpu=False)  # no one moves its counters
    done = measure(tmp_path, sensors)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.jsonl").read_text() == ""
    assert "package-0 n/a: its sensor stood still" in done.stdout


@pytest.mark.parametrize("arguments, word", [(["--window", "0"], "--window"), (["--provider", "sim"], "sim"), (["barrier"], "unknown benchmark"), (["--power", "/dev/null/p.csv"], "p.csv")])
def test_bad_input(arguments, word, tmp_path):
    done = subprocess.run([PROGRAM, "energy", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and word in done.stderr + done.stdout
