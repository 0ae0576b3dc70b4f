# SPDX-License-Identifier: Apache-2.0
"""What the pages name is there: files, headings, identifiers, commands and their options."""

import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest
from conftest import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")])
FOLDERS = ("benchmarks", "cmake", "docs", "examples", "gpu_api", "kernel", "programs", "rtl", "sim", "tests", "userlib")
SOURCES = (".c", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".cmake", ".txt", ".py", ".sv", ".rdl")


def name(page):
    return str(page.relative_to(ROOT))


def anchors(page):
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", h).lower()).replace(" ", "-") for h in headings}


def in_backticks(page):
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)))


@pytest.fixture(scope="module")
def words():
    """Every identifier of the sources."""
    files = [file for folder in FOLDERS if folder != "docs" for file in (ROOT / folder).rglob("*") if file.suffix in SOURCES]
    return {word for file in files for word in re.findall(r"\w+", file.read_text())}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files(page):
    for text in in_backticks(page):
        if re.fullmatch(r"[\w./-]+", text) and text.split("/")[0] in FOLDERS and "/" in text:
            assert (ROOT / text).exists(), text


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_identifiers(page, words):
    for text in in_backticks(page):
        for word in re.findall(r"\b(?:ggas|GGAS)_\w*\w(?![\w*<])", text):
            assert word in words, f"{word} in `{text}`"


def test_the_program_shown_is_the_example():
    assert f"```cpp\n{(ROOT / 'examples/real_gpus/real_gpus.cu').read_text()}```" in (ROOT / "docs" / "how-to" / "real-gpus.md").read_text()


def test_the_picture_names_folders_that_are_there():
    picture = xml.etree.ElementTree.parse(ROOT / "docs" / "architecture.svg")
    texts = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    folders = {word.rstrip(":;,/") for text in texts if text for word in text.split() if word.split("/")[0] in FOLDERS and "/" in word}
    assert {"rtl/smfu", "sim", "kernel"} <= folders
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


