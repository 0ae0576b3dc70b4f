# SPDX-License-Identifier: Apache-2.0
"""What virtual nodes are made of, unpacked into .tools/vm: QEMU, stock kernels with their headers, busybox.

QEMU must have the device vfio-user-pci (10.1 and later), so it comes from a newer suite than the system, with the C
library of that suite.
"""

import lzma
import os
import pathlib
import shutil
import subprocess
import sys

import debian
from debian import Absent, Missing, step

QEMU_SUITES = (
    ("trixie-backports", ["trixie", "trixie-updates", "trixie-security", "trixie-backports"]),
    ("forky", ["forky"]),
    ("sid", ["sid"]),
)
# Kernels by the first two numbers of their version; -rt: with PREEMPT_RT.
KERNEL_SUITES = {
    "5.10": ["bullseye", "bullseye-security"],
    "6.1": ["bookworm", "bookworm-updates", "bookworm-security"],
    "6.1-rt": ["bookworm", "bookworm-updates", "bookworm-security"],
    "6.12": ["bookworm", "bookworm-backports"],
    "6.12-rt": ["trixie", "trixie-updates", "trixie-security"],
    "newest": ["trixie", "trixie-backports"],
    "newest-rt": ["trixie", "trixie-backports"],
}


class Qemu:
    """QEMU in a folder of its own; `command(words)` is how to start it."""

    def __init__(self, root):
        self.libraries = root / "usr/lib/x86_64-linux-gnu"
        self.loader = self.libraries / "ld-linux-x86-64.so.2"
        self._start = [
            self.loader,
            "--library-path",
            self.libraries,
            "--argv0",
            "qemu-system-x86_64",
            root / "usr/bin/qemu-system-x86_64",
        ]
        self._data = ["-L", root / "usr/share/qemu", "-L", root / "usr/share/seabios"]

    def has_device(self):
        """Whether a PCI device can live in another process. (The device alone is asked for: the list of all devices
        would look into the folders of another QEMU on this machine.)"""
        done = subprocess.run(
            [str(w) for w in self._start + ["-device", "vfio-user-pci,help"]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode == 0 and "socket=" in done.stdout

    def command(self, words):
        return [str(w) for w in self._start + self._data + list(words)]


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def qemu(folder):
    """Newest QEMU of Debian with vfio-user; fetched when it is not there yet."""
    target = folder / "qemu"
    stamp = target / "stamp"
    if stamp.exists():
        return Qemu(target / "root")
    reasons = []
    for suite, lists in QEMU_SUITES:
        say(f"unpacking QEMU of Debian {suite} into {target}")
        shutil.rmtree(target, ignore_errors=True)
        try:
            files = debian.Suites(target / "apt", lists).fetch(["qemu-system-x86"], target=suite)
        except Absent as why:
            reasons.append(f"{suite}: {why}")
            continue
        debian.unpack(files, target / "root")
        shutil.rmtree(target / "apt")
        found = Qemu(target / "root")
        if found.has_device():
            stamp.write_text(f"{suite}\n")
            return found
        reasons.append(f"{suite}: its QEMU has no vfio-user-pci")
    raise Absent("no QEMU with vfio-user-pci: " + "; ".join(reasons))


# Offsets in a bzImage (Linux' boot protocol).
SETUP_SECTORS, PAYLOAD_OFFSET, PAYLOAD_BYTES = 0x1F1, 0x248, 0x24C
XZ = b"\xfd7zXZ\0"


class Kernel:
    """A stock kernel: image, and headers that modules are built with; what a node needs to run it."""

    memory_mb = 384  # for the test of kexec: a node has its files three times
    processors = 1
    debug = False

    def __init__(self, folder):
        # Newer packages have the image next to the modules.
        (self.image,) = [*folder.glob("root/boot/vmlinuz-*"), *folder.glob("root/usr/lib/modules/*/vmlinuz")]
        (headers,) = [h for h in (folder / "root/usr/src").glob("linux-headers-*-amd64")]
        self.release = headers.name.removeprefix("linux-headers-")
        self.headers = headers
        self._root = folder / "root"

    def unpacked(self):
        """The ELF file in the image, as QEMU can begin it; None: it cannot, or is packed in another way."""
        (config,) = self._root.glob("boot/config-*") if (self._root / "boot").exists() else (None,)
        if not config or "CONFIG_PVH=y" not in config.read_text():
            return None
        image = self.image.read_bytes()
        offset, length = (int.from_bytes(image[at : at + 4], "little") for at in (PAYLOAD_OFFSET, PAYLOAD_BYTES))
        begin = (image[SETUP_SECTORS] + 1) * 512 + offset
        payload = image[begin : begin + length]
        return lzma.LZMADecompressor().decompress(payload) if payload.startswith(XZ) else None

    def module(self, name):
        """A module of the kernel's own, as the kernel loads it."""
        (path,) = self._root.glob(f"**/kernel/**/{name}.ko*")
        data = path.read_bytes()
        return lzma.decompress(data) if path.suffix == ".xz" else data


def kernel(folder, version):
    """Debian's kernel of that line (`6.1`, `newest` …)."""
    target = folder / f"linux-{version}"
    stamp = target / "stamp"
    if not stamp.exists():
        say(f"unpacking Linux {version} of Debian into {target}")
        shutil.rmtree(target, ignore_errors=True)
        lists = KERNEL_SUITES[version]
        suites = debian.Suites(target / "apt", lists)
        suite = lists[-1] if lists[-1].endswith("-backports") else None
        flavour = "rt-amd64" if version.endswith("-rt") else "amd64"
        (image,) = suites.needed(f"linux-image-{flavour}", "linux-image-", suite)
        headers = image.replace("-image-", "-headers-")
        others = suites.needed(headers, ("linux-headers-", "linux-kbuild-"), suite)
        parts = [image, headers, *others]
        # Some kernels have separate packages for modules and image.
        parts += suites.needed(image, ("linux-modules-", "linux-binary-", "linux-base-"), suite)
        debian.unpack(suites.fetch(parts, alone=True), target / "root")
        shutil.rmtree(target / "apt")
        _move(target / "root")
        if lists[0] == "trixie":
            _give_libraries(target / "root", qemu(folder))
        stamp.write_text(f"{image}\n")
    return Kernel(target)


def nvidia_header(folder):
    """nv-p2p.h of NVIDIA's open driver: what kernel/gpumap calls."""
    found = folder / "nvidia/nv-p2p.h"
    if not found.exists():
        say(f"unpacking NVIDIA's nv-p2p.h into {found.parent}")
        suites = debian.Suites(found.parent / "apt", ["trixie"], component="contrib")
        (package,) = suites.fetch(["nvidia-open-kernel-dkms"], alone=True)
        text = debian.extract(package, "/nv-p2p.h")
        shutil.rmtree(found.parent / "apt")
        found.write_bytes(text)
    return found


def _move(root):
    """Headers name /usr/src and /usr/lib; here they lie elsewhere."""
    for makefile in (root / "usr/src").glob("linux-headers-*/Makefile"):
        text = makefile.read_text()
        makefile.write_text(text.replace("/usr/src/", f"{root}/usr/src/"))
    for link in (root / "usr/src").rglob("*"):
        if link.is_symlink() and os.readlink(link).startswith("/usr/"):
            there = root / os.readlink(link)[1:]
            link.unlink()
            link.symlink_to(there)


def _give_libraries(root, qemu_):
    """The kernel's build tools may need a newer C library than this system's: that of QEMU does."""
    for program in (root / "usr/lib").glob("linux-kbuild-*/**/*.real-*"):
        real = program.rename(program.with_name(f"{program.name}.bin"))
        program.write_text(f"#!/bin/sh\nexec {qemu_.loader} --library-path {qemu_.libraries} {real} \"$@\"\n")
        program.chmod(0o755)


def busybox(folder):
    """A static busybox: all that a node has next to our programs."""
    target = folder / "busybox"
    found = target / "root/bin/busybox"
    if not found.exists():
        say(f"unpacking busybox into {target}")
        shutil.rmtree(target, ignore_errors=True)
        files = debian.Suites(target / "apt", ["bookworm"]).fetch(["busybox-static"], alone=True)
        debian.unpack(files, target / "root")
        shutil.rmtree(target / "apt")
        for place in ("usr/bin/busybox", "bin/busybox"):
            if (target / "root" / place).exists() and not found.exists():
                found.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(target / "root" / place, found)
    return found


BUILD_PACKAGES = ("flex", "bison", "m4", "libfl2", "libelf-dev", "libelf1", "sparse", "coccinelle")


def build_programs(folder):
    """Environment with programs that build and check a kernel, next to the system's."""
    root = folder / "build-programs/root"
    stamp = root.parent / "stamp"
    if not stamp.exists() or stamp.read_text().split() != list(BUILD_PACKAGES):
        say(f"unpacking {', '.join(BUILD_PACKAGES)} into {root.parent}")
        shutil.rmtree(root.parent, ignore_errors=True)
        files = debian.Suites(root.parent / "apt", ["bookworm"]).fetch(list(BUILD_PACKAGES), alone=True)
        debian.unpack(files, root)
        shutil.rmtree(root.parent / "apt")
        stamp.write_text("\n".join(BUILD_PACKAGES))
    return {
        "PATH": f"{root}/usr/bin:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": f"{root}/usr/lib/x86_64-linux-gnu",
        "LIBRARY_PATH": f"{root}/usr/lib/x86_64-linux-gnu",
        "C_INCLUDE_PATH": f"{root}/usr/include",
        "BISON_PKGDATADIR": f"{root}/usr/share/bison",
        "M4": f"{root}/usr/bin/m4",
        "COCCINELLE_HOME": f"{root}/usr/lib/coccinelle",
    }


# Type information for BPF would need another tool (pahole), and nothing here needs it. The compiler may be older than
# the kernel's and lack -fmin-function-alignment: then -falign-functions is used.
SETTINGS = ("CONFIG_DEBUG_INFO_BTF_MODULES=", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=")


def build_modules(kernel_, folder, limit=900):
    """Builds the modules in a copy of kernel/ with W=1, without a warning (but those of other versions of tools); the .ko files."""
    compiler = "CC=ccache gcc" if shutil.which("ccache") else "CC=gcc"
    jobs = f"-j{os.cpu_count()}"
    text = step(
        ["make", jobs, "-C", kernel_.headers, f"M={folder}", "W=1", compiler, "HOSTCC=gcc", *SETTINGS, "modules"],
        f"build the modules for Linux {kernel_.release}",
        limit=limit,
    )
    if wrong := [line for line in text.splitlines() if "warning:" in line.lower() and "version" not in line]:
        raise Missing(f"warnings for Linux {kernel_.release}:\n" + "\n".join(wrong))
    return sorted(pathlib.Path(folder).rglob("*.ko"))
