# SPDX-License-Identifier: Apache-2.0
"""The points of a sweep: each a run of ggas-bench with its records in a file of its own.

The name of the file holds a digest of the build and the command line, and the file is there only if the run ended well.
So a point whose file is there is not run again, and records of another build or other options are never taken for it.
"""

import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

GRACE_S = 10  # from SIGTERM to SIGKILL
CHECK_S = 120  # a check makes the cluster and runs nothing
BAD_INPUT, INTERRUPTED = 2, 130  # status
OF_ONE_RUN = ("--json", "--report", "--no-report", "--state", "--trace", "--pcap", "--waves", "--power", "--scenario", "--check", "--list-nics")


class BadInput(Exception):
    """What is wrong with the input; nothing has run."""


def refuse(parser, words, options, why):
    """Ends with status 2 if one of the options is among the words."""
    for word in words:
        if word.split("=")[0] in options:
            parser.error(f"{word.split('=')[0]}: {why}")


@dataclass
class Point:
    values: dict  # of the swept parameters
    command: list
    file: Path
    reason: str = ""  # why it failed
    seconds: float = 0.0  # processor time, if it ran now

    @property
    def name(self):
        return ", ".join(f"{k}={v}" for k, v in self.values.items())

    @property
    def log(self):
        return self.file.with_suffix(".log")

    @property
    def done(self):
        return self.file.is_file()

    @property
    def shell(self):
        """Runs the point and keeps its records only if it ended well."""
        new, file, log = (shlex.quote(str(path)) for path in (self.file.with_suffix(".new"), self.file, self.log))
        return f"{shlex.join(self.command)} --no-report --json {new} > {log} 2>&1 && mv {new} {file}"

    def fail(self, status):
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n") if self.log.is_file() else []
        last = next((text for text in reversed(lines) if text.strip()), "no output")
        self.reason = f"status {status}: {last} ({self.log})"


def points_of(runs, a):
    """`runs`: of every point its values and the arguments of ggas-bench."""
    folder = a.out / "points"
    folder.mkdir(parents=True, exist_ok=True)
    build = a.program.stat()
    found = []
    for values, arguments in runs:
        command = [str(a.program), *arguments]
        digest = hashlib.sha256(json.dumps([build.st_size, build.st_mtime_ns, command]).encode()).hexdigest()[:12]
        readable = re.sub(r"[^\w.=+-]+", "_", "__".join(f"{k}={v}" for k, v in values.items()))[:120]
        found.append(Point(values, command, folder / f"{readable}-{digest}.jsonl"))
    return found


class Progress:
    """One line on a terminal; nothing elsewhere."""

    def __init__(self, total):
        self.total, self.ready, self.shown = total, 0, sys.stderr.isatty()

    def step(self, p):
        self.ready += 1
        if self.shown:
            width = 30 * self.ready // self.total
            print(f"\r[{'#' * width:30}] {self.ready} of {self.total}  {p.name:60.60}", end="", file=sys.stderr, flush=True)

    def clear(self):
        if self.shown:
            print(f"\r{'':110}\r", end="", file=sys.stderr, flush=True)


class Processes:
    """Those that run now; stop() ends them with all that they started."""

    def __init__(self):
        self.running = set()

    def run(self, p):
        one = subprocess.Popen(["sh", "-c", p.shell], start_new_session=True)
        self.running.add(one)
        _, status, used = os.wait4(one.pid, 0)  # as wait(), with what it used
        one.returncode = os.waitstatus_to_exitcode(status)
        p.seconds = used.ru_utime + used.ru_stime
        if one.returncode != 0:
            p.fail(one.returncode)
        self.running.discard(one)

    def stop(self):
        """SIGTERM to all, and after the grace period SIGKILL. A group may outlive its shell, so the group is asked."""
        groups, end = [one.pid for one in self.running], time.monotonic() + GRACE_S
        groups = [pid for pid in groups if self.send(pid, signal.SIGTERM)]
        while groups and time.monotonic() < end:
            time.sleep(0.02)
            groups = [pid for pid in groups if self.send(pid, 0)]
        for pid in groups:
            self.send(pid, signal.SIGKILL)

    @staticmethod
    def send(group, which):
        """False: the group has ended."""
        try:
            os.killpg(group, which)
        except ProcessLookupError:
            return False
        return True


def fault_of(p):
    """What the program says against the options of a point; empty: nothing. It runs nothing."""
    try:
        done = subprocess.run([*p.command, "--check"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CHECK_S)
    except subprocess.TimeoutExpired:
        return f"no answer in {CHECK_S} s"
    said = (done.stderr.strip() or f"status {done.returncode}").removeprefix("ggas-bench: ")
    return said if done.returncode != 0 else ""


def check(points, jobs):
    """Before anything runs: options that no run would take, or a value that this one does not."""
    with ThreadPoolExecutor(jobs) as pool:
        for p, fault in zip(points, pool.map(fault_of, points)):
            if fault:
                pool.shutdown(wait=False, cancel_futures=True)
                raise BadInput(f"{p.name}: {fault}")


def processor_seconds():
    """Of all that this process has run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_here(points, jobs):
    processes, progress = Processes(), Progress(len(points))
    pool = ThreadPoolExecutor(jobs)
    try:
        started = {pool.submit(processes.run, p): p for p in points}
        for one in as_completed(started):
            one.result()
            progress.step(started[one])
    except BaseException:  # an interrupt, too
        pool.shutdown(wait=False, cancel_futures=True)
        processes.stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        progress.clear()


def find_slurm():
    if not shutil.which("sbatch"):
        raise FileNotFoundError(2, "not found in PATH; --slurm needs Slurm's commands", "sbatch")


def run_slurm(points, a):
    """A job array; returns when all of it has ended."""
    cases = "\n".join(f"  {i}) {p.shell} ;;" for i, p in enumerate(points))
    script = a.out / "slurm.sh"
    script.write_text(f"#!/bin/sh\ncase $SLURM_ARRAY_TASK_ID in\n{cases}\nesac\n", encoding="utf-8")
    options = ["--wait", f"--array=0-{len(points) - 1}", f"--output={a.out}/slurm-%a.log", *shlex.split(a.slurm)]
    done = subprocess.run(["sbatch", *options, str(script)], check=False)
    for p in points:
        if not p.done:
            p.fail(done.returncode)


def as_program(name, main, points):
    """Ends with the status of `main`; a signal ends the runs, too, and `points` names what the same command goes on with."""

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print(f"{name}: interrupted; the same command goes on with the {points} that are missing", file=sys.stderr)
        sys.exit(INTERRUPTED)
