#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages: `man_pages.py VERSION FOLDER HEADER... PROGRAM.py...`, of section 3 for each function of a header in C, of section 1 for each launcher.

A page of a launcher is what its option --help prints.
A function is described by the comment of documentation right before it. A header's own comment goes onto each of its pages, so that the rules are where the call is."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

INSTALLED = {"run": "ggas-run", "gaspi_run": "gaspi_run"}  # names of the launchers

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


def launcher_page(file, version):
    """Name and page. The program shows its usage by the name by which it was called."""
    name = INSTALLED[file.stem]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).symlink_to(file.resolve())
        words = [sys.executable, "-B", Path(folder) / name, "--help"]
        shown = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60, env={"COLUMNS": "100"}).stdout
    usage, what, options = shown.split("\n\n", 2)
    what = " ".join(what.split())
    body = [f'.TH {name} 1 "" "GGAS {version}" "GGAS"', ".SH NAME", f"{name} \\- {safe(first_sentence(what, name))}"]
    body += [".SH SYNOPSIS", safe(" ".join(usage.removeprefix("usage:").split())), ".SH DESCRIPTION", safe(what)]
    body += [".SH OPTIONS", ".nf", safe(options.strip()), ".fi"]
    return name, "\n".join(body) + "\n"


def main(version, folder, names):
    sections = [Path(folder) / section for section in ("man1", "man3")]
    for section in sections:
        section.mkdir(parents=True, exist_ok=True)
    files = [Path(name) for name in names]
    for file in (file for file in files if file.suffix == ".py"):
        name, text = launcher_page(file, version)
        (sections[0] / f"{name}.1").write_text(text)
    for file in (file for file in files if file.suffix != ".py"):
        own, found = functions(file)
        if not found:
            sys.exit(f"man_pages.py: {file}: declares no function")
        names = [name for name, *_ in found]
        header = f"ggas/{file.name}" if file.parent.name == "ggas" else file.name
        for name, declaration, text in found:
            (sections[1] / f"{name}.3").write_text(page(name, declaration, text, header, own, related(name, names), version))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
