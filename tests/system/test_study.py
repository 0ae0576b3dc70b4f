# SPDX-License-Identifier: Apache-2.0
"""docs/study.md: each command of its table runs, and every benchmark that is in the suite has one."""

import json
import re

import plots
import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "study.md").read_text()
COMMANDS = re.findall(r"\| `\./ggas bench ([^`]+)` \|", PAGE)
SMALL_GRID = "32x18x12"


def check_figure(figure):
    """As a reader sees it: something is drawn, what the axes are and in which unit, a legend, not wider than a page."""
    figure.canvas.draw()
    assert figure.get_tightbbox().width * 96 <= 1280
    for ax in figure.axes:
        (left, right), (bottom, top) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
        points = [xy for line in ax.lines for xy in zip(line.get_xdata(), line.get_ydata())]
        bars = [bar for bar in ax.patches if bar.get_width() and bar.get_height()]
        assert bars or any(left <= x <= right and bottom <= y <= top for x, y in points)
        named = len(ax.get_legend_handles_labels()[1])
        assert ax.get_legend() if named else ax.get_yticklabels()
        assert ax.get_xlabel()
        assert ax.get_ylabel() or all(label.get_text() for label in ax.get_yticklabels())
        if " / " not in ax.get_ylabel():  # a count, or a number of each bar
            assert ax.get_ylabel() in ("", "requests", "messages", "updates", "reductions")
    return "drawn"


def test_every_command_of_the_table_runs(records, monkeypatch):
    """Those without options in one run, of which every plot is looked at; grids are cut to a small one, steps are left."""
    plain = {name for command in COMMANDS if "--" not in command for name in command.split()}
    made = records(*sorted(plain), "--quick", "--nic", "model", timeout=600)
    found = {(r["benchmark"], r["variant"]) for r in made}
    assert {benchmark for benchmark, _ in found} == plain
    for variant in ("mpi", "hybrid", "put", "stream_halves", "in_kernel_last", "store_barrier"):
        assert ("himeno", variant) in found
    for benchmark in ("reduce", "allreduce", "global_reduction", "random_access", "overhead"):
        assert (benchmark, "mpi") in found
    assert {("random_access", "put"), ("transfer_path", "staged"), ("store_bandwidth", "strided_store"), ("load_bandwidth", "strided_load"), ("store_bandwidth", "copy_engine")} <= found
    assert {("post_and_poll", step) for step in ("verbs", "copied", "swapped", "unstamped", "unchecked", "ours")} <= found
    assert {("launching", "stream"), ("launching", "resident"), ("allreduce", "mpi_host"), ("overhead", "hybrid")} <= found
    assert {("reduce", method) for method in ("gather", "one_shot", "two_shot", "read", "tree", "auto")} <= found
    monkeypatch.setattr(plots, "svg", check_figure)
    for name in plain:
        assert plots.plots_of(name, [r for r in made if r["benchmark"] == name]), name
    others = {re.sub(r"--steps \d+", "--steps 2", re.sub(r"\d+x\d+x\d+", SMALL_GRID, command)) for command in COMMANDS if "--" in command}
    assert len(others) > 1
    for command in sorted(others):
        made = records(*command.split(), "--quick", "--nic", "model", timeout=600)
        grids = {r["params"]["grid"] for r in made if r["benchmark"] == "himeno" and "--grid" in command}
        assert grids <= {SMALL_GRID} and made
        assert ("energy_per_operation" in {r["metric"] for r in made}) == command.startswith("energy")


def test_the_table_has_the_whole_suite(bench):
    """But for the NIC alone, and what the study did not measure."""
    listed = set(re.findall(r"^ {2}(\w+) +", bench("list").stdout.split("benchmarks\n")[1], re.M))
    ours = set("nic_cycles broadcast allgather alltoall gather scatter permute scan upc upc_cases message pi virtualization pack typed_put random_stores trace params".split())
    named = {name for command in COMMANDS for name in command.split() if re.fullmatch("[a-z_]+", name)} - {"energy", "modern"}
    assert listed - ours == named


def test_bad_sizes_are_named(bench):
    for words, says in [
        (["himeno", "--grid", "30x3x3"], "--grid 30x3x3: X must be a multiple of 4, Y at least 3, Z at least 3 for each of 2 nodes"),
        (["himeno", "--grid", "30x3x3"], "the nearest is 32x3x6"),
        (["himeno", "--grid", "32x18"], "--grid 32x18: expected XxYxZ"),
        (["himeno", "--steps", "0"], "--steps 0: expected 1 to 100000"),
        (["barrier", "--steps", "3"], "--grid and --steps go with himeno"),
        (["random_access", "--table", "3000"], "--table 3000: must be a power of two from 1024 to 16777216; the nearest is 2048"),
        (["random_access", "--table", "100000000000"], "the nearest is 16777216"),
        (["random_access", "--table", "0"], "the nearest is 1024"),
        (["himeno", "--table", "1024"], "--table goes with random_access"),
        (["himeno", "--grids", "32x18x12"], "The nearest option is --grid."),
        (["himneo"], "the nearest is himeno"),
    ]:
        done = bench(*words)
        assert done.returncode == 2 and says in done.stderr, done.stderr


