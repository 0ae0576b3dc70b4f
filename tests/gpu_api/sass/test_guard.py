# SPDX-License-Identifier: Apache-2.0
"""Kernels that were not compiled with GGAS_CHECKED have nothing of the checked mode. By nvcc, which GGAS_NVCC names."""
import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
OF_THE_GUARD = ("agree_on_channel", "record_difference", "refused_for")


def functions(tmp_path, *arguments):
    """Names of functions in the PTX of guard.cu."""
    nvcc = os.environ.get("GGAS_NVCC")
    if not nvcc:
        pytest.skip("GGAS_NVCC names no compiler")
    ptx = tmp_path / "guard.ptx"
    include = [f"-I{ROOT / folder}" for folder in ("gpu_api/include", "userlib/include", "userlib/driver")]
    command = [nvcc, "-std=c++20", "-arch=sm_90", "-ptx", *include, *arguments, "-o", ptx, HERE / "guard.cu"]
    subprocess.run(command, check=True)
    return re.findall(r"^(?:\.visible |\.weak )?\.(?:func|entry)\s.*?(\w+)\s*\(", ptx.read_text(), re.MULTILINE)


def test_kernels_have_nothing_of_it_unless_asked_for(tmp_path):
    found = functions(tmp_path)
    assert sum("by_block" in name or "by_grid" in name for name in found) == 2, found
    assert not [name for name in found for part in OF_THE_GUARD if part in name]


def test_kernels_that_ask_for_it_have_it(tmp_path):
    found = functions(tmp_path, "-DGGAS_CHECKED")
    assert any("agree_on_channel" in name for name in found), found
