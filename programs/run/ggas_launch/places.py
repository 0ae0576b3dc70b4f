# SPDX-License-Identifier: Apache-2.0
"""Computers of a job: their names, which one is this, and how a rank starts on another one."""

import argparse
import os
import re
import secrets
import shlex
import socket

HOST = re.compile(r"[A-Za-z0-9_.:@%\[\]][A-Za-z0-9_.:@%\[\]-]{0,252}")


def hosts(text):
    """Names of computers, none of which ssh could take for an option."""
    names = text.split(",")
    for name in names:
        if not HOST.fullmatch(name):
            raise argparse.ArgumentTypeError(f"'{name[:80]}': is not a valid host name")
    return names


def is_here(name):
    own = socket.gethostname()
    return name in ("localhost", "127.0.0.1", "::1", own, own.split(".")[0]) or name == socket.getfqdn()


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
