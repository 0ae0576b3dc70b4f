# SPDX-License-Identifier: Apache-2.0
"""The words in backticks in the table of CONTRIBUTING.md do not occur in pages and comments, some of them not in names either."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from conftest import ROOT

FOLDERS = ("benchmarks", "cmake", "docs", "examples", "gpu_api", "kernel", "programs", "rtl", "sim", "tests", "userlib")
# Figures with the words of their day, and pages that doxygen writes.
LEFT_OUT = (ROOT / "docs" / "results", ROOT / "docs" / "site")

# The private words of the table that are in no name any more.
NOT_IN_NAMES = {
    "anew", "blame", "blames", "crooked", "farewell", "lobby", "mend", "mends", "patience", "stranger", "strangers", "told", "vain",
}  # fmt: skip

STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
COMMENTS = {
    **dict.fromkeys((".c", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".sv", ".rdl"), re.compile(rf"(//[^\n]*|/\*.*?\*/)|{STRING}", re.S)),
    ".py": re.compile(rf'(""".*?"""|#[^\n]*)|{STRING}', re.S),
    **dict.fromkeys((".cmake", ".sh", ".toml", ".txt"), re.compile(rf"(#[^\n]*)|{STRING}")),
}
CODE_IN_PAGES = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.S)


def checked_words():
    table = re.search(r"^## Words$(.*)", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)[1]
    firsts = re.findall(r"^\| ([^|]*) \|", table, re.M)
    return [word for first in firsts for word in re.findall(r"`([^`]+)`", first)]


def prose(file):
    """What people read in a file: a page without its code, the comments of a source."""
    text = file.read_text()
    if file.suffix == ".md":
        return CODE_IN_PAGES.sub(" ", text)
    comments = (m[1] for m in COMMENTS[file.suffix].finditer(text) if m[1])
    return "\n".join(re.sub(r"^\s*(?://+|\*|#+)|`[^`\n]*`", " ", c, flags=re.M) for c in comments)


def files(folder):
    kinds = {".md", *COMMENTS}
    return [f for f in sorted((ROOT / folder).rglob("*")) if f.suffix in kinds and not any(f == out or out in f.parents for out in LEFT_OUT)]


def pattern(words):
    """Whole words; a phrase also over the end of a line. In a name or a path they are no words."""
    phrases = "|".join(r"\s+".join(map(re.escape, word.split())) for word in words)
    return re.compile(rf"(?<![\w./:-])(?:{phrases})(?![\w(]|[./:-]\w)", re.I)


def parts(name):
    """The words of a name, of_this_kind or OfThisKind."""
    return {p.lower() for p in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def found_in(folder):
    """Words that occur, each with the files that have it."""
    look, found = pattern(checked_words()), defaultdict(set)
    for file in files(folder):
        name = str(file.relative_to(ROOT))
        for match in look.finditer(prose(file)):
            found[re.sub(r"\s+", " ", match[0].lower())].add(name)
    return found


def test_the_table_names_words():
    words = checked_words()
    assert len(words) > 30 and "anew" in words
    look = pattern(words)
    assert look.search("waits in\n  vain") and look.search("Behind it") and not look.search("behind_it") and not look.search("a/behind.hpp")


@pytest.mark.parametrize("folder", FOLDERS)
def test_words(folder):
    assert {word: sorted(where)[:3] for word, where in found_in(folder).items()} == {}


@pytest.mark.parametrize("folder", [f for f in FOLDERS if f != "docs"])
def test_names(folder):
    sources = [f for f in files(folder) if f.suffix not in (".md", ".rdl") and f != Path(__file__)]
    found = {(str(f.relative_to(ROOT)), name) for f in sources for name in set(re.findall(r"[A-Za-z_]\w+", f"{f.stem} {f.read_text()}")) if parts(name) & NOT_IN_NAMES}
    assert sorted(found)[:10] == []


def test_the_words_of_a_name():
    assert parts("a_reset_mends") & NOT_IN_NAMES and parts("StartsAnew") & NOT_IN_NAMES
    assert not parts("ANewHandle") & NOT_IN_NAMES and not parts("recommended_grid") & NOT_IN_NAMES
