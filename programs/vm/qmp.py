# SPDX-License-Identifier: Apache-2.0
"""Commands to a running QEMU (QMP): what a person's hands do to a node."""

import json
import socket

from debian import Missing

LIMIT = 30  # seconds that an answer may take


class Monitor:
    def __init__(self, path):
        self.path = path
        self.line = socket.socket(socket.AF_UNIX)
        self.line.settimeout(LIMIT)
        self.line.connect(str(path))
        self.input = self.line.makefile("r")
        self.command("qmp_capabilities")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.input.close()
        self.line.close()

    def command(self, name, **arguments):
        try:
            self.line.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        except BrokenPipeError:
            raise Missing(f"{self.path}: {name}: QEMU ended") from None
        answer = {}
        while not answer.keys() & {"return", "error"}:  # events come between
            line = self.input.readline()
            if not line:
                raise Missing(f"{self.path}: QEMU ended")
            answer = json.loads(line)
        if "error" in answer:
            raise Missing(f"{self.path}: {name}: {answer['error']['desc']}")
