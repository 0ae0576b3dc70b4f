# SPDX-License-Identifier: Apache-2.0
"""The search itself, on listings of a probe loop: written by hand in the shape in which nvcc 13.0.88 lost the node
(samples/taken.sass: the distance of segments in UR4 over a YIELD, lanes that are done load `queues` into it), and in
two shapes that are right."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def search(*arguments):
    program = [sys.executable, str(HERE / "uniform_registers.py"), *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=False, env={**os.environ, "PATH": ""})


def in_sample(name):
    return search("--listing", str(HERE / "samples" / name))


def test_a_register_that_other_lanes_take_is_found():
    done = in_sample("taken.sass")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "UR4 is needed behind  /*0070*/" in done.stdout
    assert "lanes parted at           /*00d0*/ @P0 BRA 0x40" in done.stdout
    assert "its value is that of      /*0040*/ ULDC.64 UR4, c[0x3][0x10]" in done.stdout
    assert "other lanes overwrite it  /*00e0*/ ULDC.64 UR4, c[0x3][0x38]" in done.stdout


def test_a_register_of_their_own_is_none_of_it():
    assert in_sample("kept.sass").returncode == 0


def test_lanes_that_have_met_again_take_nothing():
    assert in_sample("together.sass").returncode == 0


# A branch that all lanes take alike parts nobody.
def test_a_branch_on_what_is_the_same_for_all(tmp_path):
    text = (HERE / "samples" / "taken.sass").read_text()
    same = text.replace("ISETP.NE.U32.AND P0, PT, R8, RZ, PT", "ISETP.NE.U32.AND P0, PT, R14, RZ, PT")
    (tmp_path / "same.sass").write_text(same)
    assert same != text and search("--listing", str(tmp_path / "same.sass")).returncode == 0


def test_the_same_word_loaded_by_others_is_the_same_value(tmp_path):
    text = (HERE / "samples" / "taken.sass").read_text()
    (tmp_path / "anew.sass").write_text(text.replace("c[0x3][0x38]", "c[0x3][0x10]"))
    assert search("--listing", str(tmp_path / "anew.sass")).returncode == 0


def test_files_without_machine_code_are_wrong(tmp_path):
    (tmp_path / "empty.sass").write_text("")
    assert search("--listing", str(tmp_path / "empty.sass")).returncode == 2


def test_without_cuobjdump_it_is_skipped():
    assert search("some.o").returncode == 77
