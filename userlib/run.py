#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of a job on this computer, one for each node: `./ggas run -n 4 program arguments...`"""

import argparse
import os
import secrets
import signal
import subprocess
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
MOST = 1024  # processes of a job
MOST_SECONDS = 10**7
TIMED_OUT = 124  # exit status, as that of timeout(1)
PATIENCE_S = 5  # from TERM to KILL, with --stop or --timeout

NAME = "ggas-run" if os.path.basename(sys.argv[0]) == "ggas-run" else "./ggas run"  # as installed, or as the launcher calls it

MORE = f"""\
Each process gets GGAS_RANK (0 to N - 1), GGAS_SIZE, GGAS_JOB and GGAS_SECRET, and writes to the output of this command as it is.
With GGAS_REPORT, which it gets too, a process that INT or TERM ends says first which of its kernels waited for what.
Rank 0 reads what is piped in. INT, TERM, HUP, USR1 and USR2 are passed on to all processes and what they started.
The exit status is the worst one; 128 + number for a process that a signal ended.

examples:
  {NAME} -n 4 build/release/examples/real_gpus/real_gpus
  {NAME} -n 2 --stop sh -c 'CUDA_VISIBLE_DEVICES=$GGAS_RANK exec program'    each sees its own GPU only
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


def options(arguments):
    parser = argparse.ArgumentParser(
        prog=NAME,
        usage=f"{NAME} -n N [--stop] [--timeout S] PROGRAM [...]",
        description="Starts the processes of a job on this computer, one for each node.",
        epilog=MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", type=count, required=True, metavar="N", help=f"processes, as many as nodes, 1 to {MOST}")
    parser.add_argument("--stop", action="store_true", help=f"when one fails, end the others (TERM, after {PATIENCE_S} s KILL)")
    parser.add_argument("--timeout", type=seconds, metavar="S",
                        help=f"end the job after S seconds (TERM, after {PATIENCE_S} s KILL), with exit status 124")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    chosen = parser.parse_args(arguments)
    if chosen.program[:1] == ["--"]:
        del chosen.program[0]
    if not chosen.program:
        parser.error("no program")
    return chosen


def how_it_ended(code):
    if code >= 0:
        return f"exit status {code}"
    names = {number.value: f" ({number.name})" for number in signal.Signals}  # real-time signals have no name
    return f"signal {-code}{names.get(-code, '')}"


class Job:
    def __init__(self):
        # No other job has this name, on no computer and in no container.
        self.name = f"run.{os.getpid()}.{secrets.token_hex(6)}"
        self.secret = secrets.token_hex(16)  # what its processes know and no other
        self.processes = []  # kept: an object that goes takes its process's status with it
        self.ranks = {}  # of those that run, by their number
        self.started = False
        self.early = []  # signals that came before all were started
        self.worst = 0
        self.stopping = False

    def start(self, program, size):
        """All processes, in groups of their own: a signal of the terminal comes once, through the launcher."""
        for rank in range(size):
            environment = dict(os.environ, GGAS_RANK=str(rank), GGAS_SIZE=str(size), GGAS_JOB=self.name, GGAS_SECRET=self.secret, GGAS_REPORT="1")
            # One process may read what is piped in; nobody reads from a terminal.
            reads = None if rank == 0 and not sys.stdin.isatty() else subprocess.DEVNULL
            process = subprocess.Popen(program, env=environment, stdin=reads, process_group=0)
            self.processes.append(process)
            self.ranks[process.pid] = rank

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
            os.killpg(process, number)

    def on_alarm(self, *_):
        """Time is up: of the job, or of those that were asked to end."""
        if self.stopping:
            self.send(signal.SIGKILL)
        else:
            say(f"time is up: ranks {', '.join(str(r) for r in sorted(self.ranks.values()))} still run")
            self.worst = max(self.worst, TIMED_OUT)
            self.stop()

    def stop(self):
        if not self.stopping:
            self.stopping = True
            self.send(signal.SIGTERM)
            signal.alarm(PATIENCE_S)

    def wait(self, stop):
        while self.ranks:
            # Forgotten first: once the system has forgotten it too, its number may be another process's.
            process = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
            rank = self.ranks.pop(process, None)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            if rank is None or code == 0:
                continue
            if self.stopping and -code in (signal.SIGTERM, signal.SIGKILL):
                continue  # the launcher's doing
            say(f"rank {rank} ended with {how_it_ended(code)}")
            self.worst = max(self.worst, code if code > 0 else 128 - code)
            if stop:
                self.stop()


def main(arguments):
    chosen = options(arguments)
    job = Job()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody hears how processes end
    for number in PASSED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
            signal.signal(number, job.pass_on)
    signal.signal(signal.SIGALRM, job.on_alarm)
    if chosen.timeout:
        signal.alarm(chosen.timeout)
    try:
        job.start(chosen.program, chosen.n)
    except (OSError, ValueError) as error:
        say(f"{chosen.program[0]}: {getattr(error, 'strerror', None) or error}")
        job.worst = 127
        job.stop()
    job.all_started()
    job.wait(chosen.stop)
    return job.worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
