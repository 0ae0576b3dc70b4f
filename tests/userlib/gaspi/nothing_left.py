#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nothing_left.py COMMAND...`: runs a job and ends with its status; 3 if something of it is left on this computer.

It looks for processes of the job (also if another process adopted them), names of its sockets, shared memory with a
name, and files. Other jobs at the same time do not count: processes are recognised by a mark in their environment, and
the names of other jobs disappear.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import uuid

MARK = "GGAS_TEST_MARK"
LIMIT_S = 20  # until all is gone
SHARED = pathlib.Path("/dev/shm")


def processes(mark):
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                found.append(f"process {folder.name}: {(folder / 'cmdline').read_bytes().decode(errors='replace')}")
    return found


def names():
    """Of sockets and of shared memory."""
    sockets = {line.split()[-1] for line in pathlib.Path("/proc/net/unix").read_text().splitlines() if "@ggas." in line}
    return sockets | {str(path) for path in SHARED.glob("*ggas*")}


def left(mark, before, folder, seen):
    new = {name for name in names() - before if seen is None or name in seen}
    return processes(mark), new, [str(path) for path in folder.rglob("*")]


def main():
    mark, before = uuid.uuid4().hex, names()
    with tempfile.TemporaryDirectory() as folder:
        status = subprocess.run(sys.argv[1:], env=os.environ | {MARK: mark, "TMPDIR": folder}, check=False).returncode
        end, seen = time.monotonic() + LIMIT_S, None
        while any(found := left(mark.encode(), before, pathlib.Path(folder), seen)) and time.monotonic() < end:
            seen = found[1]
            time.sleep(0.1)
    for line in (line for kind in found for line in kind):
        print(f"left: {line}", file=sys.stderr)
    return 3 if any(found) else status


if __name__ == "__main__":
    sys.exit(main())
