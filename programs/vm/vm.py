#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Virtual nodes: Debian's kernel with the driver of kernel/, in front of simulated NICs (docs/drivers.md).

    ./ggas vm up [-n 2]         boots nodes to log into; they end with this command (Ctrl-C)
    ./ggas vm console N         a terminal on a node that is up
    ./ggas vm test              boots two nodes, runs the tests, ends them
    ./ggas vm soak              the same tests, in hours instead of minutes; and on kernels with the kernel's checkers
    ./ggas vm replay LOG        repeats a run of the NICs from its log (--log of the others), bit for bit
    ./ggas vm build             builds the driver for the kernels of --kernel
    ./ggas vm check          the kernel's checkers of sources over the driver: checkpatch, coccinelle, sparse
    ./ggas vm provider FOLDER   the NIC for libibverbs of Debian 13: FOLDER/usr, FOLDER/etc
    ./ggas vm package FOLDER    the driver for real nodes: sources for DKMS, rules, library: FOLDER/usr ...
    ./ggas vm installed         boots a Debian with a NIC, installs that package there, uses it, removes it

QEMU, kernels, headers and busybox come from Debian and are unpacked into .tools/vm; nothing of the system changes.
Nodes are emulated (TCG): neither KVM nor root is needed.

Exit status: 0 done, 1 a test failed, 2 wrong options, 3 this network has no such packages.
"""

import argparse
import contextlib
import json
import os
import pathlib
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import tty

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import checks  # noqa: E402
import cycles  # noqa: E402
import debug_kernel  # noqa: E402
import image  # noqa: E402
import installed  # noqa: E402
import nodes  # noqa: E402
import package  # noqa: E402
import provider  # noqa: E402
import tools  # noqa: E402
from debian import Absent, Missing, step  # noqa: E402
from tools import say  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Runs of which nothing is left to be repeated: ggas-device is killed; or that, after node 0 has begun other kernels.
GONE, ENDS = "gone", "ends"
CONSOLES = "ggas-vm-consoles"  # link in the folder for temporary files, to the sockets of the nodes that are up


def consoles():
    return pathlib.Path(tempfile.gettempdir()) / f"{CONSOLES}-{os.getuid()}"


def kernel_of(opts, name):
    return (debug_kernel if name in debug_kernel.NAMES else tools).kernel(opts.tools, name)


def command_build(opts):
    for version in opts.kernel:
        kernel = kernel_of(opts, version)
        for module in image.build_modules(ROOT, opts.build, opts.tools, kernel):
            print(f"{kernel.release}: {module}")
    return 0


def command_check(opts):
    return 1 if checks.all_of_them(ROOT, opts.build, opts.tools, opts.kernel) else 0


def command_package(opts):
    make = package.deb if opts.deb else package.tree
    print(make(ROOT, opts.build, opts.folder))
    return 0


def command_installed(opts):
    opts.qemu = tools.qemu(opts.tools)
    failed = []
    for suite in opts.suite:
        made = installed.system(opts.tools, suite)
        with contextlib.ExitStack() as stack:
            files = made.image, installed.archive(ROOT, opts.build, made)
            failed += run_tests(opts, stack, made, files, "installed")[1]
    return report(failed)


def command_provider(opts):
    for path in provider.build(ROOT, opts.tools, opts.folder).values():
        print(path)
    return 0


def command_up(opts):
    opts.qemu = tools.qemu(opts.tools)
    kernel = kernel_of(opts, opts.kernel[0])
    files = image.boot_image(opts.build, kernel), image.archive(ROOT, opts.build, opts.tools, kernel)
    with tempfile.TemporaryDirectory(prefix="ggas-vm-") as folder:
        folder = pathlib.Path(folder)
        link = consoles()
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
        try:
            with nodes.Cluster(opts, folder, kernel, files) as cluster:
                cluster.start("shell")
                say(f"{opts.nodes} nodes boot; in another terminal: ./ggas vm console 0   (Ctrl-] leaves it)")
                cluster.wait_until_ended()
        finally:
            link.unlink(missing_ok=True)
    return 0


def command_console(opts):
    where = consoles() / f"console{opts.node}"
    try:
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(where))
    except OSError as error:
        sys.exit(f"vm: no node {opts.node} is up ({error.strerror}); ./ggas vm up boots them")
    saved = termios.tcgetattr(0) if os.isatty(0) else None
    if saved:
        tty.setraw(0)
    try:
        watch = selectors.DefaultSelector()
        watch.register(line, selectors.EVENT_READ)
        watch.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in watch.select():
                data = line.recv(4096) if key.fileobj is line else os.read(0, 4096)
                if not data or (key.fileobj == 0 and b"\x1d" in data):
                    return 0
                if key.fileobj is line:
                    os.write(1, data)
                else:
                    line.sendall(data)
    finally:
        if saved:
            termios.tcsetattr(0, termios.TCSADRAIN, saved)


def processor_seconds():
    """Of programs that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def compare_cycles(found, speed, bench):
    """Cycles of the NIC in the log of a run, and how many a second were simulated, next to what the benchmark measures of
    the NIC alone. Seconds are of a processor, so that what else the machine does counts for neither."""
    print(f"# window stores that met idle NICs: {found}")
    if not bench:
        return []
    with tempfile.TemporaryDirectory(prefix="ggas-vm-") as folder:
        records = pathlib.Path(folder) / "cycles.jsonl"
        used = processor_seconds()
        step([bench, "nic_cycles", "--quick", "--json", records], "measure the NIC alone", cwd=folder)
        used = processor_seconds() - used
        results = [json.loads(line) for line in records.open()]
    wanted = {r["metric"]: r["value"] for r in results if r["params"]["data_w"] == 64}
    alone = sum(r["sim"]["cycles"] for r in results) / used
    print(f"# simulated cycles a second: {speed:.0f} with nodes, {alone:.0f} alone: {speed / alone:.2f}")
    names = ("store_to_flit", "flit_to_tlp")
    return [f"{name}: {found[name]} cycles in a node, {wanted[name]} alone" for name in names if found[name] != wanted[name]]