def test_the_kernel_of_the_readme_compiles(tmp_path):
    (tmp_path / "kernel.cpp").write_text(re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1))
    include = [f"-I{ROOT / folder}" for folder in ("gpu_api/include", "userlib/include", "userlib/driver", ".")]
    done = subprocess.run(["c++", "-std=c++23", "-fsyntax-only", "-Wall", "-Werror", *include, "kernel.cpp"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def commands(command):
    """Arguments of all calls of a command that pages show."""
    for page in PAGES:
        for line in re.findall(rf"\./ggas {command}( [^`\n#]*)?(?=[`\n#])", page.read_text()):
            yield name(page), re.split(r"\s{2,}|\s*\|", line.strip())[0].replace("[", "").replace("]", "").split()


def test_bench_commands(bench):
    providers = ("sim", "cuda", "host")  # programs with names of their own
    options = {o for p in providers for o in re.findall(r"--[a-z-]+", bench("--provider", p, "--help").stdout)}
    on_gpus = bench("--provider", "cuda", "list")  # where it is built
    known = {p: set(re.findall(r"^\s+(\w+)  ", bench("--provider", p, "list").stdout, re.M)) | {"list", "gpu"} for p in providers}
    for page, arguments in commands("bench"):
        if arguments[:1] in (["diff"], ["platform"], ["study"], ["work"]):
            continue  # programs with options of their own; tools in Python: below
        provider = next((p for p in providers if p in arguments), "sim")
        if provider == "cuda" and on_gpus.returncode != 0:
            continue
        positional = True
        for word in arguments:
            if word.startswith("--"):
                assert word in options, f"{page}: {word}"
                positional = False
            elif positional and re.fullmatch(r"[a-z_]+", word):
                assert word in known[provider], f"{page}: {word}"


def test_the_page_has_every_option(bench):
    """`./ggas bench --help` shows the page where nothing is built."""

    def lines(text):
        return [" ".join(line.split()) for line in text[text.index("Usage:") :].splitlines() if line]

    assert lines(re.search(r"```\n(Usage:.*?)```", (ROOT / "docs" / "benchmarks.md").read_text(), re.S).group(1)) == lines(bench("--help").stdout)


@pytest.mark.parametrize("provider", ["sim", "cuda"])
def test_the_page_has_every_benchmark_and_variant(bench, provider):
    shown = bench("list", "--provider", provider)
    if "nvcc" in shown.stderr:
        pytest.skip(shown.stderr)
    listed = set(re.findall(r"^ {2}(?: {4})?(\w+) +", shown.stdout.split("benchmarks\n")[1], re.M)) - {"params"}
    assert {"barrier", "himeno"} < listed
    assert listed - in_backticks(ROOT / "docs" / "benchmarks.md") == set()


TOOLS = [("bench diff", "benchmarks/report/diff.py"), ("bench platform", "benchmarks/report/platform_table.py"), ("sweep", "benchmarks/sweep/sweep.py")]


@pytest.mark.parametrize("command, program", [*TOOLS, ("compare", "benchmarks/compare/compare.py"), ("pnr", "rtl/pnr/pnr.py"), ("run", "programs/run/run.py")])
def test_other_commands(command, program):
    shown = subprocess.run([sys.executable, str(ROOT / program), "--help"], capture_output=True, text=True, timeout=60)
    options = set(re.findall(r"(?<![\w-])--?[a-z-]+", shown.stdout))
    for page, arguments in commands(command):
        for word in arguments:
            if not word.startswith("-") and not word.isdigit():
                break  # the program to run, with options of its own
            assert word.isdigit() or word in options, f"{page}: ./ggas {command} {word}"


REFERENCE = ROOT / "docs" / "reference.md"
GPU_API = ROOT / "gpu_api" / "include" / "ggas"


def declared(file, pattern):
    return set(re.findall(pattern, file.read_text(), re.M))


def declared_publicly(file, pattern):
    return set(re.findall(pattern, re.sub(r"^ (?:private|protected):.*?^};", "", file.read_text(), flags=re.M | re.S), re.M))


def device_calls_of_the_reference():
    """Names with their forms: `1` is the name as it stands, the others have suffixes."""
    calls = set()
    for first, forms in re.findall(r"^\| (.*?`ggas_.*?) \| ([^|]*) \|", REFERENCE.read_text(), re.M):
        split = bool(re.fullmatch(r"[1WBG ]+; [1WBG ]+", forms))
        for cell, letters in zip(*((first.split("; "), forms.split("; ")) if split else ([first], [forms])), strict=True):
            suffixes = {"W": "_warp", "B": "_block", "G": "_grid"} if re.fullmatch(r"[1WBG ]+", letters) else {}
            for call in re.findall(r"`(ggas_\w+)[^`]*`", cell):
                full = re.search(r"_(warp|block|grid)$", call)
                calls |= {call} if full or not suffixes else {call + suffixes.get(letter, "") for letter in letters.split()}
    return calls


def test_the_reference_has_every_device_call():
    begin = r"^(?:GGAS_DEVICE|GGAS_HOST_DEVICE) [^(]*?\b(ggas_\w+)\("
    headers = sorted(GPU_API.glob("*.cuh"))
    public = set.union(*(declared(file, begin) for file in headers))
    by_group = set.union(*(declared(file, begin + "(?=const G& group)") for file in headers))
    shown = {call for call in device_calls_of_the_reference() if not call.startswith("ggas_rma_") and call not in STATUS}
    assert len(public) > 90
    assert public - by_group - shown == set(), "not in docs/reference.md, or without this form"
    assert shown - public == set(), "in docs/reference.md only"


def installed_headers():
    return [f for folder in (GPU_API, ROOT / "userlib/include/ggas", ROOT / "userlib/driver/ggas") for f in sorted(folder.glob("*.*h*"))]


def test_every_call_of_the_reference_is_found_by_its_name():
    """`grep` for a call with its bracket finds its declaration in an installed header, and a comment right above it."""
    text = "\n".join(f.read_text() for f in installed_headers())
    comment, template = r"(?:///|//|/\*| \*).*\n", r"template <.*\n"
    declaration = re.compile(rf"{comment}(?:{template})?(?:GGAS_|static|\[\[)[^\n;={{(]*?\b(\w+)\(")
    calls = {call for call in device_calls_of_the_reference() if call not in STATUS}
    calls |= {call for text in in_backticks(REFERENCE) for call in re.findall(r"\b(\w+_on_stream)\(", text)} - {"copy_on_stream"}
    assert len(calls) > 150
    assert calls - set(declaration.findall(text)) == set(), "no declaration with a comment"


STATUS = declared(GPU_API / "status.hpp", r"^  (ggas_\w+) = ")


def test_the_reference_has_every_host_call():
    include = ROOT / "userlib" / "include" / "ggas"
    public = declared(GPU_API / "on_stream.cuh", r"^(?:\[\[maybe_unused\]\] )?static result<> (\w+)\(") | declared(ROOT / "userlib/driver/ggas/rma.h", r"^static inline [^(]*?\b(ggas_rma_\w+)\(")
    for name in ("cluster.hpp", "job.hpp", "host.hpp"):
        public |= declared_publicly(include / name, r"^  (?:static |virtual )?[\w:<>, *&]+ [*&]?([a-z]\w+)\([^;{]*\)(?: const)?(?: = 0;| \{|;)")
    public |= declared(include / "tuning_table.hpp", r"^std::\S+ (\w+)\(")
    assert {"run", "grow", "launch_host", "tuning_text", "allreduce_on_stream", "ggas_rma_post", "wait_until"} <= public
    shown = {word for text in in_backticks(REFERENCE) for word in re.findall(r"\w+", text)}
    assert public - shown == set(), "not in docs/reference.md"


def test_the_reference_has_every_status():
    rows = dict(re.findall(r"^\| `(ggas_\w+)` \| (\d) \|", REFERENCE.read_text(), re.M))
    assert rows == dict(re.findall(r"^  (ggas_\w+) = (\d)", (GPU_API / "status.hpp").read_text(), re.M))


def test_every_setting_is_on_its_page():
    """Environment variables that programs and tests read, options of the build."""
    files = [f for folder in FOLDERS if folder != "docs" for f in (ROOT / folder).rglob("*") if f.suffix in SOURCES] + [ROOT / "CMakeLists.txt"]
    found = set()
    for text in (file.read_text() for file in files):
        found |= set(re.findall(r'getenv\("((?:GGAS|CUDA)_\w+)"', text)) | set(re.findall(r'environ(?:\.get\(|\[)"(GGAS_\w+)"', text))
        found |= set(re.findall(r"(?:set|option|find_program)\((GGAS_\w+)\b[^)]*(?:CACHE (?!INTERNAL)|OFF\)|PATHS)", text))
    assert {"GGAS_TUNING", "GGAS_PLATFORMS", "GGAS_SANITIZE", "GGAS_NVCC", "GGAS_NCCL_ROOT"} <= found
    page = in_backticks(ROOT / "docs" / "settings.md")
    assert found - page == set(), "not in docs/settings.md"


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text()
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if page != "index.md" and not page.startswith("decisions/") and f"({page})" not in index] == []
