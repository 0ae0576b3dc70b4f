#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the numbers of a platform file by the class of their source: published, measured, fitted, estimated, chosen."""

import argparse
import difflib
import json
import sys
import textwrap
from pathlib import Path

from platform_file import CLASSES, base_of, declared_sources, with_base

FOLDER = Path(__file__).resolve().parents[2] / "sim" / "platforms"
BAD_INPUT = 2
MEANING = {
    "source": "stands in the document named",
    "measured": "measured by this project; the file is named",
    "fitted": "fitted to published calibration figures, and to nothing else",
    "estimate": "follows from what is named; not published",
    "own choice": "a setting of ours; the reason is named",
    "as": "the same quantity as another number",
    "": "has no source: the platform is not finished",
}

EXAMPLES = """examples:
  ./ggas bench platform galibier-k20                     every number, by class
  ./ggas bench platform modern --class estimate fitted   the numbers of a prediction that were not published
  ./ggas bench platform my.toml --json numbers.jsonl

Exit status: 0, or 2 for bad input."""


class BadPlatform(Exception):
    pass


def command_line(argv):
    parser = argparse.ArgumentParser(prog="ggas bench platform", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="a platform's name or a .toml file; without it the names are printed")
    parser.add_argument("--class", dest="classes", nargs="+", choices=CLASSES, metavar="CLASS", help=f"only these: {', '.join(CLASSES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers as JSON lines")
    return parser.parse_args(argv)


def names():
    return sorted(f.stem for f in FOLDER.glob("*.toml"))


def file_of(name):
    if name.endswith(".toml"):
        return Path(name)
    if name not in names():
        near = difflib.get_close_matches(name, names(), 1, 0)
        raise BadPlatform(f"unknown platform '{name}'; the nearest is '{near[0]}' (there are {', '.join(names())}), or give the path of a .toml file")
    return FOLDER / f"{name}.toml"


def section(kind, members):
    out = [f"{kind or 'no source'}: {MEANING[kind]} ({len(members)})"]
    for e in members:
        said = textwrap.wrap(e.cited, 74) or [""]
        out.append(f"  {e.path:42} {e.value:>10}  {said[0]}")
        out += [f"{'':57}{rest}" for rest in said[1:]]
    return out


def page(found, sources):
    kinds = [k for k in (*CLASSES, "") if any(e.kind == k for e in found)]
    lines = [", ".join(f"{sum(e.kind == k for e in found)} {k or 'without source'}" for k in kinds)]
    for kind in kinds:
        lines += ["", *section(kind, [e for e in found if e.kind == kind])]
    documents = {tag: text for tag, text in sources.items() if any(f"[{tag}]" in e.cited for e in found)}
    if documents:
        lines += ["", "documents:", *(f"  [{tag}] {text}" for tag, text in documents.items())]
    return "\n".join(lines)


def run(a):
    if a.name is None:
        return "\n".join(names())
    text = file_of(a.name).read_text(encoding="utf-8")
    found = [e for e in with_base(text, FOLDER) if not a.classes or e.kind in a.classes]
    if a.json:
        rows = [{"key": e.path, "value": e.value, "class": e.kind or None, "source": e.cited, "line": e.line} for e in found]
        a.json.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    if not found and not a.classes:
        raise BadPlatform(f"{a.name}: no numbers; expected a platform file, as {FOLDER}/galibier-k20.toml")
    below = declared_sources(file_of(base_of(text)).read_text(encoding="utf-8")) if base_of(text) else {}
    return page(found, below | declared_sources(text))


def main(argv=None):
    try:
        print(run(command_line(argv)))
    except BadPlatform as e:
        print(f"platform: {e}", file=sys.stderr)
        return BAD_INPUT
    except UnicodeDecodeError:
        print("platform: not a text file; expected a platform file (.toml)", file=sys.stderr)
        return BAD_INPUT
    except OSError as e:
        print(f"platform: {e.filename}: {e.strerror}", file=sys.stderr)
        return BAD_INPUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
