#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of a job on this computer, one for each node: `./ggas run -n 4 program arguments...`"""

import argparse
import contextlib
import errno
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
MOST = 1024  # processes of a job
MOST_SECONDS = 10**7
TIMED_OUT = 124  # exit status, as that of timeout(1)
KILL_AFTER_S = 5  # from TERM to KILL, with --stop or --timeout
HOST = re.compile(r"[A-Za-z0-9_.:@%\[\]][A-Za-z0-9_.:@%\[\]-]{0,252}")
RSH = "ssh -o BatchMode=yes"

NAME = "ggas-run" if os.path.basename(sys.argv[0]) == "ggas-run" else "./ggas run"  # as installed, or as the launcher calls it

MORE = f"""\
Each process gets GGAS_RANK (0 to N - 1), GGAS_SIZE, GGAS_JOB and GGAS_SECRET, and writes to the output of this command as it is.
With GGAS_REPORT, which it gets too, a process that INT or TERM ends says first which of its kernels waited for what.
Rank 0 reads what is piped in. INT, TERM, HUP, USR1 and USR2 are passed on to all processes and what they started.
The exit status is the worst one; 128 + number for a process that a signal ended. If this command is killed, so are they.
With --mpi-types PROGRAM is one of Open MPI 4.1 or MPICH 4.0: their mpirun starts it, with libggas_mpi_types.so before the
MPI. Messages of datatypes in GPU memory are packed there then; with GGAS_MPI_TYPES=host also those in host memory.

With --hosts the ranks of a program of libggas are spread over these computers in blocks; they meet over TCP. On this computer they
are started as always, on others by `ssh HOST COMMAND` (--rsh, GGAS_RSH), in this folder, with the GGAS_ variables and LD_LIBRARY_PATH of
this command; the secret goes through a pipe. Those read no input. What the ranks of several computers need to exchange data is
a NIC: without one their start fails, with a text.

With --sim (or GGAS_TRANSPORT=sim) programs of libggas run on simulated nodes, a rank at a time, in simulated order. The
simulator takes the options in GGAS_SIMULATOR_OPTIONS, as '--nic rtl --platform modern' (ggas-simulator --help). With
--programs, which `./ggas sim` gives, ranks have programs of their own, as the file says.

examples:
  {NAME} -n 4 --sim program
  {NAME} -n 4 --hosts node1,node2 program
  {NAME} -n 4 build/release/examples/real_gpus/real_gpus
  {NAME} -n 2 --stop sh -c 'CUDA_VISIBLE_DEVICES=$GGAS_RANK exec program'    each sees its own GPU only
  {NAME} --mpi-types -n 2 ./halo                                             a program of MPI, as it is
"""


def say(text):
    print(f"{NAME}: {text}", file=sys.stderr, flush=True)


def count(text):
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"'{text}': must be a number from 1 to {MOST}")
    return int(text)


def seconds(text):
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"'{text}': must be a number of seconds from 1 to {MOST_SECONDS}")
    return int(text)


def hosts(text):
    """Names of computers, none of which ssh could take for an option."""
    names = text.split(",")
    for name in names:
        if not HOST.fullmatch(name):
            raise argparse.ArgumentTypeError(f"'{name[:80]}': is not a valid host name")
    return names


def programs(path):
    """What a scenario has said: programs by rank, and options of the simulator."""
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"'{path}': {error}") from error


def is_here(name):
    own = socket.gethostname()
    return name in ("localhost", "127.0.0.1", "::1", own, own.split(".")[0]) or name == socket.getfqdn()


