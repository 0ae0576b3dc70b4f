# SPDX-License-Identifier: Apache-2.0
"""The driver as real nodes have it: sources for DKMS, what modprobe and udev read, headers, library, manual page.

Nothing of the simulator is needed: the registers' header is generated here, where no build has it.
"""

import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path

from debian import step

HEADERS = ("userlib/driver/ggas/device.h", "userlib/driver/ggas/rma.h")
FILES = {  # of kernel/package, and where they lie on a node
    "modprobe.conf": "etc/modprobe.d/ggas.conf",
    "60-ggas.rules": "usr/lib/udev/rules.d/60-ggas.rules",
}
LIBRARY, SONAME = "libggas-driver.so.0.1", "libggas-driver.so.0"


def version(root):
    (found,) = re.findall(r"project\(ggas VERSION (\S+)", (root / "CMakeLists.txt").read_text())
    return found


def _words(root):
    """What stands in the files between two @."""
    machine = platform.machine()
    names = {"x86_64": "amd64", "aarch64": "arm64"}
    return {"VERSION": version(root), "ARCHITECTURE": names.get(machine, machine), "TRIPLET": f"{machine}-linux-gnu"}


def _fill(root, source, target):
    text = source.read_text()
    for word, value in _words(root).items():
        text = text.replace(f"@{word}@", value)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def _registers(root, build, target):
    made = build / "generated/ggas_regs.h"
    if made.exists():
        shutil.copy2(made, target)
        return
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, root / "rtl/regs/generate.py", root / "rtl/regs/ggas.rdl", "--out", folder]
        step(words, "generate the registers' header")
        shutil.copy2(Path(folder) / "ggas_regs.h", target)


def modules(root, build, folder):
    """The sources that DKMS builds, below the / of a node or of a package; where they lie."""
    sources = folder / f"usr/src/ggas-{version(root)}"
    shutil.rmtree(sources, ignore_errors=True)
    shutil.copytree(root / "kernel", sources, ignore=shutil.ignore_patterns("testgpu*", "*.4", "package", "__pycache__"))
    _registers(root, build, sources / "include/ggas_regs.h")
    _fill(root, root / "kernel/dkms.conf", sources / "dkms.conf")
    return sources


def _library(root, folder):
    where = folder / "usr/lib" / _words(root)["TRIPLET"]
    where.mkdir(parents=True, exist_ok=True)
    include = folder / "usr/include/ggas"
    include.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        shutil.copy2(root / name, include)
    source, flags = root / "userlib/driver/device.c", ["-std=gnu11", "-O2", "-fPIC", f"-I{root}", f"-I{root}/userlib/driver"]
    with tempfile.TemporaryDirectory() as made:
        step(["gcc", *flags, "-c", source, "-o", f"{made}/device.o"], "compile the library")
        (where / "libggas-driver.a").unlink(missing_ok=True)
        step(["ar", "rcs", where / "libggas-driver.a", f"{made}/device.o"], "make the library")
        words = ["gcc", "-shared", f"-Wl,-soname,{SONAME}", f"{made}/device.o", "-o", where / LIBRARY]
        step(words, "link the library")
    for link in (SONAME, "libggas-driver.so"):
        (where / link).unlink(missing_ok=True)
        (where / link).symlink_to(LIBRARY)
    _fill(root, root / "kernel/package/libggas-driver.pc", where / "pkgconfig/libggas-driver.pc")


def tree(root, build, folder):
    """Everything, below the / of a node or of a package; where the modules' sources lie."""
    sources = modules(root, build, folder)
    for name, target in FILES.items():
        _fill(root, root / "kernel/package" / name, folder / target)
    pages = folder / "usr/share/man/man4"
    pages.mkdir(parents=True, exist_ok=True)
    shutil.copy2(root / "kernel/ggas.4", pages)
    _library(root, folder)
    return sources


def deb(root, build, folder):
    """A package for dpkg in that folder; its file."""
    words = _words(root)
    out = folder / f"ggas-dkms_{words['VERSION']}_{words['ARCHITECTURE']}.deb"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        made = Path(made)
        made.chmod(0o755)
        tree(root, build, made)
        _fill(root, root / "kernel/package/control", made / "DEBIAN/control")
        (made / "DEBIAN/conffiles").write_text(f"/{FILES['modprobe.conf']}\n")
        for script in ("postinst", "prerm"):
            _fill(root, root / "kernel/package" / script, made / "DEBIAN" / script)
            (made / "DEBIAN" / script).chmod(0o755)
        step(["dpkg-deb", "--root-owner-group", "--build", made, out], "make the package")
    return out
