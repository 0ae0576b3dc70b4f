# SPDX-License-Identifier: Apache-2.0
"""The site of `./ggas docs` has an entry for every public symbol, on the page of its header."""

import html
import re
import subprocess

import pytest
from conftest import ROOT

FOLDERS = [ROOT / "gpu_api/include/ggas", ROOT / "userlib/include/ggas", ROOT / "userlib/driver/ggas"]
# Declarations at the margin: calls of kernels, of a stream, of C; classes and enumerations.
DECLARED = (
    r"^GGAS_(?:HOST_)?DEVICE [^(\n]*?\b((?:ggas|upc)_\w+)\(",
    r"^static result<> (\w+)\(",
    r"^static inline [^(\n]*?\b(ggas_\w+)\(",
    r"^(?:class|struct|enum(?: class)?) (?:GGAS_RESULT )?(\w+)(?= (?:final )?[:{])",
)


def symbols(header):
    public = re.sub(r"^namespace [\w:]*detail \{$.*?^\}  // namespace", "", header.read_text(), flags=re.M | re.S)
    return {name for pattern in DECLARED for name in re.findall(pattern, public, re.M)}


def entries(page):
    """Names that a page of the site declares."""
    return {html.unescape(name) for name in re.findall(r'<span class="sig-name descname"><span class="n"><span class="pre">(\w+)</span>', page.read_text())}


@pytest.fixture(scope="module")
def site():
    done = subprocess.run([ROOT / "ggas", "docs"], capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build" / "docs" / "site" / "html"


def test_every_public_symbol_has_an_entry(site):
    headers = sorted(f for folder in FOLDERS for f in folder.iterdir() if f.suffix in (".cuh", ".hpp", ".h"))
    found = {header: symbols(header) for header in headers}
    assert sum(map(len, found.values())) > 300
    missing = {h.name: names - entries(site / "api" / f"{h.name}.html") for h, names in found.items()}
    assert {name: names for name, names in missing.items() if names} == {}


def test_every_page_is_there(site):
    pages = [p.relative_to(ROOT / "docs").with_suffix(".html") for p in (ROOT / "docs").rglob("*.md") if "results" not in p.parts]
    assert [str(p) for p in pages if not (site / p).exists()] == []