def run_tests(opts, stack, kernel, files, run):
    """Boots nodes that run the tests: the cluster, which has ended, and the lines of tests that failed."""
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ggas-vm-")))
    with nodes.Cluster(opts, folder, kernel, files) as cluster:
        begun = time.monotonic()
        cluster.start(run)
        failed = cluster.results(opts.limit)
        print(f"# Linux {kernel.release}, {run}: {time.monotonic() - begun:.1f} s")
    return cluster, failed


def runs_of(opts, kernel):
    """Each a boot of its own. Debug kernels begin no other ones."""
    length, ends = ("ci", GONE) if kernel.debug else (opts.length, ENDS)
    if not opts.only:
        return [length, nodes.TWO, ends]
    return opts.only if opts.only in ([ends], [nodes.TWO]) else [length]


def test_kernel(opts, kernel):
    """The lines of tests that failed. The first run is repeated from its log while the next one goes on."""
    files = image.boot_image(opts.build, kernel), image.archive(ROOT, opts.build, opts.tools, kernel)
    with contextlib.ExitStack() as stack:
        runs = runs_of(opts, kernel)
        cluster, failed = run_tests(opts, stack, kernel, files, runs[0])
        repeated = opts.replay and runs[0] == opts.length and not kernel.debug
        repetition = stack.enter_context(cluster.repeat()) if repeated else None
        for run in runs[1:]:
            failed += run_tests(opts, stack, kernel, files, run)[1]
        if repetition:
            found = cycles.summary(cluster.log)
            failed += repetition.differences() + compare_cycles(found, cluster.cycles_a_second(), opts.bench)
        return failed


def command_test(opts):
    opts.qemu = tools.qemu(opts.tools)
    failed = []
    for version in opts.kernel:
        failed += test_kernel(opts, kernel_of(opts, version))
    return report(failed)


def report(failed):
    print(f"# {len(failed)} failed" if failed else "# all passed")
    for line in failed:
        print(f"# failed: {line}")
    return 1 if failed else 0


command_soak = command_test


def command_replay(opts):
    words = [opts.build / "programs/device/ggas-device", "--replay", opts.run_log]
    words += ["--log", opts.log] if opts.log else []
    words += ["--waves", opts.waves] if opts.waves else []
    return subprocess.run([str(w) for w in words], check=False).returncode


