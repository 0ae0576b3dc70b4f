# SPDX-License-Identifier: Apache-2.0
"""Packages of any Debian suite in folders of their own: nothing of the system changes, and no root is needed.

apt checks the signatures with Debian's keys. Downloads use the network settings of this machine's apt (proxy).
"""

import pathlib
import shutil
import subprocess
import tarfile

MIRROR = "http://deb.debian.org/debian"
SECURITY = "http://deb.debian.org/debian-security"
KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
STEP_LIMIT = 300  # seconds that one step may take


class Missing(Exception):
    """Something cannot be had; the text says what and why."""


class Absent(Missing):
    """The network answers, but has no such suite or package."""


class Suites:
    """Lists of packages of some suites, read into a folder."""

    def __init__(self, folder, suites, component="main", sources=False):
        if not shutil.which("apt-get") or not KEYRING.exists():
            raise Absent(f"no apt with Debian's keys ({KEYRING}) here")
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        for sub in ("state/lists/partial", "cache/archives/partial", "etc/none"):
            (folder / sub).mkdir(parents=True)
        (folder / "state/status").touch()  # nothing is installed: all that a package needs is fetched, too
        lines = [
            f"{kind} [signed-by={KEYRING}] {SECURITY if '-security' in s else MIRROR} {s} {component}\n"
            for s in suites
            for kind in (("deb", "deb-src") if sources else ("deb",))
        ]
        (folder / "etc/sources.list").write_text("".join(lines))
        self.suites = suites
        self._run("apt-get", ["update"], f"read the packages of {', '.join(suites)}")

    def _run(self, program, words, what, **options):
        settings = {
            "Dir::State": self.folder / "state",
            "Dir::State::status": self.folder / "state/status",
            "Dir::Cache": self.folder / "cache",
            "Dir::Etc::sourcelist": self.folder / "etc/sources.list",
            "Dir::Etc::sourceparts": self.folder / "etc/none",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": self.folder / "etc/none",
            "APT::Install-Recommends": "0",
            "APT::Update::Error-Mode": "any",
            "Acquire::Retries": "2",
            "APT::Sandbox::User": "",
            "Debug::NoLocking": "1",
        }
        command = [program, "-q"] + [w for k, v in settings.items() for w in ("-o", f"{k}={v}")] + words
        return step(command, what, **options)

    def needed(self, package, kinds, target=None):
        """Packages that a package names as needed and whose names begin so."""
        words = ["depends", *(["-t", target] if target else []), package]
        lines = self._run("apt-cache", words, f"look for {package}").splitlines()
        names = [line.strip().removeprefix("Depends: ") for line in lines]
        return list(dict.fromkeys(n for n in names if n.startswith(kinds) and n != package))

    def fetch(self, packages, target=None, alone=False):
        """Downloads packages, with all that they need if not `alone`, and returns the files."""
        archives = self.folder / "cache/archives"
        for old in archives.glob("*.deb"):
            old.unlink()
        what = f"fetch {', '.join(packages)}"
        if alone:
            self._run("apt-get", ["download", *packages], what, cwd=archives)
        else:
            self._run("apt-get", ["install", "-y", "--download-only", *(["-t", target] if target else []), *packages], what)
        return sorted(archives.glob("*.deb"))

    def source(self, package):
        """Downloads what a package is made of (needs `sources`): the archive of its authors."""
        archives = self.folder / "cache/archives"
        self._run("apt-get", ["source", "--tar-only", package], f"fetch the sources of {package}", cwd=archives)
        (found,) = archives.glob("*.orig.tar.*z")
        return found


def unpack(files, root):
    root.mkdir(parents=True, exist_ok=True)
    for package in files:
        step(["dpkg-deb", "-x", package, root], f"unpack {package.name}")


def extract(package, name):
    """The first file in a package whose path ends so."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as pipe:
        with tarfile.open(fileobj=pipe.stdout, mode="r|") as archive:
            found = next((archive.extractfile(m).read() for m in archive if m.name.endswith(name)), None)
        pipe.kill()
    if found is None:
        raise Missing(f"{package.name} has no {name}")
    return found


def step(command, what, limit=STEP_LIMIT, **options):
    """Runs a command; its output, or Missing with the end of it."""
    try:
        done = subprocess.run(
            [str(c) for c in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit,
            check=False,
            **options,
        )
    except subprocess.TimeoutExpired:
        raise Missing(f"could not {what}: no end within {limit} s") from None
    except OSError as error:
        raise Missing(f"could not {what}: {error}") from None
    if done.returncode:
        kind = Absent if "Unable to locate package" in done.stdout or "404" in done.stdout else Missing
        raise kind(f"could not {what}:\n{done.stdout[-2000:]}")
    return done.stdout
