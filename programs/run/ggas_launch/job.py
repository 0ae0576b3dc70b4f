# SPDX-License-Identifier: Apache-2.0
"""The processes of a job: they are started, get signals, and end."""

import contextlib
import errno
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from ggas_launch.places import elsewhere, is_here, root_of
from ggas_launch.where import BASE

TIMED_OUT = 124  # exit status, as that of timeout(1)
KILL_AFTER_S = 5  # from TERM to KILL, with --stop or --timeout

# Reads `+ GROUP` and `- GROUP`. When its input ends, by whatever ended the launcher, it kills the groups that are left.
GUARD = """all=' '
while read -r sign group; do
  case $sign in
    +) all="$all$group " ;;
    -) all="${all%% $group *} ${all#* $group }" ;;
  esac
done
for group in $all; do kill -s KILL -- "-$group"; done
"""


def simulator():
    """The program: as installed, or in the build of the tree."""
    built = sorted(BASE.glob("build/*/programs/simulator/ggas-simulator"))
    for path in (os.environ.get("GGAS_SIMULATOR"), BASE / "bin" / "ggas-simulator", *built, shutil.which("ggas-simulator")):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise OSError("ggas-simulator is not here: build it, or name it in GGAS_SIMULATOR")


def how_it_ended(code):
    if code >= 0:
        return f"exit status {code}"
    names = {number.value: f" ({number.name})" for number in signal.Signals}  # real-time signals have no name
    return f"signal {-code}{names.get(-code, '')}"


