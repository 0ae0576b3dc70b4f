# SPDX-License-Identifier: Apache-2.0
"""Tests the search on listings of a probe loop: the faulty code of nvcc 13.0.88, written by hand (samples/taken.sass:
UR4 holds the distance of segments over a YIELD, and lanes that are done load `queues` into it); two correct ones; and
copies with one changed line: each change that repairs the code, and a similar one that does not."""
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
COMPARE = "        /*00c0*/                   ISETP.NE.U32.AND P0, PT, R8, RZ, PT ;\n"
LEAVE = "        /*00d0*/               @P0 BRA `(.L_x_0) ;\n"
OTHER = "        /*00e0*/                   ULDC.64 UR4, c[0x3][0x38] ;\n"


def search(*arguments):
    program = [sys.executable, str(HERE / "uniform_registers.py"), *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False, env={**os.environ, "PATH": ""})


def in_sample(name):
    return search("--listing", HERE / "samples" / name)


def found_with(folder, sample, old, new, behind=""):
    """Whether something is found in a sample with some lines replaced; `after`: lines at its end."""
    text = (HERE / "samples" / sample).read_text()
    assert text.count(old) == 1
    (folder / "changed.sass").write_text(text.replace(old, new) + behind)
    done = search("--listing", folder / "changed.sass")
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode == 1


def lines(first, *instructions):
    """Instructions from an address on."""
    return "".join(f"        /*{first + n:04x}*/  {i} ;\n" for n, i in enumerate(instructions))


def test_a_register_that_other_lanes_take_is_found():
    done = in_sample("taken.sass")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "UR4 is needed behind  /*0070*/" in done.stdout
    assert "lanes parted at           /*00d0*/ @P0 BRA" in done.stdout
    assert "other lanes overwrite it  /*00e0*/ ULDC.64 UR4, c[0x3][0x38]" in done.stdout


def test_what_was_looked_at_by_hand_is_printed_and_no_failure(tmp_path):
    text = (HERE / "samples" / "taken.sass").read_text()
    (tmp_path / "known.sass").write_text(text.replace("probe_loop", "_ZN4ggas5calls10ring_sizesE"))
    done = search("--listing", tmp_path / "known.sass")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "UR4 is needed" in done.stdout and "harmless: only lane 0" in done.stdout and " 0 findings" in done.stdout


@pytest.mark.parametrize("name", ["kept", "together"])
def test_right_shapes(name):
    assert in_sample(name + ".sass").returncode == 0


