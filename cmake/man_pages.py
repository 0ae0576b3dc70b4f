#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages of section 3 from headers in C: `man_pages.py VERSION FOLDER HEADER...`, a page for each function.

A function is described by the comment of documentation right before it. A header's own comment goes onto each of its pages, so that the rules are where the call is."""

import re
import sys
from pathlib import Path

COMMENT = r"/\*\*(?!<)(?P<comment>.*?)\*/"
FUNCTION = r"^(?P<type>[a-z_][\w ]*?[ *]+)(?P<name>(?:p?gaspi|ggas)_\w+)\((?P<arguments>[^;{]*?)\)(?P<rest>[^;{]*?);"
TOKEN = re.compile(f"{COMMENT}|{FUNCTION}", re.M | re.S)


def plain(comment):
    """Words of a comment, without its stars; @param and the like begin lines of their own."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.strip().splitlines()]
    return re.sub(r"\s*@", "\n@", " ".join(lines)).strip()


def safe(text):
    """For troff: no line is a request, hyphens stay as they are."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def functions(header):
    """Name, declaration and text of each; and the header's own comment."""
    text = re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*$", "", header.read_text(), flags=re.M)
    own, comment, found, behind = "", "", [], 0
    for token in TOKEN.finditer(text):
        if token["comment"] is not None:
            words = plain(token["comment"])
            if "@file" in words:
                own = words.replace("@file", "").strip()
            else:
                comment, behind = words, token.end()
        elif token["name"]:
            if text[behind : token.start()].strip():
                comment = ""  # of something else
            declaration = " ".join(f"{token['type']}{token['name']}({token['arguments']});".split())
            found.append((token["name"], declaration, comment))
    return own, found


def first_sentence(text, name):
    """For whatis(1); where there is no text the words of the name."""
    sentence = re.split(r"(?<=[a-z)])[.:](?:\s|$)", text.split("\n")[0], maxsplit=1)[0].strip()
    return sentence or " ".join(name.split("_")[1:])


def page(name, declaration, text, header, own, others, version):
    body = [f'.TH {name} 3 "" "GGAS {version}" "GGAS"', ".SH NAME", f"{name} \\- {safe(first_sentence(text, name))}"]
    body += [".SH SYNOPSIS", ".nf", f".B #include <{header}>", ".PP", safe(declaration), ".fi"]
    parts = text.split("\n") if text else []
    if parts:
        body += [".SH DESCRIPTION", *(safe(part) for part in parts if not part.startswith("@"))]
    for part in parts:
        if match := re.match(r"@param (\w+) (.*)", part):
            body += [".TP", f".I {match[1]}", safe(match[2])]
    if declaration.startswith("ggas_rc "):
        body += [".SH RETURN VALUE", "GGAS_OK (0), GGAS_TIMEOUT (1), or an error, which is negative;", ".BR ggas_error_text (3)", "tells value and rule."]
    if declaration.startswith("gaspi_return_t "):
        body += [".SH RETURN VALUE", "GASPI_SUCCESS, GASPI_TIMEOUT or GASPI_ERROR;", ".BR gaspi_error_str (3)", "tells value and rule."]
    body += [".SH NOTES", safe(own), ".SH SEE ALSO", *(f".BR {other} (3)" for other in others if other != name)]
    return "\n".join(body) + "\n"


def related(name, names):
    """Those of the same kind: ggas_segment_..., gaspi_notify_..."""
    kind = "_".join(name.split("_")[:2])
    return sorted(other for other in names if "_".join(other.split("_")[:2]) == kind)


def main(version, folder, headers):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for file in map(Path, headers):
        own, found = functions(file)
        if not found:
            sys.exit(f"man_pages.py: {file}: declares no function")
        names = [name for name, *_ in found]
        header = f"ggas/{file.name}" if file.parent.name == "ggas" else file.name
        for name, declaration, text in found:
            (Path(folder) / f"{name}.3").write_text(page(name, declaration, text, header, own, related(name, names), version))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
