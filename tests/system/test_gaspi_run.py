# SPDX-License-Identifier: Apache-2.0
"""`gaspi_run -m FILE -n N`: machine files, good and bad."""

import random
import re
import runpy
import socket
import subprocess

import pytest
from conftest import ROOT


def gaspi_run(*arguments):
    return subprocess.run([ROOT / "programs" / "run" / "gaspi_run.py", *arguments], capture_output=True, text=True, timeout=60)


@pytest.fixture
def machines(tmp_path):
    def write(data):
        (tmp_path / "machines").write_bytes(data if isinstance(data, bytes) else data.encode())
        return tmp_path / "machines"

    return write


def test_a_line_is_a_rank(machines):
    file = machines(f"# all\nlocalhost\n\n{socket.gethostname()} # again\nlocalhost\n")
    script = ["sh", "-c", "echo $GGAS_RANK $GGAS_SIZE ${#GGAS_SECRET}"]
    assert sorted(gaspi_run("-m", file, *script).stdout.split("\n")) == ["", "0 3 32", "1 3 32", "2 3 32"]
    assert gaspi_run("-m", file, "-n", "1", *script).stdout == "0 1 32\n"
    assert gaspi_run("-m", file, "-n", "2", "sh", "-c", "exit $GGAS_RANK").returncode == 1


def test_a_script_of_no_named_interpreter_is_one_of_the_shell(machines, tmp_path):
    script = tmp_path / "script"
    script.write_text("echo $GGAS_RANK $1\n")
    script.chmod(0o755)
    done = gaspi_run("-m", machines("localhost\nlocalhost\n"), script, "word")
    assert sorted(done.stdout.split("\n")) == ["", "0 word", "1 word"], done.stderr
    script.chmod(0o644)
    assert gaspi_run("-m", machines("localhost\n"), script).returncode != 0


@pytest.mark.parametrize(
    "text, arguments, why",
    [
        ("", [], "names no computer"),
        ("# nobody\n", [], "names no computer"),
        ("localhost\n-oProxyCommand=x\n", [], "line 2: '-oProxyCommand=x' is no name of a computer"),
        ("localhost\na b\n", [], "line 2: 'a b' is no name of a computer"),
        ("localhost\n", ["-n", "2"], "-n 2: must be 1 to 1"),
        ("localhost\n", ["-n", "0"], "-n 0: must be 1 to 1"),
        ("x" * (1 << 21), [], "at most 1048576 are read"),
    ],
)
def test_a_bad_file_is_told(machines, text, arguments, why):
    done = gaspi_run("-m", machines(text), *arguments, "true")
    assert done.returncode == 1 and why in done.stderr and "Traceback" not in done.stderr


def test_a_missing_file_is_told(tmp_path):
    done = gaspi_run("-m", tmp_path / "none", "true")
    assert done.returncode == 1 and "No such file" in done.stderr


def test_noise_is_no_machine_file(machines):
    noise = random.Random(5)
    for _ in range(5):
        done = gaspi_run("-m", machines(noise.randbytes(300)), "true")
        assert done.returncode == 1 and "Traceback" not in done.stderr


def test_any_change_of_a_machine_file_is_taken_or_told(machines):
    """Noise in good files: names of computers or one line of text, and never anything else."""
    hosts_of = runpy.run_path(str(ROOT / "programs" / "run" / "gaspi_run.py"))["hosts_of"]
    noise = random.Random(11)
    good = b"localhost # first\n\n  localhost\n# nobody\n127.0.0.1\r\nlocalhost\n"
    told = 0
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(noise.randrange(1, 6)):
            at = noise.randrange(len(data))
            data[at : at + noise.randrange(3)] = noise.choice([b"", b"\0", b"\xff\xfe", b"#", b"\n", b"\x0b", noise.randbytes(4)])
        try:
            names = hosts_of(machines(bytes(data)))
            assert 1 <= len(names) <= 64
            assert all(re.fullmatch(r"[\w.:@%\[\]][\w.:@%\[\]-]*", name, re.ASCII) for name in names)
        except SystemExit as end:
            told += 1
            assert str(end).startswith("gaspi_run: machine file ") and "\n" not in str(end).replace(str(machines(bytes(data))), "")
    assert 100 < told < 2000