# Quick points that have room for their blocks are kept.
@pytest.mark.parametrize(("name", "says"), [
    ("barrier", "barrier grid 13x256: 13 blocks of 256 threads wait for each other, so all must be on the GPU at once; it has room for 8 at most (gpu.sms = 1, "),
    ("upc", "8 blocks of 64 threads"),
    ("random_access", "mailbox, 2^10 words: 2 blocks of 128 threads"),
    ("himeno", "5 blocks of 128 threads"),
    ("launching", "10 blocks of 128 threads"),
])  # fmt: skip
def test_more_blocks_than_fit(bench, tmp_path, name, says):
    room = "8" if name == "barrier" else "1"
    done = bench(name, "--quick", "--nic", "model", "--set", "gpu.sms=1", "--set", f"gpu.blocks_per_sm={room}", "--json", "kept")
    assert done.returncode == 2 and says in done.stderr, done.stderr
    kept = {json.loads(line)["variant"] for line in (tmp_path / "kept").read_text().splitlines()}
    assert "grid" not in kept and "device" not in kept and "resident" not in kept


def test_a_table_of_one_size(records):
    made = records("random_access", "--table", "2048", "--nodes", "4", "--nic", "model")
    assert {r["params"]["elements"] for r in made} == {2048}
    assert {r["variant"] for r in made} == {"mailbox", "bucket", "put", "atomic", "mpi"}  # lanes in step, too


def test_mailboxes_run_on_as_many_nodes_as_the_look_ahead_allows(records):
    made = records("random_access", "--table", "1024", "--nodes", "9", "--nic", "model")
    assert "mailbox" in {r["variant"] for r in made}


def test_gpus_at_another_socket_and_of_the_next_chip_set(records):
    rate = {}
    for platform in ("galibier-k20", "galibier-k20-socket", "galibier-k20-ivy"):
        for r in records("transfer_path", "--quick", "--nic", "model", "--platform", platform):
            if r["params"]["bytes"] == 65536 and r["variant"] != "staged":
                rate[platform, r["variant"]] = r["value"]
    for way in ("gpu_to_host", "gpu_to_gpu"):
        assert rate["galibier-k20-socket", way] < 0.2e9 < 0.7e9 < rate["galibier-k20", way] < rate["galibier-k20-ivy", way]
    for platform in ("galibier-k20-socket", "galibier-k20-ivy"):
        assert rate[platform, "host_to_gpu"] == pytest.approx(rate["galibier-k20", "host_to_gpu"], rel=0.02)


def test_copies_to_the_window_by_the_copy_engine(records):
    made = records("store_bandwidth", "load_bandwidth", "--quick", "--nic", "model")
    for name, kernel in (("store_bandwidth", "store"), ("load_bandwidth", "load")):
        rate = {(r["variant"], r["params"]["bytes"]): r["value"] for r in made if r["benchmark"] == name}
        assert rate["copy_engine", 1 << 20] > 0.9 * rate[kernel, 1 << 20]
        assert rate["copy_engine", 1024] < 0.5 * rate["copy_engine", 1 << 20]  # launch and synchronisation


def values(made, metric, *keys):
    return {(r["variant"], *(r["params"][key] for key in keys)): r["value"] for r in made if r["metric"] == metric}


def test_every_step_of_the_verbs_code_costs_less_than_the_one_before(records):
    made = records("post_and_poll", "--quick", "--nic", "model")
    steps = ("verbs", "copied", "swapped", "unstamped", "unchecked")
    times, instructions, writes = (values(made, metric, "memory", "method") for metric in ("time", "instructions", "host_writes"))
    for memory in ("host", "gpu"):
        for method in ("post", "poll"):
            for before, after in zip(steps, steps[1:]):
                assert times[after, memory, method] <= times[before, memory, method]
                assert instructions[after, memory, method] <= instructions[before, memory, method]
        assert instructions["unchecked", memory, "post"] < 0.7 * instructions["verbs", memory, "post"]
    assert writes["copied", "host", "post"] < 0.7 * writes["verbs", "host", "post"]  # six threads: one write
    assert times["verbs", "host", "poll"] > 2 * times["verbs", "gpu", "poll"]


def test_launches_grow_with_their_number_and_a_resident_kernel_has_one(records):
    made = records("launching", "--quick", "--nic", "model")
    calls, times = (values(made, metric, "kernels", "method") for metric in ("calls", "time"))
    kernels = sorted({r["params"]["kernels"] for r in made if r["variant"] == "stream"})
    assert len(kernels) > 1
    each = [calls["stream", n, "stream"] / n for n in kernels]
    assert max(each) < 1.01 * min(each)
    assert {calls["resident", n, "stream"] for n in kernels} == {each[0]}
    published = {"stream": 12250, "device": 15240, "event": 11980, "event_blocking": 65710}  # C7
    for method, ns in published.items():
        assert abs(times["empty", 1, method] / ns - 1) < 0.1


def test_himeno_alone_is_never_slower(records):
    made = records("himeno", "--quick", "--nic", "model")
    together, alone = (values(made, metric, "grid") for metric in ("flops", "flops_alone"))
    assert together.keys() == alone.keys() and len(together) == 10
    assert all(alone[way] >= 0.99 * together[way] for way in together)


def half_rounds(made):
    return {(r["variant"], r["params"]["bytes"]): r["value"] for r in made if r["metric"] == "half_round_trip"}


def test_the_originals_software_takes_what_was_published_and_never_less_than_ours(records):
    words = ["put_latency", "--quick", "--nic", "model"]
    ours, original = half_rounds(records(*words)), half_rounds(records(*words, "--set", "software=original"))
    assert ours.keys() == original.keys() and ours
    assert abs(original["host", 8] / 4900 - 1) < 0.02  # C6, what the delay was fitted to
    assert all(original[at] >= ours[at] for at in ours)
    assert original["queue_gpu", 8] == ours["queue_gpu", 8]  # descriptors in memory, which the NIC reads


def test_software_of_nobody_is_refused(bench):
    done = bench("barrier", "--set", "software=theirs")
    assert done.returncode == 2 and "software: must be ours or original, is theirs" in done.stderr, done.stderr
