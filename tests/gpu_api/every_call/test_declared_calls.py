# SPDX-License-Identifier: Apache-2.0
"""The calls that headers declare are those that docs/reference.md names, so that neither forgets one."""
import re
from pathlib import Path

import declared_calls

ROOT = Path(__file__).parent.parent.parent.parent
SECTIONS = ("Who and where", "Loads, stores, order, waits", "Put, get, atomics, notifications", "Collectives and teams", "Ranks", "Orders to workers", "Messages", "Datatypes", "UPC")


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


def names_of_mpi(text):
    return set(re.findall(r"`(MPI_[A-Z][a-z]\w*)`", text))


def test_the_page_names_every_function_of_mpi():
    """In the table of what there is, and in the line of what is left out."""
    page = (ROOT / "docs" / "mpi-in-kernels.md").read_text()
    table = re.search(r"^## What there is$(.*?)^\* ", page, re.M | re.S)[1]
    left_out = re.search(r"^\* Left out: (.*?)\.", page, re.M | re.S)[1]
    assert names_of_mpi(table) | names_of_mpi(left_out) == {name for name, _ in declared_calls.of_mpi(ROOT / "gpu_api" / "include" / "ggas")}


def test_functions_of_mpi():
    text = """GGAS_DEVICE int MPI_A(const void*, int n, const int* ranks, MPI_Info, MPI_Win win = MPI_WIN_NULL) {}
GGAS_DEVICE_FUNCTION double MPI_B() {}
"""
    assert [declared_calls.unnamed(p) for p in declared_calls.split(declared_calls.inside(text, text.index("(")))] == [
        "const void*", "int", "const int*", "MPI_Info", "MPI_Win"]


def test_forms():
    text = """template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_a(const G& group, P remote, const ggas::element_at<P>* local, const ggas_queue& q = ggas_queue::of_block()) {}
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_a_warp(P remote, const ggas::element_at<P>* local, const ggas_queue& q = ggas_queue::of_block()) {}
template <ggas::detail::a_collective_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_b(const G& group, P dst, int root) {}
template <class T = char>
GGAS_DEVICE T* ggas_c(int node);
template <ggas::detail::a_barrier_group G>
GGAS_DEVICE ggas_status ggas_sync(const G& group, uint64_t t, const ggas_team& team = ggas_world()) {}
"""
    calls = list(declared_calls.declared(text))
    assert [c.name for c in calls] == ["ggas_a", "ggas_a_warp", "ggas_b", "ggas_c", "ggas_sync"]
    assert [p.as_value() for p in calls[0].parameters] == ["P remote", "const ggas::element_at<P>* local", "ggas_queue q"]
    assert [f.name + f.group for f in declared_calls.forms(calls[:3])] == [
        "ggas_a_warp", *(f"ggas_a{g}" for g in declared_calls.OF_FORMS), "ggas_bblock", "ggas_bgrid"]
    assert calls[3].explicit == ("T",) and calls[4].groups == declared_calls.OF_BARRIERS and len(calls[4].parameters) == 2


def forms_of(calls, name):
    return [c for c in calls if without_suffix(c.name) == name and not c.groups]


def test_forms_of_a_call_have_its_parameters():
    """A call with a group has forms by a thread, a warp and a block (UPC's by a thread), or by a block and a grid, each as the call."""
    calls = declared()
    by_group = [c for c in calls if c.groups and c.groups != declared_calls.OF_MESSAGES]  # whose ranks are of one kind
    assert len(by_group) > 30
    for call in by_group:
        suffixes = ("_block", "_grid") if "grid" in call.groups else ("",) if call.name.startswith("upc_") else ("", "_warp", "_block")
        for suffix in suffixes:
            same = [c for c in calls if c.name == call.name + suffix and not c.groups and c.parameters == call.parameters]
            assert same, f"{call.name}{suffix} does not have the parameters of {call.name}(group, ...)"


CONTRACT = ("Order:", "Cost:", "Errors:")


def contracts():
    """(name, comment, returns a status) of every declaration of a call."""
    pattern = re.compile(r"((?:^///.*\n)*)(?:^template <[^\n]*>\n)?^GGAS_(?:HOST_)?DEVICE (?:constexpr )?([\w:*&<> ]*?)\b((?:ggas|upc)_\w+)\(", re.M)
    for header in sorted((ROOT / "gpu_api" / "include" / "ggas").glob("*.cuh")):
        for comment, kind, name in pattern.findall(header.read_text()):
            yield name, comment, "ggas_status" in kind


def test_every_call_has_its_contract():
    """A comment at each form; order, cost and errors at one of them, to which the others refer."""
    found = list(contracts())
    assert len(found) > 150
    assert [name for name, comment, _ in found if not comment] == []
    whole = {without_suffix(name) for name, comment, _ in found if all(word in comment for word in CONTRACT)}
    lacking = {name for name, comment, status in found if status and without_suffix(name) not in whole}
    assert not lacking, "no contract with order, cost and errors"
