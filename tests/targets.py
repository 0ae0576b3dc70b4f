# SPDX-License-Identifier: Apache-2.0
"""Targets that the tests of a filter need: `targets.py BUILD FILTER` prints them in a line, or nothing if all may be needed.

A program of GoogleTest can list its tests only after it is built. So the names are read from its sources instead. Names
of parameters are not in the sources, so each text in quotes may be one; names that were listed before count, too.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASE = re.compile(r"^(TYPED_TEST|TEST|TEST_F|TEST_P)\((\w+),\s*(?:DISABLED_)?(\w+)\)", re.M)
INSTANCE = re.compile(r"^INSTANTIATE_TEST_SUITE_P\(\s*(\w*),\s*(\w+)", re.M)
MACRO = re.compile(r"^#define (\w+)\((\w+)\)((?:[^\n]*\\\n)+[^\n]*)", re.M)
GROUPED = re.compile(r'^#include "(/[^"]+)"', re.M)
INCLUDE = re.compile(r'^#include "(tests/[^"]+)"', re.M)
QUOTED = re.compile(r'"([\w.]+)"')
# Load Verilated NICs when they run, so that what is built with them is not all they need.
SIMULATORS = {"ggas-bench", "ggas-bench-own-gpu", "ggas-device", "ggas-simulator"}


def programs(build):
    """(folder, target) of the programs of GoogleTest: prefixes of their tests, and names that were listed before."""
    found = {}
    for file in sorted(build.glob("tests/**/*_include.cmake")):
        if file.name not in (file.parent / "CTestTestfile.cmake").read_text():
            continue  # of an earlier configuration
        target = re.sub(r"\[\d+\]_include\.cmake$", "", file.name)
        prefixes, listed = found.setdefault((str(file.parent.relative_to(build)), target), (set(), set()))
        prefixes.update(re.findall(r"TEST_PREFIX \[==\[(.*?)\]==\]", file.read_text()))
        names = file.with_name(file.name.replace("_include.cmake", "_tests.cmake"))
        if names.exists():
            listed.update(re.findall(r"^add_test\(\s*\[=*\[(.*?)\]=*\]", names.read_text(), re.M))
    return found


def compiled(build):
    """Entries of the compilation database, with one for each source of a group (GGAS_UNITY)."""
    for unit in json.loads((build / "compile_commands.json").read_text()):
        group = Path(unit["file"])
        files = GROUPED.findall(group.read_text()) if group.parent.name == "Unity" else [unit["file"]]
        yield from ({**unit, "file": file, "command": unit["command"].replace(unit["file"], file)} for file in files)


def sources(build):
    """Files that each (folder, target) of the tests is compiled from."""
    found = {}
    for unit in compiled(build):
        if output := re.search(r" -o (tests/\S+)/CMakeFiles/([^/]+)\.dir/", unit["command"]):
            found.setdefault(output.groups(), set()).add(Path(unit["file"]))
    return found


def text_of(files):
    """Of the files and of the headers of tests that they include."""
    pending, seen = list(files), {}
    while pending:
        path = pending.pop()
        if path not in seen and ROOT in path.parents:
            seen[path] = path.read_text()
            pending += [ROOT / name for name in INCLUDE.findall(seen[path])]
    return "\n".join(seen.values())


def instances_of(text):
    """Instances by suite: those that are written out, and those of macros that take the suite."""
    found = {}
    for instance, suite in INSTANCE.findall(text):
        found.setdefault(suite, []).append(instance)
    for macro, argument, body in MACRO.findall(text):
        for instance in re.findall(rf"INSTANTIATE_TEST_SUITE_P\((\w+), {argument}\b", body):
            for suite in re.findall(rf"^{macro}\((\w+)\)", text, re.M):
                found.setdefault(suite, []).append(instance)
    return found


def names(text, prefix):
    """Those that tests of a source may have."""
    parameters = sorted({*QUOTED.findall(text), *map(str, range(10))})
    instances = instances_of(text)
    for kind, suite, case in CASE.findall(text):
        if kind == "TYPED_TEST":
            yield from (f"{prefix}{suite}.{case}<{parameter}>" for parameter in parameters)  # as CTest lists them
        elif kind == "TEST_P":
            groups = [f"{i}/" if i else "" for i in instances.get(suite, [])]
            yield from (f"{prefix}{group}{suite}.{case}/{parameter}" for group in groups for parameter in parameters)
        else:
            yield f"{prefix}{suite}.{case}"


def programs_with_text(build):
    """(target, prefixes, listed names, text); the text is that of object libraries of the folder, too."""
    known, compiled = programs(build), sources(build)
    for (folder, target), (prefixes, listed) in known.items():
        own = [unit for unit in compiled if unit[0] == folder and (unit[1] == target or unit not in known)]
        if own:  # else its folder has moved
            yield target, prefixes, listed, text_of(file for unit in own for file in compiled[unit])


def of_programs(build, matches):
    for target, prefixes, listed, text in programs_with_text(build):
        if any(map(matches, [f"{target}_NOT_BUILT", *listed])) or any(matches(name) for prefix in prefixes for name in names(text, prefix)):
            yield target


def of_commands(build, matches):
    """Of tests that are commands, the files and folders of the build that these name."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True)
    for test in json.loads(shown.stdout)["tests"]:
        if matches(test["name"]) and "command" in test:
            settings = {p["name"]: p["value"] for p in test["properties"]}
            words = [*test["command"], *(v.partition("=")[2] for v in settings.get("ENVIRONMENT", []))]
            yield [Path(word) for word in words if Path(word) == build or build in Path(word).parents]


def needed(build, pattern):
    """Targets, or None: a test may need anything, or none matches."""
    matches = re.compile(pattern).search
    targets, commands = set(of_programs(build, matches)), list(of_commands(build, matches))
    paths = {path for command in commands for path in command}
    if build in paths or not (targets or commands):
        return None
    listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True)
    made = {line.partition(":")[0] for line in listed.stdout.splitlines()}
    # A program that is built already is named by its test: its target says the same.
    targets |= {str(path.relative_to(build)) for path in paths if path.name not in targets} & made
    if any(path.name in SIMULATORS for path in paths):
        targets.add("ggas-nics")
    return targets | {"ggas_regs"}


if __name__ == "__main__":
    print(*sorted(needed(Path(sys.argv[1]).resolve(), sys.argv[2]) or []))
