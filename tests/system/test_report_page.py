# SPDX-License-Identifier: Apache-2.0
"""The whole report as a browser shows it in a window of 1,280 pixels. Needs Debian's chromium-headless-shell."""

import html
import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, bench_program, users_environment

BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
WIDTH = 1280

# Leaves what the browser has laid out in the page's title.
MEASURE = """<script>
addEventListener("load", () => {
  const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  const seen = [...document.querySelectorAll("svg")].map(svg => ({
    section: svg.closest("section")?.id ?? "", box: box(svg),
    axes: [...svg.querySelectorAll('g[id^="axes_"]')].map(box),
    ticks: ["x", "y"].map(of => svg.querySelectorAll(`g[id^="${of}tick_"]`).length),
    drawn: [...svg.querySelectorAll('g[id^="axes_"] > g[id^="line2d_"] path, g[id^="axes_"] > g[id^="patch_"] path')].map(box).filter(b => b[2] > b[0] || b[3] > b[1]).length,
    text: [...svg.querySelectorAll('g[id^="text_"]')].map(box)}));
  const cut = [...document.querySelectorAll("p, h1, h2, h3, li, nav")].map(box).filter(b => b[2] > innerWidth || b[0] < 0).length;
  document.title = JSON.stringify({width: innerWidth, page: document.documentElement.scrollWidth, seen, cut});
});
</script>"""


def rendered(page, tmp_path):
    (tmp_path / "measured.html").write_text(page.read_text().replace("</body>", MEASURE + "</body>"))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={WIDTH},900", "--virtual-time-budget=10000", "--dump-dom", f"file://{tmp_path}/measured.html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout, re.S).group(1)))


@pytest.mark.skipif(not BROWSER, reason="no chromium-headless-shell")
def test_nothing_of_the_whole_study_is_empty_or_cut(tmp_path):
    """Every benchmark on two nodes, and plots over the number of nodes."""
    study = [sys.executable, str(ROOT / "benchmarks" / "sweep" / "study.py"), "--program", bench_program(), "--quick", "--out", "out"]
    done = subprocess.run(study, cwd=tmp_path, capture_output=True, text=True, timeout=1200, env=users_environment())
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text()
    assert not re.search(r'<(script|link|img)\b|src="|href="http|url\(http', page), "the page needs other files"
    found = rendered(tmp_path / "out" / "index.html", tmp_path)
    assert found["width"] == WIDTH and found["page"] <= WIDTH and not found["cut"]
    assert len(found["seen"]) > 60
    for svg in found["seen"]:
        left, top, right, bottom = svg["box"]
        where = svg["section"]
        assert left >= 0 and right <= WIDTH and right - left > 300 and bottom - top > 50, where
        assert svg["axes"] and all(svg["ticks"]), f"{where}: no axes"
        assert svg["drawn"] > 1, f"{where}: an empty plot"
        assert len(svg["text"]) > 2, f"{where}: no labels"
        for x0, y0, x1, y1 in svg["axes"] + svg["text"]:
            assert left - 1 <= x0 and x1 <= right + 1 and top - 1 <= y0 and y1 <= bottom + 1, f"{where}: cut"