# What the loop's branch depends on: only what may differ between lanes parts them.
@pytest.mark.parametrize("right, wrong", [
    (["ISETP.NE.U32.AND P0, PT, R14, RZ, PT"], ["ISETP.NE.U32.AND P0, PT, R0, RZ, PT"]),
    # by way of the lanes' own memory
    (["STL.64 [R1+0x8], R14", "LDL R9, [R1+0xc]", "ISETP.NE.AND P0, PT, R9, RZ, PT"],
     ["STL.64 [R1+0x8], R8", "LDL R9, [R1+0xc]", "ISETP.NE.AND P0, PT, R9, RZ, PT"]),
    (["STL [R1+0x8], R14", "STL [R1+0x4], R8", "LDL R9, [R1+0x8]", "ISETP.NE.AND P0, PT, R9, RZ, PT"],
     ["STL [R1+0x8], R14", "STL [R6], R8", "LDL R9, [R1+0x8]", "ISETP.NE.AND P0, PT, R9, RZ, PT"]),
    # reported by one lane
    (["SHFL.IDX PT, R9, R8, RZ, 0x1f", "ISETP.NE.AND P0, PT, R9, RZ, PT"],
     ["SHFL.IDX PT, R9, R8, R0, 0x1f", "ISETP.NE.AND P0, PT, R9, RZ, PT"]),
    (["ISETP.NE.AND P2, PT, R8, RZ, PT", "VOTE.ANY P0, P2"],
     ["ISETP.NE.AND P2, PT, R8, RZ, PT", "SHFL.DOWN PT, R9, R8, 0x1, 0x1f", "ISETP.NE.AND P0, PT, R9, RZ, PT"]),
    # set under a condition and its opposite; under the first alone, what was there before stays
    (["ISETP.NE.AND P2, PT, R14, RZ, PT", "@P2 MOV R8, R14", "@!P2 MOV R8, RZ", "ISETP.NE.AND P0, PT, R8, RZ, PT"],
     ["ISETP.NE.AND P2, PT, R14, RZ, PT", "@P2 MOV R8, R14", "ISETP.NE.AND P0, PT, R8, RZ, PT"]),
    (["ISETP.NE.AND P2, PT, R14, RZ, PT", "@P2 MOV R8, R14", "@P2 MOV R9, R8", "@!P2 MOV R9, RZ",
      "ISETP.NE.AND P0, PT, R9, RZ, PT"],
     ["ISETP.NE.AND P2, PT, R14, RZ, PT", "@P2 MOV R8, R14", "ISETP.NE.AND P2, PT, R15, RZ, PT", "@P2 MOV R9, R8",
      "@!P2 MOV R9, RZ", "ISETP.NE.AND P0, PT, R9, RZ, PT"]),
    # 16 bits of a register
    (["PRMT R8, R14, 0x7610, R8", "PRMT R9, R8, 0x9910, RZ", "ISETP.NE.AND P0, PT, R9, RZ, PT"],
     ["PRMT R8, R14, 0x5410, R8", "PRMT R9, R8, 0x9910, RZ", "ISETP.NE.AND P0, PT, R9, RZ, PT"]),
    # kept in a register over what writes it: the predicate of the mask alone
    (["ISETP.NE.AND P2, PT, R0, RZ, PT", "ISETP.NE.AND P0, PT, R14, RZ, PT", "P2R R20, PR, RZ, 0x1",
      "ISETP.NE.AND P0, PT, R0, RZ, PT", "ISETP.NE.AND P0, PT, R20, RZ, PT"],
     ["ISETP.NE.AND P2, PT, R0, RZ, PT", "ISETP.NE.AND P0, PT, R14, RZ, PT", "P2R R20, PR, RZ, 0x4",
      "ISETP.NE.AND P0, PT, R14, RZ, PT", "ISETP.NE.AND P0, PT, R20, RZ, PT"]),
    # which it leaves as they are
    (["ISETP.NE.AND P0, PT, R14, RZ, PT", "P2R R20, PR, R0, 0x1"],
     ["ISETP.NE.AND P0, PT, R0, RZ, PT", "P2R R20, PR, R14, 0x2"]),
    # two predicates kept in bits of one register
    (["ISETP.NE.AND P2, PT, R14, RZ, PT", "ISETP.NE.AND P3, PT, R8, RZ, PT",
      "LOP3.LUT R9, R9, 0xfffffffb, RZ, 0xc0, !PT", "@P2 LOP3.LUT R9, R9, 0x4, RZ, 0xfc, !PT",
      "LOP3.LUT R9, R9, 0xfffffff7, RZ, 0xc0, !PT", "@P3 LOP3.LUT R9, R9, 0x8, RZ, 0xfc, !PT",
      "LOP3.LUT P0, RZ, R9, 0x4, RZ, 0xc0, !PT"],
     ["ISETP.NE.AND P2, PT, R14, RZ, PT", "ISETP.NE.AND P3, PT, R8, RZ, PT",
      "LOP3.LUT R9, R9, 0xfffffffb, RZ, 0xc0, !PT", "@P2 LOP3.LUT R9, R9, 0x4, RZ, 0xfc, !PT",
      "LOP3.LUT R9, R9, 0xfffffff7, RZ, 0xc0, !PT", "@P3 LOP3.LUT R9, R9, 0x8, RZ, 0xfc, !PT",
      "LOP3.LUT P0, RZ, R9, 0x8, RZ, 0xc0, !PT"]),
    (["CS2R R8, SR_CLOCKLO", "ISETP.NE.AND P0, PT, R8, RZ, PT"],
     ["S2R R8, SR_LANEID", "ISETP.NE.AND P0, PT, R8, RZ, PT"]),
])
def test_branches(tmp_path, right, wrong):
    assert not found_with(tmp_path, "taken.sass", COMPARE, lines(0xc0, *right))
    assert found_with(tmp_path, "taken.sass", COMPARE, lines(0xc0, *wrong))


