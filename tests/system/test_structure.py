# SPDX-License-Identifier: Apache-2.0
"""Folders include in one direction: no circle between them, products know nothing of each other, and none is large."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TREES = ("sim", "userlib/start", "userlib/driver", "userlib/cluster", "userlib/libggas", "userlib/mpi", "programs", "benchmarks")
ROOTS = (ROOT, ROOT / "gpu_api" / "include", ROOT / "userlib" / "include", ROOT / "userlib" / "driver")
# Parts of a tree that one include each other: one unit.
ONE_UNIT = {"userlib/mpi/direct": "userlib/mpi"}
# What each tree may include of the others; GPUs of libggas belong to the provider cuda.
MAY = {
    "sim": {"gpu_api"},
    "userlib/start": {"userlib/include"},
    "userlib/driver": {"kernel/include/uapi"},
    "userlib/cluster": {"gpu_api", "sim", "userlib/driver", "userlib/include", "userlib/start"},
    "userlib/libggas": {"gpu_api", "userlib/cluster/providers/cuda", "userlib/driver", "userlib/include", "userlib/start"},
    "userlib/mpi": {"gpu_api"},
    "programs": {"gpu_api", "sim", "userlib/cluster", "userlib/driver", "userlib/include", "userlib/libggas", "userlib/start"},
    "benchmarks": {"gpu_api", "sim", "userlib"},
}
MOST_FILES = 25


def unit(path):
    folder = str(path.parent.relative_to(ROOT))
    return ONE_UNIT.get(folder, folder)


def included(path):
    for name in re.findall(r'^#include "(.*?)"', path.read_text(), re.M):
        if found := next((root / name for root in ROOTS if (root / name).exists()), None):
            yield found


def sources(tree):
    return [f for f in (ROOT / tree).rglob("*") if f.suffix in (".c", ".cpp", ".cu", ".cuh", ".h", ".hpp")]


@pytest.fixture(scope="module")
def arrows():
    """Units that a unit includes, with a file that does."""
    found = {}
    for file in (f for tree in TREES for f in sources(tree)):
        for other in included(file):
            if unit(other) != unit(file):
                found.setdefault(unit(file), {}).setdefault(unit(other), f"{file.relative_to(ROOT)} includes {other.relative_to(ROOT)}")
    return found


def test_no_circle_between_folders(arrows):
    # Units that include none of those left are taken away, until none is left.
    left = {folder: {to for to in others if to in arrows} for folder, others in arrows.items()}
    while ends := {folder for folder, others in left.items() if not others & left.keys()}:
        left = {folder: others for folder, others in left.items() if folder not in ends}
    assert [why for folder in left for to, why in arrows[folder].items() if to in left] == []


def inside(folder, tree):
    return folder == tree or folder.startswith(f"{tree}/")


@pytest.mark.parametrize("tree", TREES)
def test_trees_include_what_is_below_them(tree, arrows):
    outside = {to: why for folder, others in arrows.items() if inside(folder, tree) for to, why in others.items() if not inside(to, tree)}
    assert [why for to, why in outside.items() if not any(inside(to, may) for may in MAY[tree])] == []


@pytest.mark.parametrize("tree", [*TREES, "rtl"])
def test_folders_are_small(tree):
    folders = {f.parent for f in (ROOT / tree).rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    sizes = {str(Path(f).relative_to(ROOT)): sum(p.is_file() for p in f.iterdir()) for f in folders}
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


MEASURE = ROOT / "rtl" / "measure.py"


def measure(*files):
    return subprocess.run([sys.executable, MEASURE, *files], capture_output=True, text=True, timeout=60)


def test_modules_of_the_rtl_keep_their_bars():
    done = measure()
    assert done.returncode == 0, done.stderr
    assert re.search(r"^most ports: [1-9]\d* ", done.stdout, re.M), done.stdout


MODULE = """module m #(
    parameter int unsigned W = $clog2(8), // input wire no_port,
    parameter int unsigned V = 1
) (
{ports}
);
  logic x, y;
  always_comb begin
    case (x)
{cases}
    endcase
  end
  always_comb y = x;
endmodule
"""


@pytest.mark.parametrize(
    "ports, cases, says", [(60, 56, None), (61, 56, "61 ports, at most 60"), (60, 57, "m.sv:67: 61 lines of an always block, at most 60")]
)
def test_what_is_above_a_bar_is_found(tmp_path, ports, cases, says):
    lines = [f"    input wire logic [W-1:0] p{i}_i  /* {{a, b}} */" for i in range(ports)]
    file = tmp_path / "m.sv"
    file.write_text(MODULE.format(ports=",\n".join(lines), cases="\n".join(f"      {i}: x = {{y, 1'b0}};" for i in range(cases))))
    done = measure(file)
    assert done.returncode == (1 if says else 0), done.stdout
    assert says is None or says in done.stderr


def test_a_file_of_rtl_that_is_not_there_is_named(tmp_path):
    done = measure(tmp_path / "none.sv")
    assert done.returncode == 1 and "none.sv" in done.stderr and "Traceback" not in done.stderr
