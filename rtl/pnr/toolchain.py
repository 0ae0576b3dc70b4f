# SPDX-License-Identifier: Apache-2.0
"""Yosys and nextpnr for ECP5, in a folder of their own.

Debian 12 has no nextpnr for ECP5, so the packages of Debian 13 are unpacked into a folder beside .venv, with their own
C library: nothing of the system changes, and no root is needed. apt checks the signatures. Without apt, the tools found
in PATH are taken.
"""

import pathlib
import shutil
import subprocess
import sys

SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
PACKAGES = ("nextpnr-ecp5", "yosys", "patchelf")
PROGRAMS = ("yosys", "yosys-abc", "nextpnr-ecp5")
CHIPS = b"/usr/share/nextpnr/"  # where nextpnr looks for its data of devices
STEP_LIMIT = 600  # seconds that one step of the installation may take


class Missing(Exception):
    """The tools cannot be had; the text says why."""


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


def _install(folder):
    shutil.rmtree(folder, ignore_errors=True)
    apt, root = folder / "apt", folder / "root"
    for sub in ("state/lists/partial", "cache/archives/partial", "etc/none"):
        (apt / sub).mkdir(parents=True)
    root.mkdir()
    (apt / "state/status").touch()  # nothing is installed: every package needed is fetched
    (apt / "etc/sources.list").write_text(f"deb [signed-by={KEYRING}] {MIRROR} {SUITE} main\n")
    options = {
        "Dir::State": apt / "state",
        "Dir::State::status": apt / "state/status",
        "Dir::Cache": apt / "cache",
        "Dir::Etc::sourcelist": apt / "etc/sources.list",
        "Dir::Etc::sourceparts": apt / "etc/none",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": apt / "etc/none",
        "APT::Install-Recommends": "0",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
    }
    get = ["apt-get", "-qq"] + [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    _step(get + ["update"], f"read the list of packages of {MIRROR} {SUITE}")
    _step(get + ["install", "-y", "--download-only", *PACKAGES], f"fetch {', '.join(PACKAGES)} and what they need")
    for package in sorted((apt / "cache/archives").glob("*.deb")):
        _step(["dpkg-deb", "-x", package, root], f"unpack {package.name}")
    _bind(root)
    shutil.rmtree(apt)


def _bind(root):
    """Gives the programs the C library that they were unpacked with."""
    (loader,) = root.glob("usr/lib/*/ld-linux-*.so.*")
    run = [loader, "--library-path", loader.parent, root / "usr/bin/patchelf"]
    for program in PROGRAMS:
        _step(
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


def _step(command, what):
    try:
        result = subprocess.run(
            [str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=STEP_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise Missing(f"could not {what}: no end within {STEP_LIMIT} s") from None
    if result.returncode:
        raise Missing(f"could not {what}:\n{result.stdout[-2000:]}")


def _output(command, folder=None):
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, timeout=60, cwd=folder
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Missing(f"{command[0]} does not start: {error}") from None
