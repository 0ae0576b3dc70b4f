# SPDX-License-Identifier: Apache-2.0
"""docs/study.md: each command of its table runs, and every benchmark that is in the suite has one."""

import re

import plots
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
    assert {("random_access", "put"), ("transfer_path", "staged"), ("store_bandwidth", "strided_store"), ("load_bandwidth", "strided_load")} <= found
    assert {("reduce", method) for method in ("gather", "one_shot", "read", "tree", "auto")} <= found
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
    named = {name for command in COMMANDS for name in command.split() if re.fullmatch("[a-z_]+", name)} - {"energy"}
    assert listed - ours == named


def test_bad_grids_are_named(bench):
    for words, says in [
        (["himeno", "--grid", "30x3x3"], "--grid 30x3x3: X must be a multiple of 4, Y at least 3, Z at least 3 for each of 2 nodes"),
        (["himeno", "--grid", "30x3x3"], "the nearest is 32x3x6"),
        (["himeno", "--grid", "32x18"], "--grid 32x18: expected XxYxZ"),
        (["himeno", "--steps", "0"], "--steps 0: expected 1 to 100000"),
        (["barrier", "--steps", "3"], "--grid and --steps go with himeno"),
    ]:
        done = bench(*words)
        assert done.returncode == 2 and says in done.stderr, done.stderr


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
