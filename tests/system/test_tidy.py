# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing in the sources of products, programs and benchmarks (.clang-tidy has its checks)."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from targets import compiled  # noqa: E402

FOLDERS = ("benchmarks", "gpu_api", "programs", "sim", "userlib")
TIDY = Path(sys.executable).with_name("clang-tidy")


def sources(units):
    """Of the compilation database: one entry a file, C++ of the project itself."""
    files = {Path(u["file"]) for u in units}
    return sorted(f for f in files if f.suffix == ".cpp" and f.is_relative_to(ROOT) and f.relative_to(ROOT).parts[0] in FOLDERS)


def headers_of_compiler():
    """clang-tidy's package has none of those that belong to a compiler."""
    return subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()


def look_at(file, build, headers):
    more = (f"-isystem{headers}", "-Wno-everything", "-DTOML_ENABLE_SIMD=0")  # its vector instructions are the other compiler's
    command = [TIDY, "-p", build, "--quiet", *(f"--extra-arg={option}" for option in more), file]
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{file.relative_to(ROOT)}:\n{done.stdout}"


@pytest.mark.skipif(not TIDY.exists(), reason="no clang-tidy of requirements.txt")
def test_sources_are_clean(tmp_path):
    build = Path(os.environ.get("GGAS_BUILD", ROOT / "build" / "release"))
    units = list(compiled(build))
    (tmp_path / "compile_commands.json").write_text(json.dumps(units))
    files, headers = sources(units), headers_of_compiler()
    assert len(files) > 200
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(lambda f: look_at(f, tmp_path, headers), files) if text]
    assert not found, "\n".join(found)
