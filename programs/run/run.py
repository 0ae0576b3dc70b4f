#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of a job on this computer, one for each node: `./ggas run -n 4 program arguments...`"""

import argparse
import json
import os
import shlex
import signal
import sys
import tempfile
from pathlib import Path

HERE = Path(os.path.realpath(__file__)).parent
sys.path.insert(0, str(HERE if (HERE / "ggas_launch").is_dir() else HERE.parent / "share" / "ggas"))

from ggas_launch.job import KILL_AFTER_S, Job  # noqa: E402
from ggas_launch.mpi import under_mpirun  # noqa: E402
from ggas_launch.mpi_threads import compiled  # noqa: E402
from ggas_launch.places import HOST, hosts  # noqa: E402

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
MOST = 1024  # processes of a job
MOST_SECONDS = 10**7
RSH = "ssh -o BatchMode=yes"

NAME = "ggas-run" if os.path.basename(sys.argv[0]) == "ggas-run" else "./ggas run"  # as installed, or as the launcher calls it

MORE = f"""\
Each process gets GGAS_RANK (0 to N - 1), GGAS_SIZE, GGAS_JOB and GGAS_SECRET, and writes to the output of this command as it is.
With GGAS_REPORT, which it gets too, a process that INT or TERM ends says first which of its kernels waited for what.
Rank 0 reads what is piped in. INT, TERM, HUP, USR1 and USR2 are passed on to all processes and what they started.
The exit status is the worst one; 128 + number for a process that a signal ended. If this command is killed, so are they.
With --mpi-types PROGRAM is one of Open MPI 4.1 or MPICH 4.0: their mpirun starts it, with libggas_mpi_types.so before the
MPI. Messages of datatypes in GPU memory are packed there then; with GGAS_MPI_TYPES=host also those in host memory.

With --ranks PROGRAM.c is a program of MPI in C. It is compiled here, and its ranks are threads of one process, so no MPI is
needed. What there is of MPI: docs/mpi-in-kernels.md, "Programs in C".

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
  {NAME} --ranks 64 program.c
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


def programs(path):
    """What a scenario has said: programs by rank, and options of the simulator."""
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"'{path}': {error}") from error


def options(arguments):
    parser = argparse.ArgumentParser(
        prog=NAME,
        usage=f"{NAME} -n N [--hosts A,B,...] [--sim] [--stop] [--timeout S] [--mpi-types] PROGRAM [...]\n       {NAME} --ranks N [--timeout S] PROGRAM.c [...]",
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
    parser.add_argument("--ranks", type=count, metavar="N", help=f"threads that are the ranks of a C program of MPI, 1 to {MOST}")
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
    if chosen.ranks:
        if chosen.n or chosen.sim or chosen.hosts or chosen.mpi_types:
            parser.error("--ranks cannot be combined with options other than --timeout")
        if not chosen.program or not chosen.program[0].endswith(".c"):
            parser.error("--ranks needs a source in C, PROGRAM.c")
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


def main(arguments):
    chosen = options(arguments)
    job = Job(say)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, the end of processes is not reported
    for number in PASSED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
            signal.signal(number, job.pass_on)
    signal.signal(signal.SIGALRM, job.on_alarm)
    if chosen.timeout:
        signal.alarm(chosen.timeout)
    folder = tempfile.TemporaryDirectory(prefix="ggas-run-")
    try:
        if chosen.ranks:
            job.start_one([compiled(chosen.program[0], folder.name), *chosen.program[1:]], 0, dict(GGAS_MPI_RANKS=str(chosen.ranks)))
        elif chosen.mpi_types:
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
    folder.cleanup()
    return job.worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
