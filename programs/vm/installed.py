# SPDX-License-Identifier: Apache-2.0
"""The driver's package on a node of its own: a whole Debian, which boots with a NIC, installs the package, uses it and
removes it (installed.sh).

mmdebstrap makes the Debian, and the node has it in its memory, so no disk and no driver of one is needed.
"""

import hashlib
import os
import pathlib
import shutil
import stat
import tarfile

import debian
import image
import package
import tools
from debian import step

SUITES = ("bookworm", "trixie")
PACKAGES = "linux-image-amd64,linux-headers-amd64,dkms,passwd,gcc,libc6-dev,pkg-config,systemd-sysv,udev,kmod"
UNUSED = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "*/kernel/sound/*", "*/kernel/drivers/gpu/*")
MAKING_LIMIT = 3600  # seconds, on a machine that others load
HERE = pathlib.Path(__file__).resolve().parent
# What a booted node runs, over all of its system.
TARGET = "[Unit]\nWants=ggas-test.service\n"
SERVICE = """[Unit]
Requires=basic.target
After=basic.target
[Service]
ExecStart=/bin/sh /installed.sh
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
"""


class Debian:
    """A Debian as an archive of files; what a node needs to run it."""

    memory_mb = 3072
    processors = 1
    debug = False

    def __init__(self, folder, suite):
        self.suite, self.files, self.image = suite, folder / "root.tar", folder / "vmlinuz"
        self.release = (folder / "release").read_text()


def system(folder, suite):
    """The Debian of that name, made when it is not there yet."""
    target = folder / f"debian-{suite}"
    words = " ".join([PACKAGES, *UNUSED])
    stamp, wanted = target / "stamp", hashlib.sha256(words.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        tools.say(f"making a Debian {suite} in {target}")
        shutil.rmtree(target, ignore_errors=True)
        _make(target, suite)
        stamp.write_text(wanted)
    return Debian(target, suite)


def _make(target, suite):
    own = target / "mmdebstrap"
    debian.unpack(debian.Suites(own / "apt", [SUITES[0]]).fetch(["mmdebstrap"], alone=True), own / "root")
    source = f"deb [signed-by={debian.KEYRING}] {debian.MIRROR} {suite} main"
    programs = own / "root/usr/bin"
    words = ["perl", programs / "mmdebstrap", "--variant=apt", f"--include={PACKAGES}"]
    words += [f"--dpkgopt=path-exclude={pattern}" for pattern in UNUSED]
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    step([*words, suite, target / "root.tar", source], f"make a Debian {suite}", limit=MAKING_LIMIT, env=environment)
    shutil.rmtree(own)
    with tarfile.open(target / "root.tar") as root:
        (kernel,) = [m for m in root if "boot/vmlinuz-" in m.name]
        (target / "vmlinuz").write_bytes(root.extractfile(kernel).read())
        (target / "release").write_text(kernel.name.partition("vmlinuz-")[2])


def archive(root, build, made):
    """The initial file system of a node: that Debian, the package, and what is done with it."""
    folder = build / "vm" / f"installed-{made.suite}"
    files = {
        "ggas-dkms.deb": package.deb(root, build, folder).read_bytes(),
        "installed.sh": (HERE / "installed.sh").read_bytes(),
        "program.c": (root / "tests/kernel/library/installed.c").read_bytes(),
        "etc/systemd/system/ggas-test.service": SERVICE.encode(),
        "etc/systemd/system/default.target": TARGET.encode(),
    }
    out = folder / "initrd"
    with open(out, "wb") as body, tarfile.open(made.files) as system_files:
        for member in system_files:
            _copy(body, system_files, member)
        for name, data in files.items():
            image.entry(body, name, stat.S_IFREG | 0o644, data)
        image.entry(body, "init", stat.S_IFLNK | 0o777, b"sbin/init")
        image.entry(body, "TRAILER!!!", 0)
    return out


def _copy(body, files, member):
    name = member.name.removeprefix("./")
    if member.isdir():
        image.entry(body, name, stat.S_IFDIR | member.mode)
    elif member.issym():
        image.entry(body, name, stat.S_IFLNK | 0o777, member.linkname.encode())
    elif member.isfile() or member.islnk():
        image.entry(body, name, stat.S_IFREG | member.mode, files.extractfile(member).read())