# What the other lanes write: the same value does no harm.
@pytest.mark.parametrize("right, wrong", [
    (["ULDC.64 UR4, c[0x3][0x10]"], ["ULDC.64 UR4, c[0x3][0x18]"]),
    (["UMOV UR6, 0x1"], ["UMOV UR4, 0x1"]),
    (["@P2 ULDC.64 UR4, c[0x3][0x10]"], ["@P2 ULDC.64 UR4, c[0x3][0x18]"]),
    # from where it was kept
    (["MOV R20, UR4", "R2UR UR4, R20"], ["MOV R20, UR8", "R2UR UR4, R20"]),
    # after a barrier of all lanes
    (["BAR.SYNC.DEFER_BLOCKING 0x0", "UMOV UR4, 0x1"], ["BAR.ARV 0x0", "UMOV UR4, 0x1"]),
    (["WARPSYNC.ALL", "UMOV UR4, 0x1"], ["WARPSYNC R20", "UMOV UR4, 0x1"]),
])
def test_writes(tmp_path, right, wrong):
    assert not found_with(tmp_path, "taken.sass", OTHER, lines(0xe0, *right))
    assert found_with(tmp_path, "taken.sass", OTHER, lines(0xe0, *wrong))


@pytest.mark.parametrize("register, found", [("UR4", True), ("UR6", False)])
def test_writes_of_called_functions(tmp_path, register, found):
    call = lines(0xe0, "CALL.REL.NOINC `($load)")
    function = "$load:\n" + lines(0x160, f"ULDC.64 {register}, c[0x3][0x38]", "RET.REL.NODEC R20 `(probe_loop)")
    assert found_with(tmp_path, "taken.sass", OTHER, call, function) == found


# A function called by lanes with numbers of their own, and with what is the same for all: two calls, two results.
@pytest.mark.parametrize("result, found", [("R21", False), ("R22", True)])
def test_calls_are_kept_apart(tmp_path, result, found):
    code = lines(0xb1, "MOV R20, R14", "CALL.REL.NOINC `($add)", "MOV R21, R20",
                 "MOV R20, R0", "CALL.REL.NOINC `($add)", "MOV R22, R20", f"ISETP.NE.AND P0, PT, {result}, RZ, PT")
    function = "$add:\n" + lines(0x160, "IADD3 R20, R20, 0x1, RZ", "RET.REL.NODEC R24 `(probe_loop)")
    assert found_with(tmp_path, "taken.sass", COMPARE, code, function) == found


@pytest.mark.parametrize("index, found", [("R14", False), ("R8", True)])
def test_jump_tables(tmp_path, index, found):
    jump = f'        /*00d0*/  BRX {index} -0xe0  (*"BRANCH_TARGETS .L_x_0,.L_x_9"*) ;\n.L_x_9:\n'
    assert found_with(tmp_path, "taken.sass", LEAVE, jump) == found


# One side of a branch needs a predicate for itself: it brings back what was there, or not.
@pytest.mark.parametrize("back, found", [("ISETP.NE.AND P3, PT, R20, RZ, PT", False),
                                         ("ISETP.NE.AND P3, PT, R21, RZ, PT", True)])
