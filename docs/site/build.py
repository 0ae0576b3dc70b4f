# SPDX-License-Identifier: Apache-2.0
"""Builds the site of pages and API with doxygen and Sphinx: `./ggas docs`.

  python docs/site/build.py FOLDER

The site is FOLDER/html. Every public header gets a page with all that it declares."""
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = {
    "In kernels": ROOT / "gpu_api" / "include" / "ggas",
    "On the host": ROOT / "userlib" / "include" / "ggas",
    "NIC and driver": ROOT / "userlib" / "driver" / "ggas",
}


def headers(folder):
    return sorted(f for f in folder.iterdir() if f.suffix in (".cuh", ".hpp", ".h"))


def heading(text, line="="):
    return f"{text}\n{line * len(text)}\n\n"


def contents(title, names):
    return f".. toctree::\n   :maxdepth: 1\n   :caption: {title}\n\n" + "".join(f"   {n}\n" for n in names) + "\n"


def run(*command):
    done = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"docs: {command[0]} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def make_xml(folder):
    doxyfile = folder / "Doxyfile"
    doxyfile.write_text((HERE / "Doxyfile").read_text() + f'\nOUTPUT_DIRECTORY = "{folder}"\n')
    run("doxygen", doxyfile)


def make_sources(folder):
    """Copies of the pages, and a page for each header."""
    shutil.copytree(ROOT / "docs", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("site", "results"))
    shutil.copy(HERE / "conf.py", folder)
    pages = sorted(str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.md"))
    text = heading("GGAS") + contents("Pages", [p for p in pages if "/" not in p]) + contents("How to", [p for p in pages if p.startswith("how-to/")])
    (folder / "api").mkdir()
    for title, where in HEADERS.items():
        for header in headers(where):
            name = f"ggas/{header.name}"
            (folder / "api" / f"{header.name}.rst").write_text(heading(name) + f".. doxygenfile:: {header.name}\n")
        text += contents(title, [f"api/{h.name}" for h in headers(where)])
    text += contents("Decisions", [p for p in pages if p.startswith("decisions/")])
    (folder / "contents.rst").write_text(text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1]).resolve()
    if shutil.which("doxygen") is None:
        sys.exit("docs: doxygen is not installed; `apt-get install doxygen`")
    sources = out / "sources"
    shutil.rmtree(out, ignore_errors=True)
    sources.mkdir(parents=True)
    make_xml(sources)
    make_sources(sources)
    run(sys.executable, "-m", "sphinx", "-q", "-b", "html", "-D", "master_doc=contents", sources, out / "html")
    print(out / "html" / "contents.html")


if __name__ == "__main__":
    main()
