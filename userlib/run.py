#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of a job on this computer, one for each node: `./ggas run -n 4 program arguments...`

Each process gets GGAS_RANK, GGAS_SIZE and GGAS_JOB and writes to the launcher's output as it is. INT, TERM, HUP, USR1
and USR2 are passed on. The exit status is the worst one; 128 + number for a process that a signal ended.
"""

import argparse
import os
import signal
import subprocess
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
MOST = 1024  # processes of a job
PATIENCE_S = 5  # from TERM to KILL, with --stop


def say(text):
    print(f"ggas run: {text}", file=sys.stderr, flush=True)


def count(text):
    if not text.isdigit() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"'{text}': must be a number from 1 to {MOST}")
    return int(text)


def options(arguments):
    parser = argparse.ArgumentParser(prog="ggas run", description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=count, required=True, metavar="N", help="processes, as many as nodes")
    parser.add_argument("--stop", action="store_true", help="when one fails, end the others (TERM, later KILL)")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="the program and its arguments")
    chosen = parser.parse_args(arguments)
    if chosen.program[:1] == ["--"]:
        del chosen.program[0]
    if not chosen.program:
        parser.error("no program")
    return chosen


class Job:
    def __init__(self):
        self.processes = []
        self.ranks = {}  # of those that run, by their number
        self.started = False
        self.early = []  # signals that came before all were started
        self.worst = 0
        self.stopping = False

    def start(self, program, size):
        """All processes, in groups of their own: a signal of the terminal comes once, through the launcher."""
        for rank in range(size):
            environment = dict(os.environ, GGAS_RANK=str(rank), GGAS_SIZE=str(size), GGAS_JOB=f"run.{os.getpid()}")
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
        for process in self.ranks:
            os.kill(process, number)

    def stop(self):
        if not self.stopping:
            self.stopping = True
            self.send(signal.SIGTERM)
            signal.alarm(PATIENCE_S)

    def wait(self, stop):
        while self.ranks:
            process, status = os.wait()
            rank = self.ranks.pop(process, None)
            if rank is None or status == 0:
                continue
            code = os.waitstatus_to_exitcode(status)
            how = f"exit status {code}" if code > 0 else f"signal {-code} ({signal.Signals(-code).name})"
            if self.stopping and -code in (signal.SIGTERM, signal.SIGKILL):
                continue  # the launcher's doing
            say(f"rank {rank} ended with {how}")
            self.worst = max(self.worst, code if code > 0 else 128 - code)
            if stop:
                self.stop()


def main(arguments):
    chosen = options(arguments)
    job = Job()
    for number in PASSED_ON:
        signal.signal(number, job.pass_on)
    signal.signal(signal.SIGALRM, lambda *_: job.send(signal.SIGKILL))
    try:
        job.start(chosen.program, chosen.n)
    except OSError as error:
        say(f"{chosen.program[0]}: {error.strerror}")
        job.worst = 127
        job.stop()
    job.all_started()
    job.wait(chosen.stop)
    return job.worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
