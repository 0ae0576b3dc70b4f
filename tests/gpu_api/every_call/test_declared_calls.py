# SPDX-License-Identifier: Apache-2.0
"""The calls that headers declare are those that docs/reference.md names, so that neither forgets one."""
import re
from pathlib import Path

import declared_calls

ROOT = Path(__file__).parent.parent.parent.parent
SECTIONS = ("Who and where", "Loads, stores, order, waits", "Put, get, atomics, notifications", "Collectives and teams", "Ranks", "Datatypes", "UPC")


def without_suffix(name):
    return re.sub(r"_(warp|block|grid)$", "", name)


def declared():
    return declared_calls.of_headers(ROOT / "gpu_api" / "include" / "ggas")


def named():
    """Calls of the first columns."""
    text = (ROOT / "docs" / "reference.md").read_text()
    cells = [row.split("|")[1] for name in SECTIONS for row in re.findall(r"^\|.*$", re.search(rf"^## {name}$(.*?)^## ", text, re.M | re.S)[1], re.M)]
    return {w for cell in cells for code in re.findall(r"`([^`]*)`", cell) for w in re.findall(r"\b(?:ggas|upc)_\w+", code)}


def test_the_reference_names_every_call():
    missing = {without_suffix(c.name) for c in declared()} - {without_suffix(n) for n in named()}
    assert not missing


def test_every_call_of_the_reference_is_declared():
    missing = {without_suffix(n) for n in named()} - {without_suffix(c.name) for c in declared()}
    assert not missing


def test_forms():
    text = """GGAS_FORMS(ggas_a, (P remote, const ggas::element_at<P>* local, const ggas_queue& q = ggas_queue::of_block()), f(x))
GGAS_COLLECTIVE(ggas_b, (P dst, int root), g(dst))
template <class T = char>
GGAS_DEVICE T* ggas_c(int node);
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status ggas_sync(const G& group, uint64_t t) {}
"""
    calls = [*declared_calls.made_by_macros(text), *declared_calls.declared(text)]
    assert [c.name for c in calls] == ["ggas_a", "ggas_b", "ggas_c", "ggas_sync"]
    assert [p.as_value() for p in calls[0].parameters] == ["P remote", "const ggas::element_at<P>* local", "ggas_queue q"]
    assert [f.name + f.group for f in declared_calls.forms(calls[:2])] == [
        "ggas_a", "ggas_a_warp", "ggas_a_block", "ggas_b_block", "ggas_b_grid",
        *(f"ggas_a{g}" for g in declared_calls.OF_FORMS), "ggas_bblock", "ggas_bgrid"]
    assert calls[2].explicit == ("T",) and calls[3].groups == declared_calls.OF_CALL["ggas_sync"] and len(calls[3].parameters) == 1
