# SPDX-License-Identifier: Apache-2.0
"""./ggas mutate: which mutants of each unit of mutants.toml are run. That needs only the sources of the RTL."""

import pathlib
import sys
import tomllib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rtl/mutation"))

import mutate  # noqa: E402

UNITS = tomllib.loads(mutate.LIST.read_text())


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_has_its_mutants_once(name):
    chosen = mutate.choose(UNITS[name], mutate.COUNT, 1)
    assert len({(c.file, c.mutant.start, c.mutant.key()) for c in chosen}) == len(chosen) >= mutate.COUNT
    assert len({c.number for c in chosen}) == len(chosen)
