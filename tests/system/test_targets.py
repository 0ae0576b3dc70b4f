# SPDX-License-Identifier: Apache-2.0
"""./ggas test FILTER builds what the tests of the filter need, and finds every test before it is built."""

import os
import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests"))
import targets  # noqa: E402

BUILD = Path(os.environ.get("GGAS_BUILD") or ROOT / "build" / "release")
SOURCE = """
TEST(plain, works) {}
TEST_F(fixture, works) {}
TYPED_TEST_SUITE(wide, widths);
TYPED_TEST(wide, works) {}
TEST_P(many, works) {}
INSTANTIATE_TEST_SUITE_P(all, many, testing::Values("shm", "sim"));
#define INSTANTIATE_TWICE(suite) \\
  INSTANTIATE_TEST_SUITE_P(once, suite, testing::Values("shm"))
TEST_P(few, works) {}
INSTANTIATE_TWICE(few);
"""


def test_names_of_a_source():
    found = set(targets.names(SOURCE, "sim."))
    assert {"sim.plain.works", "sim.fixture.works", "sim.wide.works<0>", "sim.all/many.works/shm", "sim.all/many.works/1", "sim.once/few.works/shm"} <= found
    assert not any("plain" in name and "/" in name for name in found)


@pytest.fixture
def build():
    if not (BUILD / "build.ninja").exists():
        pytest.skip(f"nothing is configured in {BUILD}: ./ggas test does it, or GGAS_BUILD names another folder")
    return BUILD.resolve()


def without_parameter(name):
    return re.sub(r"(\.\w+)/[^/]*$", r"\1", re.sub(r"<.*>$", "", name))


def test_every_listed_test_is_in_the_sources(build):
    for target, prefixes, listed, text in targets.programs_with_text(build):
        found = {without_parameter(name) for prefix in prefixes for name in targets.names(text, prefix)}
        assert found, target
        assert {without_parameter(name) for name in listed} - found == set(), target


def test_tests_of_a_unit_need_no_nic(build):
    assert targets.needed(build, "smfu") == {"ggas_regs", "gpu_test", "rtl_smfu_test"}


def test_tests_of_ggas_bench_need_the_nics(build):
    assert targets.needed(build, "^sim.gpu.calibration$") == {"benchmarks/ggas-bench", "ggas-nics", "ggas_regs"}


def test_tests_of_the_build_need_all(build):
    assert targets.needed(build, "system.install") is None
    assert targets.needed(build, "there is no such test") is None
