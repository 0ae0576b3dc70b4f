# SPDX-License-Identifier: Apache-2.0
"""Runs that a signal or a full disk cuts short, at 20 seeded points: results and traces so far are there, can be read and are
the beginning of those of a whole run; message and status say what happened."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess

import pytest
from conftest import bench_program, built

# Small, and with five clusters one after the other.
RUN = [bench_program(), "atomic_latency", "--quick", "--trace", "t.json", "--pcap", "p.pcapng", "--waves", "w.fst", "--json", "r.jsonl"]
PARTS = ["host", "host_assisted", "gpu_poll", "queue_host", "queue_gpu"]
TRACES = [f"t.{part}.json" for part in PARTS]
CAPTURES = [f"p.{part}.pcapng" for part in PARTS]
WAVES = [f"w.{part}.node{node}.fst" for part in PARTS for node in (0, 1)]


def heed_signals():
    """In the background of a shell they are ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def run(folder, *more, command=RUN, preexec_fn=heed_signals, **options):
    return subprocess.run([*command, *map(str, more)], cwd=folder, capture_output=True, text=True, timeout=200, preexec_fn=preexec_fn, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Folder of a run that nothing cuts short."""
    folder = tmp_path_factory.mktemp("whole")
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert sorted(f.name for f in folder.iterdir()) == sorted([*TRACES, *CAPTURES, *WAVES, "r.jsonl"])
    return folder


def lines(folder):
    return (folder / "r.jsonl").read_text().splitlines()


def waves(file):
    done = subprocess.run([built("GGAS_FST_SUMMARY", "tests/sim/fst_summary"), str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (file, done.stderr)
    return json.loads(done.stdout)


def messages(trace):
    """Without the counters of power, the last of which are means up to the end of the run."""
    return [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] != "C"]


def is_beginning(part, all_of_it):
    return part == all_of_it[: len(part)]


def check_files(folder, whole):
    """Every file that is there can be read, and is the beginning of the one of a whole run. Their names."""
    there = {f.name for f in folder.iterdir()}
    assert is_beginning(lines(folder), lines(whole))
    for name in there & set(TRACES):
        assert is_beginning(messages(folder / name), messages(whole / name))
    captures = sorted(there & set(CAPTURES))
    for name in captures:
        assert is_beginning((folder / name).read_bytes(), (whole / name).read_bytes())
    if captures and shutil.which("capinfos"):  # tshark's reader, quick
        read = subprocess.run(["capinfos", "-c", *captures], cwd=folder, capture_output=True, text=True, timeout=60)
        assert read.returncode == 0 and "cut short" not in read.stderr, read.stderr
    for name in there & set(WAVES):
        cut, full = waves(folder / name), waves(whole / name)
        assert cut["signals"] == cut["names"] == full["signals"]
        assert cut["changes"] <= full["changes"] and cut["end"] <= full["end"]
    return there


def test_whole_traces_are_read_by_the_programs_people_use(whole):
    for name in WAVES:
        seen = waves(whole / name)
        assert seen["signals"] == seen["names"] > 1000 and seen["changes"] > 1000 and seen["last"] <= seen["end"]
    assert check_files(whole, whole)
    if shutil.which("tshark"):
        for name in CAPTURES:
            seen = subprocess.run(["tshark", "-r", name], cwd=whole, capture_output=True, text=True, timeout=60)
            assert seen.returncode == 0 and len(seen.stdout.splitlines()) > 50


def at(point):
    return random.Random(point)


@pytest.mark.parametrize("point", range(10))
def test_signal(whole, tmp_path, point):
    number = (signal.SIGINT, signal.SIGTERM)[point % 2]
    simulated = sum(json.loads(line)["sim"]["sim_ns"] for line in lines(whole))
    done = run(tmp_path, env=dict(os.environ, GGAS_SIGNAL_AT=f"{number.value}:{at(point).randrange(simulated)}"))
    assert done.returncode == 128 + number, done.stderr
    assert f"ended by {number.name}" in done.stderr and "cut short: atomic_latency" in done.stderr
    check_files(tmp_path, whole)
    for line in lines(tmp_path):
        assert json.loads(line)["variant"] in done.stdout


def cut_names(stderr):
    """Files of messages, and whether they are still there."""
    lines = [line for line in stderr.replace("ggas-bench: ", "").splitlines() if ": cut short" in line or ": removed" in line]
    return {line.split(": ")[0].split("/")[-1]: "removed" not in line for line in lines}


def check_full_disk(done, folder, whole):
    there = check_files(folder, whole)
    reported = cut_names(done.stderr)
    assert done.returncode == (1 if reported else 0), done.stderr
    for name in [*TRACES, *CAPTURES, *WAVES, "r.jsonl"]:
        if name not in reported:  # all of it
            assert name in there
            if not name.endswith(".fst"):  # the head of one has the time of day
                assert (folder / name).read_bytes() == (whole / name).read_bytes()
        else:
            assert reported[name] == (name in there), (name, done.stderr)
    assert lines(whole)[-1].split('"variant":')[1].split(",")[0].strip('"') in done.stdout  # the table is whole
    return reported


@pytest.mark.parametrize("point", range(5))
def test_files_that_may_not_grow(whole, tmp_path, point):
    most = at(point).choice([1_000, 30_000, 100_000, 200_000, 300_000]) + at(point).randrange(20_000)
    done = run(tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    reported = check_full_disk(done, tmp_path, whole)
    assert set(reported) == {f.name for f in whole.iterdir() if f.stat().st_size > most and not f.name.endswith(".fst")} | {n for n in reported if n.endswith(".fst")}
    assert reported and "File too large" in done.stderr


def may_mount():
    return shutil.which("unshare") and subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0


@pytest.mark.parametrize("point", range(5))
def test_full_disk(whole, tmp_path, point):
    if not may_mount():
        pytest.skip("no disk of a chosen size can be mounted here")
    sizes = sum(f.stat().st_size for f in whole.iterdir())
    kilobytes = at(point).randrange(8, sizes // 1024)
    (tmp_path / "disk").mkdir()
    (tmp_path / "kept").mkdir()
    script = f'mount -t tmpfs -o size={kilobytes}k none disk && cd disk && "$@"; status=$?; cp -a . ../kept; exit $status'
    done = run(tmp_path, command=["unshare", "-rm", "sh", "-c", script, "sh", *RUN])
    assert check_full_disk(done, tmp_path / "kept", whole) and "No space left on device" in done.stderr


def test_a_table_that_does_not_fit_is_reported(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*RUN[:3], "--provider", "shm", "--json", "r.jsonl"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "standard output is incomplete" in done.stderr and lines(tmp_path)


def test_report_of_a_run_that_a_signal_ended(tmp_path):
    done = run(tmp_path, "atomic_latency", "coalescing", "--quick", "--json", "r.jsonl", "--report", "report", command=RUN[:1], env=dict(os.environ, GGAS_SIGNAL_AT="15:500000"))
    assert done.returncode == 143 and "not run: coalescing" in done.stderr
    page = (tmp_path / "report" / "index.html").read_text()
    assert lines(tmp_path) and all(json.loads(line)["variant"] in page for line in lines(tmp_path))
    assert (tmp_path / "report" / "results.jsonl").read_text().splitlines() == lines(tmp_path)


def test_signal_to_a_run_without_simulator(tmp_path):
    """A real one, sent when the first record is there."""
    record = tmp_path / "r.jsonl"
    run = subprocess.Popen([RUN[0], "thesis", "--provider", "shm", "--json", record], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)
    while run.poll() is None and not (record.exists() and record.read_text()):
        pass
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=100)
    assert run.returncode == 130 and "ended by SIGINT" in err and "not run:" in err
    assert all(json.loads(line)["benchmark"] in out for line in record.read_text().splitlines())


def test_signals_that_are_ignored_stay_so(tmp_path):
    done = run(tmp_path, "atomic_latency", "--quick", command=RUN[:1], env={"GGAS_SIGNAL_AT": f"{signal.SIGINT.value}:1000"}, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert done.returncode == 0 and done.stderr == ""
