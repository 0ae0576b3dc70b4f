# SPDX-License-Identifier: Apache-2.0
"""The kernel's own checkers of sources, over our modules: checkpatch --strict, coccinelle's scripts, sparse.

checkpatch and the scripts come with Debian's sources of Linux, the programs with packages of their own.
"""

import os
import re
import subprocess

import debug_kernel
import image
import tools
from debian import step

FOLDERS = ("ggas", "gpumap", "testgpu", "verbs", "include")
# Modules outside the kernel's tree meet several kernels (compat.h) and have no MAINTAINERS; BIT() is not for uapi.
CHECKPATCH_IGNORED = "LINUX_VERSION_CODE,CONSTANT_COMPARISON,BIT_MACRO"
# It takes & of typeof(&function) for an operator between two things; sparse knows functions by no other declaration.
CHECKPATCH_MISTAKEN = ("gpumap/gpumap.h:", "CHECK:SPACING: spaces preferred around that '&'")
SPARSE_LIMIT = 900  # seconds, on a machine that others load
NEEDS_A_COMPILER = "No OCaml compiler found"  # scripts with parts in OCaml, which Debian's package does not run alone


def checkpatch(root, source):
    """Its complaints."""
    files = sorted(f for name in FOLDERS for f in (root / "kernel" / name).rglob("*.[ch]"))
    words = ["perl", source / "scripts/checkpatch.pl", "--no-tree", "--strict", "--terse", "--show-types"]
    words += ["--no-summary", "--max-line-length=120", f"--ignore={CHECKPATCH_IGNORED}", "--file", *files]
    return [line for line in _lines(words) if not all(part in line for part in CHECKPATCH_MISTAKEN)]


def coccinelle(root, source, environment):
    """What the kernel's scripts report, and the names of those that could not be run."""
    found, not_run = [], []
    for script in sorted((source / "scripts/coccinelle").rglob("*.cocci")):
        if "virtual report" not in script.read_text():
            continue
        words = ["spatch", "-D", "report", "--no-show-diff", "--very-quiet", "--cocci-file", script]
        words += ["--dir", root / "kernel", "-I", source / "include", "-I", root / "kernel/include"]
        lines = _lines(words, environment)
        if any(NEEDS_A_COMPILER in line for line in lines):
            not_run.append(script.name)
        else:
            found += [line for line in lines if line.startswith(str(root))]
    return found, not_run


def sparse(root, build, folder, kernel, environment):
    """Warnings about our files, of a build of the modules."""
    sources = image.module_sources(root, build, folder, kernel)
    words = ["make", "-C", kernel.headers, f"M={sources}", "C=2", "CHECK=sparse", "CC=gcc", "HOSTCC=gcc"]
    text = step([*words, *tools.SETTINGS, "modules"], "run sparse", limit=SPARSE_LIMIT, env=os.environ | environment)
    return [line for line in text.splitlines() if re.match(rf"{sources}.*(warning|error):", line)]


def all_of_them(root, build, folder, versions):
    """Prints what each finds; how many findings there are."""
    environment = tools.build_programs(folder)
    source = debug_kernel.source(folder)
    found = _report("checkpatch --strict", checkpatch(root, source))
    for version in versions:
        kernel = tools.kernel(folder, version)
        found += _report(f"sparse, Linux {kernel.release}", sparse(root, build, folder, kernel, environment))
    lines, not_run = coccinelle(root, source, environment)
    print(f"coccinelle: not run, for want of an OCaml compiler: {', '.join(not_run) or 'none'}")
    return found + _report("coccinelle", lines)


def _report(name, lines):
    print(f"{name}: {len(lines)} findings", *lines, sep="\n  ", flush=True)
    return len(lines)


def _lines(words, environment=None):
    done = subprocess.run(
        [str(w) for w in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | (environment or {}),
    )
    return done.stdout.splitlines()
