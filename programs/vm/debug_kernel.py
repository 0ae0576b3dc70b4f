# SPDX-License-Identifier: Apache-2.0
"""Kernels with the kernel's own checkers, built once from Debian's sources, as small as virtual nodes allow.

Their settings are in programs/vm/debug/, on top of `make allnoconfig`. A changed setting rebuilds the kernel.
"""

import hashlib
import os
import pathlib
import shutil

import tools
from debian import Missing, Suites, step, unpack

SETTINGS = pathlib.Path(__file__).resolve().parent / "debug"
SOURCE = "6.1"  # linux-source of this line
BUILD_LIMIT = 2 * 3600  # seconds, on a machine that others load
# Checkers of single objects are switched off here rather than in their makefiles.
MAKE_WORDS = {"kasan": [], "kcsan": ["KCSAN_SANITIZE=n"]}
PROCESSORS = {"kasan": 1, "kcsan": 2}  # of a node: races need two
NAMES = tuple(MAKE_WORDS)


class DebugKernel:
    """What tools.Kernel is, of a kernel of our own."""

    memory_mb = 1024
    debug = True

    def __init__(self, build, checker):
        self.processors = PROCESSORS[checker]
        self.image = build / "arch/x86/boot/bzImage"
        self.headers = build
        self.release = (build / "include/config/kernel.release").read_text().strip()
        self._build = build

    def unpacked(self):
        return None

    def module(self, name):
        (path,) = self._build.glob(f"drivers/**/{name}.ko")
        return path.read_bytes()


def kernel(folder, checker):
    """The kernel with that checker, built when it is not there yet."""
    target = folder / f"linux-{checker}"
    config = "".join((SETTINGS / f"{part}.config").read_text() for part in ("common", checker))
    stamp, wanted = target / "stamp", hashlib.sha256(config.encode()).hexdigest() + "\n"
    if not stamp.exists() or stamp.read_text() != wanted:
        sources = source(folder)
        target.mkdir(parents=True, exist_ok=True)
        tools.say(f"building Linux {SOURCE} with {checker} in {target}: some 10 minutes on two idle cores, once")
        _build(folder, sources, target, checker, config)
        stamp.write_text(wanted)
    return DebugKernel(target, checker)


def _build(folder, sources, target, checker, config):
    cached = "ccache " if shutil.which("ccache") else ""  # a changed setting concerns few files, but rebuilds many
    make = ["make", "-C", sources, f"O={target}", f"CC={cached}gcc", "HOSTCC=gcc", f"LOCALVERSION=-{checker}"]
    given = {"env": os.environ | tools.build_programs(folder), "limit": BUILD_LIMIT}
    (target / "wanted").write_text(config)
    step([*make, "KCONFIG_ALLCONFIG=wanted", "allnoconfig"], "configure Linux", **given)
    _check(target / ".config", config)
    jobs = f"-j{os.cpu_count() or 1}"
    step([*make, jobs, *MAKE_WORDS[checker], "bzImage", "modules"], f"build Linux {SOURCE} with {checker}", **given)


def _check(made, config):
    """A setting that another one rules out is dropped without a word: not here."""
    there = set(made.read_text().splitlines())
    lines = [line for line in config.splitlines() if line.startswith("CONFIG_")]
    said = {line for line in lines if not line.endswith("=n")} - there
    said |= {line for line in lines if line.endswith("=n") and f"{line.removesuffix('=n')}=y" in there}
    if said:
        raise Missing(f"Linux {SOURCE} does not take {', '.join(sorted(said))}")


def source(folder):
    """Sources of Debian's kernel, unpacked."""
    target = folder / "linux-source"
    stamp = target / "stamp"
    if not stamp.exists():
        tools.say(f"unpacking the sources of Linux {SOURCE} into {target}")
        shutil.rmtree(target, ignore_errors=True)
        files = Suites(target / "apt", tools.KERNEL_SUITES[SOURCE]).fetch([f"linux-source-{SOURCE}"], alone=True)
        unpack(files, target)
        shutil.rmtree(target / "apt")
        (archive,) = target.glob("usr/src/linux-source-*.tar.xz")
        step(["tar", "-xf", archive, "-C", target], "unpack the sources of Linux", limit=BUILD_LIMIT)
        archive.unlink()
        stamp.touch()
    (found,) = target.glob(f"linux-source-{SOURCE}")
    return found
