# SPDX-License-Identifier: Apache-2.0
"""The NIC for libibverbs (userlib/verbs): a library that rdma-core loads, and programs of rdma-core's on a node.

A provider is compiled next to private headers of rdma-core, which no package installs: they come from the sources of
the same version as the libibverbs that is to load it. That is Debian 13's, which QEMU has brought (tools.py).
"""

import re
import shutil
import sys

import debian
import tools
from debian import step

SUITE = "trixie"
CONFIG = "etc/libibverbs.d/ggas.driver"
FOLDER = "usr/lib/x86_64-linux-gnu/libibverbs"
UTILITIES = ("ibv_devices", "ibv_devinfo")
LIBRARIES = ("ld-linux-x86-64.so.2", "libc.so.6", "libibverbs.so.1", "libnl-3.so.200", "libnl-route-3.so.200")
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Werror")


class RdmaCore:
    """Headers of rdma-core as its own build lays them out, and its programs."""

    def __init__(self, folder):
        self.include, self.programs = folder / "include", folder / "root/usr/bin"
        (self.abi,) = re.findall(r"PABI_VERSION (\d+)", (self.include / "config.h").read_text())


def rdma_core(folder):
    target = folder / "rdma-core"
    stamp = target / "stamp"
    if not stamp.exists():
        tools.say(f"unpacking rdma-core of Debian {SUITE} into {target}")
        shutil.rmtree(target, ignore_errors=True)
        suites = debian.Suites(target / "apt", [SUITE], sources=True)
        debian.unpack(suites.fetch(["ibverbs-utils"], alone=True), target / "root")
        step(["tar", "-xf", suites.source("rdma-core"), "-C", target], "unpack the sources of rdma-core")
        (sources,) = target.glob("rdma-core-*")
        _headers(sources, target / "include")
        for used in (sources, target / "apt"):
            shutil.rmtree(used)
        stamp.touch()
    return RdmaCore(target)


def _headers(sources, include):
    for name, place in (("libibverbs", "infiniband"), ("util", "util"), ("ccan", "ccan"), ("kernel-headers/rdma", "rdma")):
        (include / place).mkdir(parents=True)
        for header in (sources / name).glob("*.h"):
            shutil.copy2(header, include / place)
    (include / "kernel-abi").mkdir()
    words = [sys.executable, sources / "buildlib/make_abi_structs.py", sources / "kernel-headers/rdma/ib_user_verbs.h"]
    step([*words, include / "kernel-abi/ib_user_verbs.h"], "make the structures of uverbs")
    (abi,) = re.findall(r'IBVERBS_PABI_VERSION "(\d+)"', (sources / "CMakeLists.txt").read_text())
    (include / "config.h").write_text(f"#define IBVERBS_PABI_VERSION {abi}\n")


def build(root, folder_of_tools, folder):
    """The provider below the / of a node: the library and its line for libibverbs. Paths below the /, and files."""
    core, libraries = rdma_core(folder_of_tools), tools.qemu(folder_of_tools).libraries
    library = folder / FOLDER / f"libggas-rdmav{core.abi}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    words = ["gcc", *FLAGS, "-fPIC", "-shared", "-fvisibility=hidden", f"-I{root}", "-isystem", core.include]
    words += [root / "userlib/verbs/provider.c", libraries / "libibverbs.so.1", "-o", library]
    step(words, "build the provider of libibverbs")
    config = folder / CONFIG
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("driver ggas\n")
    return {str(path.relative_to(folder)): path for path in (library, config)}


def files(root, folder_of_tools, folder):
    """What a node needs to run programs of rdma-core's, with the C library of their suite, in /verbs."""
    core, libraries = rdma_core(folder_of_tools), tools.qemu(folder_of_tools).libraries
    own = folder / "verbs_memory"
    words = ["gcc", *FLAGS, f"-I{root}", "-isystem", core.include, "-isystem", root]
    words += [root / "tests/kernel/library/verbs_memory.c", "-Wl,--allow-shlib-undefined", libraries / "libibverbs.so.1"]
    found = build(root, folder_of_tools, folder)
    step([*words, "-o", own], "build verbs_memory")
    found |= {f"verbs/{name}": libraries / name for name in LIBRARIES}
    return found | {f"verbs/{name}": core.programs / name for name in UTILITIES} | {"verbs/verbs_memory": own}
