# SPDX-License-Identifier: Apache-2.0
"""The driver's package for real nodes: what is in it, a program compiled against it, and DKMS' way with it."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "programs/vm"))

import debian  # noqa: E402
import package  # noqa: E402
import tools  # noqa: E402

PROGRAM = """
#include <ggas/device.h>
int main(void) {
  ggas_device d;
  return ggas_device_open(&d, "/dev/no such NIC") == -2 ? 0 : 1;
}
"""


def run(*words, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(name="node", scope="module")
def a_node(tmp_path_factory):
    """/ of a node into which the package was unpacked."""
    folder = tmp_path_factory.mktemp("package")
    file = package.deb(ROOT, pathlib.Path("/nothing/is/built"), folder)
    run("dpkg-deb", "-x", file, folder / "node")
    run("dpkg-deb", "-e", file, folder / "control")
    return folder


def test_it_has_what_a_node_needs(node):
    files = {str(p.relative_to(node / "node")) for p in (node / "node").rglob("*") if p.is_file()}
    sources = f"usr/src/ggas-{package.version(ROOT)}"
    wanted = {f"{sources}/dkms.conf", f"{sources}/ggas/pci.c", f"{sources}/gpumap/buffer.c", f"{sources}/include/ggas_regs.h"}
    wanted |= {"etc/modprobe.d/ggas.conf", "usr/lib/udev/rules.d/60-ggas.rules", "usr/share/man/man4/ggas.4"}
    wanted |= {"usr/include/ggas/device.h", "usr/include/ggas/rma.h"}
    assert wanted <= files
    assert not [name for name in files if "testgpu" in name]
    for script in ("postinst", "prerm"):
        assert "@" not in (node / "control" / script).read_text()
        run("sh", "-n", node / "control" / script)


def test_a_program_is_compiled_as_the_how_to_says(node, tmp_path):
    (pkgconfig,) = (node / "node").rglob("pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "libggas-driver", env=os.environ | {"PKG_CONFIG_PATH": str(pkgconfig)})
    (tmp_path / "program.c").write_text(PROGRAM)
    run("gcc", tmp_path / "program.c", "-o", tmp_path / "program", *flags.split())
    run(tmp_path / "program", env=os.environ | {"LD_LIBRARY_PATH": str(pkgconfig.parent)})


@pytest.mark.skipif("GGAS_LONG" not in os.environ, reason="builds the modules for Debian's kernels")
@pytest.mark.parametrize(("suite", "line"), [("bookworm", "6.1"), ("bookworm", "6.12"), ("trixie", "newest")])
def test_dkms_builds_installs_and_removes_it(node, tmp_path, suite, line):
    kernel = tools.kernel(ROOT / ".tools/vm", line)
    for name, of in (("dkms", suite), ("kmod", "bookworm")):  # programs of this system's C library
        found = debian.Suites(tmp_path / "apt", [of]).fetch([name], alone=True)
        debian.unpack(found, tmp_path / "root")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("modinfo", "lsmod"):
        (programs / name).symlink_to(tmp_path / "root/bin/kmod")
    (programs / "depmod").symlink_to("/bin/true")  # it would look into /lib/modules
    installed = tmp_path / "installed" / kernel.release
    installed.mkdir(parents=True)
    (tmp_path / "tree").mkdir()

    def dkms(action, *words):
        places = ["--dkmstree", tmp_path / "tree", "--sourcetree", node / "node/usr/src", "--installtree", installed.parent]
        name = ["-m", "ggas", "-v", package.version(ROOT)]
        # This system's compiler may be older than the kernel's (tools.SETTINGS).
        own = {"PATH": f"{programs}:{os.environ['PATH']}", "MAKEFLAGS": " ".join(["--", "CC=gcc", "HOSTCC=gcc", *tools.SETTINGS])}
        return run("bash", tmp_path / "root/usr/sbin/dkms", action, *name, *words, *places, env=os.environ | own)

    dkms("add")
    dkms("install", "-k", kernel.release, "--kernelsourcedir", kernel.headers)
    assert {p.name.split(".")[0] for p in installed.rglob("*.ko*")} == {"ggas", "ggas_verbs"}
    dkms("remove", "--all")
    assert not list(installed.rglob("*.ko*"))