def options(arguments):
    parser = argparse.ArgumentParser(
        prog=NAME,
        usage=f"{NAME} -n N [--hosts A,B,...] [--sim] [--stop] [--timeout S] [--mpi-types] PROGRAM [...]",
        description="Starts the processes of a job, one for each node: on this computer, or on those of --hosts.",
        epilog=MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", type=count, metavar="N", help=f"processes, as many as nodes, 1 to {MOST}")
    parser.add_argument("--sim", action="store_true", help="on simulated nodes, for programs of libggas")
    parser.add_argument("--stop", action="store_true", help=f"when one fails, end the others (TERM, after {KILL_AFTER_S} s KILL)")
    parser.add_argument("--timeout", type=seconds, metavar="S",
                        help=f"end the job after S seconds (TERM, after {KILL_AFTER_S} s KILL), with exit status 124")
    parser.add_argument("--mpi-types", action="store_true", help="by the mpirun of the program's MPI, with datatypes of GGAS before it")
    parser.add_argument("--programs", type=programs, metavar="FILE", help=argparse.SUPPRESS)  # of ./ggas sim
    parser.add_argument("--hosts", type=hosts, metavar="A,B,...", help="computers of the ranks, in blocks")
    parser.add_argument("--root", metavar="ADDRESS", help="where rank 0 listens and the others reach it (its computer's name)")
    parser.add_argument("--rsh", metavar="COMMAND", default=os.environ.get("GGAS_RSH") or RSH, help=f"starts a command elsewhere ({RSH})")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    chosen = parser.parse_args(arguments)
    if chosen.program[:1] == ["--"]:
        del chosen.program[0]
    if chosen.programs:
        if chosen.n or chosen.program or chosen.sim or chosen.hosts or chosen.mpi_types:
            parser.error("--programs cannot be combined with options other than --stop and --timeout")
        chosen.n = chosen.programs["size"]
        return chosen
    if not chosen.n:
        parser.error("the following arguments are required: -n")
    if not chosen.program:
        parser.error("no program")
    if chosen.sim and chosen.mpi_types:
        parser.error("--sim is for programs of libggas, --mpi-types for programs of an MPI")
    if chosen.hosts and (chosen.sim or chosen.mpi_types or os.environ.get("GGAS_TRANSPORT") == "sim"):
        parser.error("--hosts cannot be combined with --sim or --mpi-types")
    if chosen.root and not HOST.fullmatch(chosen.root):
        parser.error(f"--root '{chosen.root[:80]}': is not a valid host name")
    if not shlex.split(chosen.rsh):
        parser.error("--rsh: must be a command")
    return chosen


def how_it_ended(code):
    if code >= 0:
        return f"exit status {code}"
    names = {number.value: f" ({number.name})" for number in signal.Signals}  # real-time signals have no name
    return f"signal {-code}{names.get(-code, '')}"


# What a program of an MPI is linked with, what the answer of its mpirun has, and the option that passes a variable on.
MPIS = {"openmpi": ("libmpi.so.40", "Open MPI", ["-x", "LD_PRELOAD={}"]), "mpich": ("libmpich.so.12", "HYDRA", ["-genv", "LD_PRELOAD", "{}"])}


def answer(*words):
    """What a command says; nothing if there is none."""
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def mpi_of(program):
    """By what the program is linked with; of a script the MPI of this computer's mpirun."""
    linked, says = answer("ldd", shutil.which(program) or program), answer("mpirun", "--version")
    for place, text in ((0, linked), (1, says)):
        for name, about in MPIS.items():
            if about[place] in text:
                return name
    raise ValueError("linked with neither Open MPI 4.1 nor MPICH 4.0, and there is no mpirun of one of them")


def library_of(mpi):
    """As built here, or as installed next to this command."""
    here = Path(__file__).resolve()
    build = Path(os.environ.get("GGAS_BUILD") or here.parents[2] / "build" / "release")
    for folder in (build / "userlib" / "mpi", *sorted(here.parents[1].glob("lib*/ggas")), *sorted(here.parents[1].glob("lib*/*/ggas"))):
        library = folder / mpi / "libggas_mpi_types.so"
        if library.exists():
            return library
    raise ValueError(f"there is no libggas_mpi_types.so for {mpi}: ./ggas build ggas_mpi_types_{mpi} makes it where {mpi} is installed")


def under_mpirun(program, size):
    mpi = mpi_of(program[0])
    passed_on = [word.format(library_of(mpi)) for word in MPIS[mpi][2]]
    return [shutil.which(f"mpirun.{mpi}") or "mpirun", "-n", str(size), *passed_on, *program]


def simulator():
    """The program: next to this one as installed, or in the build of the tree."""
    beside = Path(os.path.realpath(__file__)).parent
    built = sorted(beside.parents[1].glob("build/*/programs/simulator/ggas-simulator"))
    for path in (os.environ.get("GGAS_SIMULATOR"), beside / "ggas-simulator", *built, shutil.which("ggas-simulator")):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise OSError("ggas-simulator is not here: build it, or name it in GGAS_SIMULATOR")


# The shell command for ranks on other computers: it reads the secret, starts the program in a separate process group,
# and sends it the signals whose names it receives next. When the pipe ends, it ends the program. Background processes
# of a shell ignore INT and QUIT: env restores them.
ELSEWHERE = """IFS= read -r GGAS_SECRET || exit 127
export GGAS_SECRET
cd {folder} || exit 127
exec 3<&0
setsid env --default-signal=INT --default-signal=QUIT {words} </dev/null 3<&- &
program=$!
{{ while read -r name; do kill -s "$name" -- "-$program" || kill -s "$name" "$program"; done; kill -s KILL -- "-$program"; }} <&3 2>/dev/null &
watch=$!
wait $program
status=$?
kill $watch
exit $status
"""


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


def elsewhere(variables, program):
    mine = {name: value for name, value in os.environ.items() if name.startswith("GGAS_") or name == "LD_LIBRARY_PATH"}
    words = [f"{name}={value}" for name, value in {**mine, **variables}.items() if name != "GGAS_SECRET"]
    return ELSEWHERE.format(folder=shlex.quote(os.getcwd()), words=shlex.join([*words, *program]))


def free_port(host):
    """Where rank 0 may listen: free here; on another computer at random, and rank 0 says if it is not."""
    if not is_here(host):
        return 49152 + secrets.randbelow(16384)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def root_of(chosen, places):
    """Loopback addresses lead nowhere from other computers."""
    root = chosen.root or places[0].split("@")[-1]
    if not chosen.root and is_here(root) and not all(is_here(p) or p.startswith("127.") for p in places):
        root = socket.gethostname()
    elif not chosen.root and root == "localhost":
        root = "127.0.0.1"
    return f"[{root}]:{free_port(root)}" if ":" in root else f"{root}:{free_port(root)}"


class Job:
    def __init__(self):
        # No other job has this name, on no computer and in no container.
        self.name = f"run.{os.getpid()}.{secrets.token_hex(6)}"
        self.secret = secrets.token_hex(16)  # what its processes know and no other
        self.processes = []  # kept: an object that goes takes its process's status with it
        self.ranks = {}  # of those that run, by their number
        self.pipes = {}  # to the shells elsewhere, by the number of what leads to them
        self.simulator = None
        self.guard = subprocess.Popen(["/bin/sh", "-c", GUARD], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      bufsize=0, process_group=0)
        self.started = False
        self.early = []  # signals that came before all were started
        self.worst = 0
        self.expected = {}  # exit status of a rank, if it is not 0
        self.stopping = self.killed = False

    def variables(self, rank, size):
        return dict(GGAS_RANK=str(rank), GGAS_SIZE=str(size), GGAS_JOB=self.name, GGAS_SECRET=self.secret, GGAS_REPORT="1")

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
        options = dict(env={**os.environ, **variables}, stdin=reads, stdout=writes, process_group=0)
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
        environment = dict(os.environ, GGAS_RANK="0", GGAS_SIZE=str(size), GGAS_JOB=self.name, GGAS_SECRET=self.secret)
        self.simulator = subprocess.Popen([simulator(), *options], env=environment,
                                          stdin=subprocess.DEVNULL, process_group=0)
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
            say(f"time is up: ranks {', '.join(str(r) for r in sorted(self.ranks.values()))} still run")
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
                say(f"the simulator ended with {how_it_ended(code)}")
                self.worst = max(self.worst, 1)
                self.stop()
                continue
            expected = self.expected.get(rank, 0)
            if rank is None or (code if code >= 0 else 128 - code) == expected:
                continue
            if process in self.pipes:
                self.pipes.pop(process).close()
                code = 128 - code if 128 < code <= 192 else code  # as a shell reports a signal: here -number
            if self.stopping and -code in (signal.SIGTERM, signal.SIGKILL):
                continue  # the launcher's doing
            say(f"rank {rank} ended with {how_it_ended(code)}" + (f", not {expected}" if expected else ""))
            self.worst = max(self.worst, code or 1 if code >= 0 else 128 - code)
            if stop:
                self.stop()


def main(arguments):
    chosen = options(arguments)
    job = Job()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, the end of processes is not reported
    for number in PASSED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
            signal.signal(number, job.pass_on)
    signal.signal(signal.SIGALRM, job.on_alarm)
    if chosen.timeout:
        signal.alarm(chosen.timeout)
    try:
        if chosen.mpi_types:
            job.start_one(under_mpirun(chosen.program, chosen.n), 0, {})  # mpirun gives its processes their ranks
        else:
            if chosen.sim or chosen.programs or os.environ.get("GGAS_TRANSPORT") == "sim":
                os.environ["GGAS_TRANSPORT"] = "sim"
                job.start_simulator(chosen.n, chosen.programs["simulator"] if chosen.programs else
                                    shlex.split(os.environ.get("GGAS_SIMULATOR_OPTIONS", "")))
            if chosen.programs:
                job.start_programs(chosen.programs)
            elif chosen.hosts:
                job.start_on(chosen)
            else:
                job.start(chosen.program, chosen.n)
    except (OSError, ValueError) as error:
        what = getattr(error, "filename", None) or (chosen.program or ["programs"])[0]
        say(f"{what}: {getattr(error, 'strerror', None) or error}")
        job.worst = 127
        job.stop()
    job.all_started()
    job.wait(chosen.stop)
    job.end_simulator()
    return job.worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
