# SPDX-License-Identifier: Apache-2.0
"""The processes of a virtual cluster: ggas-device with the NICs, and a QEMU for each node."""

import collections
import contextlib
import json
import os
import selectors
import signal
import subprocess
import time

import qmp
from debian import Missing

START_LIMIT = 60  # seconds until the NICs are there
REPLAY_LIMIT = 900
END_LIMIT = 30  # until a process ends that was reported to
BAIL_LIMIT = 90  # until nodes have come to their end of which one has given up: what its kernel said comes last
# What stock kernels can check: freed memory and its surroundings are poisoned, some objects have pages of their own.
POISON = " slub_debug=FZPU page_poison=1 kfence.sample_interval=5"
KEXECS = {"ci": 1, "soak": 20}  # kernels that node 0 begins
TWO = "two"  # NICs in one node: a run
GPU_MB = 16  # memory of the test GPU


class Cluster:
    def __init__(self, opts, folder, kernel, files):
        """`files`: what a node begins from, and its initial file system."""
        self.opts, self.folder, self.kernel, (self.image, self.archive) = opts, folder, kernel, files
        self.device, self.nodes, self.summary = None, [], {}
        self.asked = collections.Counter()  # nodes that have asked for something

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.nodes:
            _end(process, signal.SIGKILL)
        if self.device:
            _end(self.device, signal.SIGTERM)

    def start(self, run):
        """`run`: what the nodes do (programs/vm/init.sh): "shell", or which tests."""
        self._start_device()
        nics = [(0, 1)] if run == TWO else [(n,) for n in range(self.opts.nodes)]
        self.nodes = [self._start_node(n, run, own) for n, own in enumerate(nics)]

    def _start_device(self):
        program = self.opts.build / "programs/device/ggas-device"
        sockets = [str(self.folder / f"nic{n}") for n in range(self.opts.nodes)]
        words = [str(program), *sockets, "--platform", self.opts.platform]
        self.log = self.opts.log or self.folder / "run.log"
        if self.opts.replay or self.opts.log:
            words += ["--log", str(self.log)]
        errors = open(self.folder / "device.log", "w+")  # noqa: SIM115  # lives as long as the process
        self.device = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True)
        with selectors.DefaultSelector() as watch:
            watch.register(self.device.stdout, selectors.EVENT_READ)
            if not watch.select(START_LIMIT) or self.device.stdout.readline() != "ready\n":
                raise Missing(f"{program} does not start: {(self.folder / 'device.log').read_text()[-1000:]}")

    def _nic(self, n, port="nic_port"):
        """A write is answered when the NIC has room for it: QEMU's queue of writes that are not is unlimited, and a read
        after them would come too late."""
        socket = {"type": "unix", "path": f"{self.folder}/nic{n}"}
        return {"driver": "vfio-user-pci", "bus": port, "socket": socket, "x-no-posted-writes": True}

    def _do(self, what):
        """What all nodes ask for, once they all have (tests/kernel: ask_the_rig)."""
        self.asked[what] += 1
        if self.asked[what] % len(self.nodes):
            return
        if what in ("cable out", "cable in"):
            self.device.send_signal(signal.SIGUSR1)
        elif what == "kill NICs":
            self._kill_nics()
        elif what == "replace NICs":
            self._replace_nics()

    def _monitors(self, stack):
        return [stack.enter_context(qmp.Monitor(self.folder / f"qmp{n}")) for n in range(self.opts.nodes)]

    def _kill_nics(self):
        """In the midst of what the nodes do. Processors stand still meanwhile: QEMU (11.1) aborts when it sends to a
        server that has ended before it knows that (error_setv: Assertion `*errp == NULL')."""
        with contextlib.ExitStack() as stack:
            monitors = self._monitors(stack)
            for monitor in monitors:
                monitor.command("stop")
            self.device.kill()
            self.device.wait()
            time.sleep(1)
            for monitor in monitors:
                monitor.command("cont")

    def _replace_nics(self):
        """In another slot: QEMU aborts, too, when a device is taken out whose server has ended."""
        self._start_device()
        with contextlib.ExitStack() as stack:
            for n, monitor in enumerate(self._monitors(stack)):
                monitor.command("device_add", **self._nic(n, "free_port"))

    def _network(self, n):
        """A cable between both nodes: for TCP alone, by which ranks find each other. Frames are datagrams."""
        own, other = (f"{self.folder}/lan{at}" for at in (n, 1 - n))
        ends = f"local.type=unix,local.path={own},remote.type=unix,remote.path={other}"
        return ["-netdev", f"dgram,id=lan,{ends}", "-device", f"e1000,netdev=lan,mac=52:54:00:00:00:0{n + 1},romfile="]

    def _start_node(self, n, run, nics):
        """`nics`: those of the network that are in the node."""
        memory, processors = self.kernel.memory_mb, self.opts.smp or self.kernel.processors
        words = (
            f"-accel tcg -machine q35,memory-backend=ram -m {memory} -cpu max -smp {processors} "
            f"-object memory-backend-memfd,id=ram,size={memory}M,share=on -display none -nodefaults -no-reboot"
        ).split()
        if self.opts.iommu:
            words += ["-device", "intel-iommu,caching-mode=on,intremap=off"]
        # On a loaded machine an emulated timer ticks too seldom for the kernel's check of it, which ends in a panic.
        line = f"console=ttyS0 quiet panic=-1 no_timer_check ggas.node={n} ggas.nodes={self.opts.nodes}"
        line += " intel_iommu=on iommu.strict=1" if self.opts.iommu else ""
        line += POISON if self.opts.poison else ""
        line += f" ggas.run={run} ggas.left={KEXECS[self.opts.length] if run == 'ends' else 0}"
        if run in ("ci", "soak") and self.opts.only:
            line += f" ggas.only={','.join(self.opts.only).replace(' ', '+')}"
        for chassis, port in ((1, "nic_port"), (2, "free_port")):  # with room for the NIC's BARs
            room = "mem-reserve=8M,pref64-reserve=256M"
            words += ["-device", f"pcie-root-port,id={port},bus=pcie.0,chassis={chassis},{room}"]
        for nic, port in zip(nics, ("nic_port", "free_port"), strict=False):
            words += ["-device", json.dumps(self._nic(nic, port))]
        words += ["-qmp", f"unix:{self.folder}/qmp{n},server=on,wait=off"]
        words += self._network(n) if self.opts.nodes == 2 and run != TWO else []
        gpu = f"memory-backend-memfd,id=gpu,size={GPU_MB}M,share=on"
        words += ["-object", gpu, "-device", "ivshmem-plain,memdev=gpu"]
        words += ["-kernel", self.image, "-initrd", self.archive, "-append", line]
        console = f"unix:{self.folder}/console{n},server=on,wait=off" if run == "shell" else "stdio"
        words += ["-serial", console]
        with open(self.folder / f"qemu{n}.log", "w") as log:
            return subprocess.Popen(
                self.opts.qemu.command(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )

    def wait_until_ended(self):
        while any(process.poll() is None for process in self.nodes):
            if self.device.poll() is not None:
                raise Missing(f"ggas-device ended: {(self.folder / 'device.log').read_text()[-1000:]}")
            time.sleep(0.2)

    def results(self, limit):
        """Prints the lines of the nodes; those of failed tests are returned."""
        watch = selectors.DefaultSelector()
        for n, process in enumerate(self.nodes):
            os.set_blocking(process.stdout.fileno(), False)
            watch.register(process.stdout, selectors.EVENT_READ, (n, Lines(n, self._do)))
        end, bailed = time.monotonic() + limit, False
        lines = [key.data[1] for key in watch.get_map().values()]
        while watch.get_map() and time.monotonic() < end:
            for key, _ in watch.select(1):
                data = key.fileobj.read()
                if data:
                    key.data[1].add(data)
                else:
                    watch.unregister(key.fileobj)
            if any(one.bailed for one in lines) and not bailed:
                bailed, end = True, min(end, time.monotonic() + BAIL_LIMIT)
        failed = [f"node {one.node}: {text}" for one in lines for text in one.failed()]
        failed += [f"node {one.node}: did not finish ({limit} s at most)" for one in lines if not one.ended]
        return failed + self._device_results(failed, lines)

    def _device_results(self, failed, lines):
        """Ends the NICs. No access of theirs may have missed the memory that a node had mapped for them."""
        self.device.send_signal(signal.SIGTERM)
        text, _ = self.device.communicate(timeout=END_LIMIT)
        self.summary = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
        print(f"# NICs: {self.summary}, {self.cycles_a_second():.0f} cycles a second")
        if failed:
            print((self.folder / "device.log").read_text()[-2000:])
            for n in range(len(self.nodes)):
                print((self.folder / f"qemu{n}.log").read_text()[-2000:])
                print(lines[n].tail)
        wrong = [name for name in ("strays", "expired_reads") if self.summary.get(name) != "0"]
        return [f"NICs: {name} {self.summary.get(name)}" for name in wrong]

    def cycles_a_second(self):
        """Of a processor that simulates the NICs."""
        return int(self.summary.get("cycles", 0)) / (float(self.summary.get("simulating_s", 0)) or 1)

    def repeat(self):
        program = self.opts.build / "programs/device/ggas-device"
        return Repetition([str(program), "--replay", str(self.log), "--log", str(self.folder / "again.log")])


class Repetition:
    """A run again, from its log, while other things are done. It ends with the one who began it."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _end(self.process, signal.SIGKILL)

    def differences(self):
        try:
            out, errors = self.process.communicate(timeout=REPLAY_LIMIT)
        except subprocess.TimeoutExpired:
            return [f"replay: no end within {REPLAY_LIMIT} s"]
        print(f"# replay: {(out + errors).strip()}")
        return [f"replay: {errors.strip()}"] if self.process.returncode else []


class Lines:
    """TAP lines of a node."""

    def __init__(self, node, do):
        self.node, self.do, self.rest, self.passed, self.bad = node, do, b"", 0, []
        self.planned, self.ended, self.bailed = None, False, False
        self.tail = ""  # of everything that the node said

    def add(self, data):
        self.tail = (self.tail + data.decode(errors="replace"))[-2000:]
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            self._line(line.decode(errors="replace").strip())

    def _line(self, line):
        if not line.startswith(("ok ", "not ok ", "#", "1..", "Bail out!")):
            return
        print(f"node {self.node}: {line}", flush=True)
        self.passed += line.startswith("ok ")
        if line.startswith(("not ok ", "Bail out!")):
            self.bad.append(line)
        self.bailed |= line.startswith("Bail out!")
        self.ended |= line == "# node ended"
        if line.startswith("# rig: "):
            self.do(line.removeprefix("# rig: "))
        if line.startswith("1.."):
            self.planned = int(line[3:])

    def failed(self):
        if self.planned is None and not self.bad:
            return ["no plan: the tests did not finish"]
        if self.planned is not None and self.passed + len(self.bad) < self.planned:
            return [*self.bad, f"{self.passed} of {self.planned} tests passed"]
        return self.bad


def _end(process, how):
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
