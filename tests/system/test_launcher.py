# SPDX-License-Identifier: Apache-2.0
"""The launcher's own words; building and running is what every other test comes from."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT


def launcher(*arguments):
    return subprocess.run([str(ROOT / "ggas"), *arguments], cwd="/", capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"], ["test", "--help"], ["synth", "-h"], ["coverage", "--help"], ["build", "-h"]], ids=" ".join)
def test_help(words):
    done = launcher(*words)
    assert done.returncode == 0
    for command in ("bench", "compare", "test", "synth", "./ggas bench list"):
        assert command in done.stdout


def test_paths_are_relative_to_the_folder_of_the_caller(tmp_path):
    (tmp_path / "mine").write_text("")
    done = subprocess.run([str(ROOT / "ggas"), "compare", "--records", "mine"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "mine: no results" in done.stderr


def test_without_arguments_it_helps():
    assert "usage:" in launcher().stdout


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["fly"], "fly"),
        (["coverage", "rtl"], "no argument"),
        (["run"], "-n"),
        (["compare", "--records", "nowhere"], "nowhere"),
        (["test", "--fast"], "--fast"),
        (["test", "a", "b"], "one filter"),
        (["test", "smfu("], "'smfu('"),
        (["synth", "65"], "65"),
        (["synth", "64", "256"], "one width"),
    ],
)
def test_bad_input(arguments, word):
    done = launcher(*arguments)
    assert done.returncode == 2
    assert word in done.stderr


def with_tools(folder, *names):
    """The only ones in PATH: what else the launcher wants is not there."""
    for tool in names:
        (folder / tool).symlink_to(shutil.which(tool))
    return {"PATH": str(folder)}


def test_help_of_bench_builds_nothing(tmp_path):
    done = subprocess.run([str(ROOT / "ggas"), "bench", "store_latency", "--help"], env=with_tools(tmp_path, "sh", "dirname", "readlink", "sed"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "--provider" in done.stdout and "examples:" in done.stdout and "```" not in done.stdout


@pytest.mark.parametrize("arguments", [["bench", "--provider", "cuda"], ["bench", "list", "--provider=cuda"], ["compare"]])
def test_gpus_need_a_compiler(arguments, tmp_path):
    """Reported before anything is installed or built."""
    if Path("/usr/local/cuda/bin/nvcc").exists():
        pytest.skip("nvcc is found without PATH")
    done = subprocess.run([str(ROOT / "ggas"), *arguments], env=with_tools(tmp_path, "sh", "dirname", "readlink"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "nvcc" in done.stderr


def test_two_that_build_take_turns(tmp_path):
    """Two builds in one folder would lose its log."""
    (tmp_path / "ggas").write_text((ROOT / "ggas").read_text())
    (tmp_path / "packages.txt").write_text("")
    (tmp_path / "requirements.txt").write_text("")
    python = tmp_path / ".venv/bin/python"
    log = tmp_path / "log"
    programs = {python: "exit 0", tmp_path / "bin/ninja": f"echo begin >>{log}; sleep 3; echo end >>{log}"}
    for program, text in programs.items():
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    stamp = subprocess.run(["sha256sum"], input="", capture_output=True, text=True, check=True).stdout
    (tmp_path / ".venv/requirements.stamp").write_text(stamp)
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/build.ninja").write_text("")
    (tmp_path / "build/release/groups").write_text("base sim synth vm test\n")
    path = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    calls = [subprocess.Popen(["sh", tmp_path / "ggas", "build", "ggas_regs"], env=path, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    reported = [call.communicate(timeout=60)[1] for call in calls]
    assert [call.returncode for call in calls] == [0, 0], reported
    assert log.read_text().split() == ["begin", "end"] * 2
    assert sum("waiting for another ./ggas" in words for words in reported) == 1