def test_a_predicate_brought_back(tmp_path, back, found):
    code = lines(0xb1, "ULDC UR10, c[0x3][0x40]", "ISETP.NE.AND P3, PT, RZ, UR10, PT", "BSSY B2, `(.L_x_8)",
                 "ISETP.NE.AND P2, PT, R0, RZ, PT", "@P2 BRA `(.L_x_7)", "P2R R20, PR, RZ, 0x8",
                 "ISETP.NE.AND P3, PT, R8, RZ, PT", "P2R R21, PR, RZ, 0x8", back)
    code += ".L_x_7:\n" + lines(0xba, "BSYNC B2") + ".L_x_8:\n" + lines(0xbb, "SEL R22, R14, RZ, P3")
    code += lines(0xbc, "ISETP.NE.U32.AND P0, PT, R22, RZ, PT")
    assert found_with(tmp_path, "taken.sass", COMPARE, code) == found


# Some lanes leave the barrier that all of them met at: the others go on without them.
def test_lanes_that_do_not_wait(tmp_path):
    move = "        /*00f0*/              @!P1 VIADD R6, R6, 0x8 ;\n"
    assert not found_with(tmp_path, "together.sass", move, move + lines(0xf1, "NOP"))
    assert found_with(tmp_path, "together.sass", move, move + lines(0xf1, "BREAK B1"))


def test_files_without_machine_code_are_wrong(tmp_path):
    (tmp_path / "empty.sass").write_text("")
    assert search("--listing", tmp_path / "empty.sass").returncode == 2


# What was clean is looked at again when it has changed, and what was not always.
def test_seen_before(tmp_path):
    listing = tmp_path / "loop.sass"
    listing.write_text((HERE / "samples" / "kept.sass").read_text())
    again = ["--listing", "--seen", tmp_path / "seen", listing]
    assert "0 objects seen before" in search(*again).stdout
    assert "1 objects seen before" in search(*again).stdout
    listing.write_text((HERE / "samples" / "taken.sass").read_text())
    assert [search(*again).returncode for _ in range(2)] == [1, 1]


def test_without_cuobjdump_it_is_skipped():
    assert search("some.o").returncode == 77


# Lane 0 alone, after the others have left or jumped: no lanes part there.
BEGIN = "        /*0030*/                   BSSY B0, `(.L_x_2) ;\n"
SET = "BSSY B0, `(.L_x_2)"


@pytest.mark.parametrize("right, wrong", [
    (["S2R R9, SR_LANEID", "ISETP.NE.AND P2, PT, R9, RZ, PT", "@P2 EXIT", SET],
     ["S2R R9, SR_TID.X", "ISETP.NE.AND P2, PT, R9, RZ, PT", "@P2 EXIT", SET]),  # lane 0 of a row of threads
    (["S2R R9, SR_LANEID", "MOV R10, R9", "ISETP.EQ.AND P2, PT, R10, RZ, PT", "@!P2 BRA `(.L_x_2)", SET],
     ["S2R R9, SR_LANEID", "MOV R10, R9", "ISETP.EQ.AND P2, PT, R10, RZ, PT", "@P2 BRA `(.L_x_2)", SET]),
    # the predicate is another one now
    (["S2R R9, SR_LANEID", "ISETP.NE.AND P3, PT, R0, RZ, PT", "ISETP.NE.AND P2, PT, R9, RZ, PT", "@P2 EXIT", SET],
     ["S2R R9, SR_LANEID", "ISETP.NE.AND P2, PT, R9, RZ, PT", "ISETP.NE.AND P2, PT, R0, RZ, PT", "@P2 EXIT", SET]),
    # the others wait at a barrier that was set before
    (["S2R R9, SR_LANEID", "ISETP.NE.AND P2, PT, R9, RZ, PT", "@P2 EXIT", "BSSY B1, `(.L_x_2)", "BSYNC B1", SET],
     ["S2R R9, SR_LANEID", "BSSY B1, `(.L_x_2)", "ISETP.NE.AND P2, PT, R9, RZ, PT", "@P2 EXIT", "BSYNC B1", SET]),
])
def test_lane_0_alone(tmp_path, right, wrong):
    assert not found_with(tmp_path, "taken.sass", BEGIN, lines(0x30, *right))
    assert found_with(tmp_path, "taken.sass", BEGIN, lines(0x30, *wrong))