def arguments():
    args = argparse.ArgumentParser(
        prog="./ggas vm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = args.add_subparsers(dest="command", required=True, metavar="COMMAND")
    kernels = argparse.ArgumentParser(add_help=False)
    kernels.add_argument(
        "--kernel",
        nargs="+",
        choices=[*sorted(tools.KERNEL_SUITES), *debug_kernel.NAMES],
        help="Debian's kernels (6.1), and those with the kernel's own checkers, which are built first",
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--log", type=pathlib.Path, help="file for every access and TLP with time stamps")
    common.add_argument("--platform", default="galibier-k20", help="platform of NICs and links (galibier-k20)")
    common.add_argument("--iommu", action="store_true", help="with an IOMMU, strict")
    common.add_argument("--poison", action="store_true", help="with checks of memory that stock kernels have")
    common.add_argument("--smp", type=int, help="processors of a node (1; with kcsan 2)")
    common.add_argument("--tools", type=pathlib.Path, default=ROOT / ".tools/vm", help=argparse.SUPPRESS)
    common.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help=argparse.SUPPRESS)
    up = commands.add_parser("up", parents=[kernels, common], help="boots nodes to log into")
    up.add_argument("-n", dest="nodes", type=int, choices=(1, 2), default=2, help="nodes (2)")
    test = commands.add_parser("test", parents=[kernels, common], help="runs the tests on two nodes")
    test.add_argument("--limit", type=int, default=400, help="seconds that the tests of a kernel may take (400)")
    test.add_argument("--only", nargs="+", metavar="PART", help="run the tests with one of these in their names")
    test.add_argument("--bench", type=pathlib.Path, help="ggas-bench: its nic_cycles must be those of the run")
    test.set_defaults(nodes=2, length="ci", replay=True)
    soak = commands.add_parser("soak", parents=[kernels, common], help="the same tests, 10 to 100 times as often")
    soak.add_argument("--limit", type=int, default=6 * 3600, help="seconds that the tests of a kernel may take (6 hours)")
    soak.add_argument("--only", nargs="+", metavar="PART", help="run the tests with one of these in their names")
    soak.set_defaults(nodes=2, length="soak", replay=False)  # its log would be too long
    up.set_defaults(replay=False)
    on_debian = commands.add_parser("installed", parents=[common], help="the package on a booted Debian")
    on_debian.add_argument("--suite", nargs="+", choices=installed.SUITES, default=installed.SUITES, help="Debian's (all)")
    on_debian.add_argument("--limit", type=int, default=1800, help="seconds that the tests of a suite may take (1800)")
    on_debian.set_defaults(nodes=1, replay=False)
    commands.add_parser("build", parents=[kernels, common], help="builds the driver")
    commands.add_parser("check", parents=[kernels, common], help="checkpatch, coccinelle, sparse")
    to_nodes = commands.add_parser("package", help="the driver for real nodes: sources for DKMS, library, rules")
    to_nodes.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="/ of a node; with --deb where the package lies")
    to_nodes.add_argument("--deb", action="store_true", help="as a package of Debian, which dpkg installs and removes")
    to_nodes.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help=argparse.SUPPRESS)
    to_verbs = commands.add_parser("provider", help="the NIC for libibverbs of real nodes")
    to_verbs.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="/ of a node of Debian 13")
    to_verbs.add_argument("--tools", type=pathlib.Path, default=ROOT / ".tools/vm", help=argparse.SUPPRESS)
    replay = commands.add_parser("replay", help="repeats a run from its log")
    replay.add_argument("run_log", type=pathlib.Path, metavar="LOG")
    replay.add_argument("--log", type=pathlib.Path, help="the new log (LOG.again)")
    replay.add_argument("--waves", type=pathlib.Path, help="stem of FST files, one for each NIC")
    replay.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help=argparse.SUPPRESS)
    console = commands.add_parser("console", help="a terminal on a node that is up")
    console.add_argument("node", type=int)
    opts = args.parse_args()
    if "kernel" in opts and not opts.kernel:
        opts.kernel = ["6.1", *debug_kernel.NAMES] if opts.command == "soak" else ["6.1"]
    for name in ("tools", "build", "log", "run_log", "waves", "bench", "folder"):
        if getattr(opts, name, None):
            setattr(opts, name, getattr(opts, name).resolve())
    return opts


def main():
    opts = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run = globals()[f"command_{opts.command}"]
    try:
        return run(opts)
    except Absent as why:
        say(str(why))
        return 3
    except Missing as why:
        say(str(why))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