class Job:
    def __init__(self, say):
        self.say = say  # prints a line for the user
        # No other job has this name, on no computer and in no container.
        self.name = f"run.{os.getpid()}.{secrets.token_hex(6)}"
        self.secret = secrets.token_hex(16)  # what its processes know and no other
        self.processes = []  # kept: an object that goes takes its process's status with it
        self.ranks = {}  # of those that run, by their number
        self.pipes = {}  # to the shells elsewhere, by the number of what leads to them
        self.simulator = None
        self.reports, self.ended = socket.socketpair()  # ranks that have ended, for those that wait for them at the start
        self.guard = subprocess.Popen(["/bin/sh", "-c", GUARD], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      bufsize=0, process_group=0)
        self.started = False
        self.early = []  # signals that came before all were started
        self.worst = 0
        self.expected = {}  # exit status of a rank, if it is not 0
        self.stopping = self.killed = False

    def variables(self, rank, size):
        return dict(GGAS_RANK=str(rank), GGAS_SIZE=str(size), GGAS_JOB=self.name, GGAS_SECRET=self.secret, GGAS_REPORT="1")

    def inherited(self):
        """Where processes here read which ranks have ended: a descriptor, and its number and inode for them."""
        number = self.ended.fileno()
        return dict(pass_fds=[number]), dict(GGAS_ENDED=f"{number}:{os.fstat(number).st_ino}")

    def start(self, program, size):
        for rank in range(size):
            self.start_one(program, rank, self.variables(rank, size))

    def start_programs(self, job):
        """Each on its ranks; what goes to a file goes after what another rank has written there in this job."""
        files = {}
        for program in job["programs"]:
            for rank in program["ranks"]:
                self.expected[rank] = program["exit_status"]
                name = program["stdout"].replace("{node}", str(rank))
                if name and name not in files:
                    with open(name, "wb"):
                        files[name] = open(name, "ab", buffering=0)  # noqa: SIM115  # closed with the job
                self.start_one(program["command"], rank, {**program["environment"], **self.variables(rank, job["size"])},
                               files.get(name))
        for file in files.values():
            file.close()

    def start_on(self, chosen):
        """Rank by rank: as many to each computer, but for the rest."""
        used = chosen.hosts[: chosen.n]
        places = [used[rank * len(used) // chosen.n] for rank in range(chosen.n)]
        if all(is_here(place) for place in places):
            return self.start(chosen.program, chosen.n)
        met = dict(GGAS_BOOTSTRAP="tcp", GGAS_ROOT=root_of(chosen, places))
        for rank, place in enumerate(places):
            variables = {**self.variables(rank, chosen.n), **met}
            if is_here(place):
                self.start_one(chosen.program, rank, variables)
            else:
                self.start_elsewhere([*shlex.split(chosen.rsh), place], chosen.program, rank, variables)

    def start_elsewhere(self, rsh, program, rank, variables):
        process = subprocess.Popen([*rsh, elsewhere(variables, program)], stdin=subprocess.PIPE, bufsize=0, process_group=0)
        self.processes.append(process)
        self.ranks[process.pid] = rank
        self.pipes[process.pid] = process.stdin  # its end is what ends the rank
        self.tell(process.pid, self.secret)

    def tell(self, process, line):
        """A line for the shell elsewhere, which may have ended."""
        with contextlib.suppress(OSError):
            self.pipes[process].write(f"{line}\n".encode())

    def start_one(self, program, rank, variables, writes=None):
        """In a group of its own: a signal of the terminal comes once, through the launcher."""
        # One process may read what is piped in; none reads from a terminal.
        reads = None if rank == 0 and not sys.stdin.isatty() else subprocess.DEVNULL
        descriptor, ended = self.inherited()
        options = dict(env={**os.environ, **variables, **ended}, stdin=reads, stdout=writes, process_group=0, **descriptor)
        try:
            process = subprocess.Popen(program, **options)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            process = subprocess.Popen(["sh", *program], **options)  # as shells do with a script that names no other one
        self.take(process, rank)

    def take(self, process, rank):
        self.processes.append(process)
        self.ranks[process.pid] = rank
        self.watch("+", process.pid)

    def watch(self, sign, process):
        with contextlib.suppress(OSError):  # another process ended the guard
            self.guard.stdin.write(f"{sign} {process}\n".encode())

    def start_simulator(self, size, options):
        descriptor, ended = self.inherited()
        environment = dict(os.environ, GGAS_RANK="0", GGAS_SIZE=str(size), GGAS_JOB=self.name, GGAS_SECRET=self.secret, **ended)
        self.simulator = subprocess.Popen([simulator(), *options], env=environment,
                                          stdin=subprocess.DEVNULL, process_group=0, **descriptor)
        self.watch("+", self.simulator.pid)

    def end_simulator(self):
        """All ranks have ended: the simulator may say how long that was."""
        if not self.simulator:
            return
        self.simulator.terminate()
        try:
            self.simulator.wait(KILL_AFTER_S)
        except subprocess.TimeoutExpired:
            self.simulator.kill()
            self.simulator.wait()

    def pass_on(self, number, *_):
        if self.started:
            self.send(number)
        else:
            self.early.append(number)

    def all_started(self):
        self.started = True
        for number in self.early:
            self.send(number)

    def send(self, number):
        """To the processes and what they started: each leads a group."""
        for process in list(self.ranks):
            if process in self.pipes:
                self.tell(process, signal.Signals(number).name.removeprefix("SIG"))
            else:
                os.killpg(process, number)

    def on_alarm(self, *_):
        """Time is up: of the job, or of those that were asked to end."""
        if self.killed:
            for process in set(self.ranks) & set(self.pipes):  # what leads elsewhere hangs itself
                os.killpg(process, signal.SIGKILL)
        elif self.stopping:
            self.killed = True
            self.send(signal.SIGKILL)
            signal.alarm(KILL_AFTER_S)
        else:
            self.say(f"time is up: ranks {', '.join(str(r) for r in sorted(self.ranks.values()))} still run")
            self.worst = max(self.worst, TIMED_OUT)
            self.stop()

    def stop(self):
        if not self.stopping:
            self.stopping = True
            self.send(signal.SIGTERM)
            signal.alarm(KILL_AFTER_S)

    def wait(self, stop):
        while self.ranks:
            # Forgotten first: once the system has forgotten it too, its number may be another process's.
            process = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
            rank = self.ranks.pop(process, None)
            self.watch("-", process)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            if self.simulator and process == self.simulator.pid:
                self.simulator = None
                self.say(f"the simulator ended with {how_it_ended(code)}")
                self.worst = max(self.worst, 1)
                self.stop()
                continue
            if rank is not None:
                self.reports.send(f"{rank}\n".encode())
            expected = self.expected.get(rank, 0)
            if rank is None or (code if code >= 0 else 128 - code) == expected:
                continue
            if process in self.pipes:
                self.pipes.pop(process).close()
                code = 128 - code if 128 < code <= 192 else code  # as a shell reports a signal: here -number
            if self.stopping and -code in (signal.SIGTERM, signal.SIGKILL):
                continue  # the launcher's doing
            self.say(f"rank {rank} ended with {how_it_ended(code)}" + (f", not {expected}" if expected else ""))
            self.worst = max(self.worst, code or 1 if code >= 0 else 128 - code)
            if stop:
                self.stop()
