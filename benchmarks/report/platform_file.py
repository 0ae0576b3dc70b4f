# SPDX-License-Identifier: Apache-2.0
"""A platform file with its comments: each number with the source that its comment, or that of its table, names."""

import re
from dataclasses import dataclass

CLASSES = ("source", "measured", "fitted", "estimate", "own choice", "as")  # docs/simulator.md#platforms
TABLE = re.compile(r"\[([\w.]+)\]\s*(?:#\s*(.*))?$")
VALUE = re.compile(r"(\w+)\s*=\s*([^#\"]+?)\s*(?:#\s*(.*))?$")
DECLARED = re.compile(r"#\s+\[(\w+)\]\s")


@dataclass
class Entry:
    """A table or a number of the file. `source` is the comment of its line, `inherited` that of its table."""

    path: str
    value: str  # empty: a table
    source: str
    inherited: str
    line: int

    @property
    def cited(self):
        return self.source or self.inherited

    @property
    def kind(self):
        """The class of its source; empty if it has none."""
        return next((name for name in CLASSES if re.match(rf"{name}\b", self.cited)), "")


def entries(text):
    """Tables with a comment and all numbers, in the order of the file."""
    found, table, of_table = [], "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if m := TABLE.match(line):
            table, of_table = m[1], m[2] or ""
            if of_table:
                found.append(Entry(table, "", of_table, "", number))
        elif m := VALUE.match(line):
            found.append(Entry(f"{table}.{m[1]}" if table else m[1], m[2], m[3] or "", of_table, number))
    return found


def values(text):
    return [e for e in entries(text) if e.value]


def base_of(text):
    """The platform whose file has all that this one does not name; None: it names all."""
    named = re.search(r'^base\s*=\s*"([^"]*)"', text, re.MULTILINE)
    return named and named[1]


def with_base(text, folder):
    """Numbers of a platform, in the order of its base."""
    own = {e.path: e for e in values(text)}
    if base_of(text) is None:
        return list(own.values())
    below = values((folder / f"{base_of(text)}.toml").read_text(encoding="utf-8"))
    return [own.get(e.path, e) for e in below]


def declared_sources(text):
    """Tags of the header with what is said of each, up to the next one."""
    header = text.partition("\nname")[0]
    parts = DECLARED.split(header)[1:]
    return {tag: " ".join(said.replace("\n#", " ").split()) for tag, said in zip(parts[::2], parts[1::2])}
