# SPDX-License-Identifier: Apache-2.0
"""What a virtual node boots: the driver built for its kernel, programs, and an initial file system around them."""

import pathlib
import re
import shutil
import stat

import package
import provider
import tools
from debian import Missing, step

PROGRAMS = {"node_test": ("tests/kernel/*.c", "userlib/driver/device.c")}
# Programs of libggas, with all libraries that they want; and modules of libggas, which lie next to it.
LIBRARY_PROGRAMS = (
    "tests/kernel/on_nodes",
    "tests/userlib/libggas/sim_program",
    "tests/kernel/gaspi_on_nodes",
)
LIBRARY_MODULES = tuple(f"userlib/libggas/libggas-{name}.so" for name in ("start-tcp", "gpu-simt", "gpu-testgpu"))
KERNELS_OWN = ("aer_inject", "e1000", "ib_core", "ib_uverbs")  # modules: e1000 is Ethernet for TCP
INIT = pathlib.Path(__file__).resolve().parent / "init.sh"


def module_sources(root, build, folder_of_tools, kernel):
    """A folder to build the modules for that kernel in: the package, the test GPU next to it."""
    folder = build / "vm" / kernel.release
    shutil.rmtree(folder, ignore_errors=True)
    sources = package.modules(root, build, folder)
    shutil.copytree(root / "kernel/testgpu", sources / "testgpu")
    shutil.copy2(root / "kernel/include/uapi/testgpu.h", sources / "include/uapi/testgpu.h")
    shutil.copy2(tools.nvidia_header(folder_of_tools), sources / "include/nv-p2p.h")
    return sources


def build_modules(root, build, folder_of_tools, kernel):
    """The modules for that kernel."""
    return tools.build_modules(kernel, module_sources(root, build, folder_of_tools, kernel))


def build_program(root, build, name):
    """A program of the nodes: static, so that it needs nothing there."""
    out = build / "vm" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread"]
    flags += [f"-fmacro-prefix-map={root}/=", f"-I{root}", f"-I{root}/userlib/driver"]
    sources = sorted(path for pattern in PROGRAMS[name] for path in root.glob(pattern))
    step(["gcc", *flags, *sources, "-o", out], f"build {name}")
    return out


def libraries(program):
    """What the loader of this system finds for a program, by the names under which a node's loader looks for it."""
    text = step(["ldd", program], f"find the libraries of {program.name}")
    found = dict(re.findall(r"(\S+) => (/\S+)", text))
    (loader,) = re.findall(r"^\s*(/\S+)", text, re.MULTILINE)
    return {f"lib/{name}": pathlib.Path(path) for name, path in found.items()} | {loader[1:]: pathlib.Path(loader)}


def library_files(build):
    """libggas and programs of it."""
    files = {f"bin/{pathlib.Path(name).name}": build / name for name in LIBRARY_PROGRAMS}
    modules = {f"lib/{pathlib.Path(name).name}": build / name for name in LIBRARY_MODULES}
    if missing := [str(path) for path in (files | modules).values() if not path.exists()]:
        raise Missing(f"not built: {', '.join(missing)} (ninja vm_programs)")
    for path in [*files.values(), *modules.values()]:
        modules |= libraries(path)
    return files | modules


def archive(root, build, folder, kernel):
    """The initial file system as a file."""
    files = {m.name: m for m in build_modules(root, build, folder, kernel)}
    files |= {name: build_program(root, build, name) for name in PROGRAMS}
    files |= library_files(build)
    if not kernel.debug:
        files["vmlinuz"] = kernel.image  # for kexec
    files |= provider.files(root, folder, build / "vm/provider")
    files |= {"bin/busybox": tools.busybox(folder), "init": INIT}
    out = build / "vm" / f"initrd-{kernel.release}"  # not compressed: emulated nodes are slow at that
    with open(out, "wb") as body:
        for name in sorted({"dev", "proc", "sys", "tmp"} | {str(p) for f in files for p in pathlib.Path(f).parents if p.name}):
            entry(body, name, stat.S_IFDIR | 0o755)
        for name, path in files.items():
            entry(body, name, stat.S_IFREG | 0o755, path.read_bytes())
        for name in KERNELS_OWN:
            entry(body, f"{name}.ko", stat.S_IFREG | 0o644, kernel.module(name))
        entry(body, "TRAILER!!!", 0)
    return out


def boot_image(build, kernel):
    """What QEMU begins a kernel from: the kernel itself where it can be had, as emulated nodes are slow at unpacking it."""
    plain = kernel.unpacked()
    if plain is None:
        return kernel.image
    out = build / "vm" / f"vmlinux-{kernel.release}"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(plain)
    return out


def entry(body, name, mode, data=b""):
    """An entry of an archive as the kernel's initramfs wants it (cpio, "newc")."""
    text = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(text), 0)
    header = b"070701" + b"".join(b"%08x" % f for f in fields) + text
    body.write(header + b"\0" * (-len(header) % 4))
    body.write(data + b"\0" * (-len(data) % 4))

