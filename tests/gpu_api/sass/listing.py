# SPDX-License-Identifier: Apache-2.0
"""Listings of `cuobjdump -sass` as functions of instructions, with the registers that each reads and writes.

Registers are bits of one mask: UR0 ... UR62 are bits 0 ... 62, UP0 ... UP6 bits 64 ... 70, R0 ... R254 from bit
128 on, P0 ... P6 from bit 384 on.
"""
import re
from dataclasses import dataclass, field

UNIFORM = (1 << 71) - 1  # UR and UP
FIRST_UP, FIRST_R, FIRST_P = 64, 128, 384
ALL_UP = 0x7F << FIRST_UP
ALL_P = 0x7F << FIRST_P

FUNCTION = re.compile(r"^\s*Function : (\S+)")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P[0-9T])\s+)?([A-Z][A-Z0-9_.a-z]*)\s*([^;]*);")
REGISTER = re.compile(r"(?<![A-Za-z0-9_])(UR|UP|R|P)(\d+)\b")
# Operations that write a uniform register though their name does not begin with U.
UNIFORM_RESULT = ("R2UR", "S2UR", "CS2UR", "VOTEU", "REDUX", "CREDUX", "ELECT", "LDCU")
# Those whose first operands are predicates, all of them results.
PREDICATE_RESULT = ("ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "R2P", "FCHK", "UISETP", "UPLOP3", "UFSETP",
                    "UR2UP")
NO_RESULT = ("ST", "RED", "BRA", "BRX", "BSSY", "BSYNC", "BREAK", "EXIT", "CALL", "RET", "YIELD", "NOP", "MEMBAR",
             "WARPSYNC", "NANOSLEEP", "BAR", "CCTL", "ERRBAR", "BPT", "KILL", "JMP", "JMX", "FENCE", "DEPBAR", "UBLK",
             "UTMA", "UCGABAR", "SYNCS", "UMEMSETS", "BMOV", "ENDCOLLECTIVE", "USETMAXREG", "LDGSTS", "LDGDEPBAR",
             "PREEXIT", "ACQBULK", "CGAERRBAR")
# Their results may differ between lanes though their operands do not. A load from one address is the same for all.
OF_LANES = frozenset(("LDL", "ATOM", "ATOMG", "ATOMS", "LDSM", "SHFL", "MATCH", "SUATOM", "QSPC"))
# Not known before the program runs.
MEMORY = frozenset(("LD", "LDG", "LDS", "TLD", "B2R"))


def bits(mask):
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


def register_bit(kind, number):
    return 1 << ({"UR": 0, "UP": FIRST_UP, "R": FIRST_R, "P": FIRST_P}[kind] + number)


@dataclass
class Instruction:
    address: int
    guard: str  # "P0", "!UP1" or ""
    operation: str  # with its modifiers
    operands: list
    reads: int = 0
    writes: int = 0
    target: int = -1  # of a branch, a call, or where a barrier is waited at

    def __post_init__(self):
        self.name = self.operation.split(".", 1)[0]

    def text(self):
        guard = f"@{self.guard} " if self.guard else ""
        return f"/*{self.address:04x}*/ {guard}{self.operation} {', '.join(self.operands)}"


@dataclass
class Function:
    name: str
    code: list = field(default_factory=list)


def _mask(operand, wide=False):
    mask = 0
    for kind, number in REGISTER.findall(operand):
        mask |= register_bit(kind, int(number))
        if wide or f"desc[{kind}{number}]" in operand or f"{kind}{number}.64" in operand:
            mask |= register_bit(kind, int(number) + 1)
    return mask


def _result_width(operation):
    parts = operation.split(".")
    if "128" in parts:
        return 4
    if "64" in parts or "WIDE" in parts or parts[0] in ("DADD", "DMUL", "DFMA") or operation == "CS2R":
        return 2
    return 1


def _is_predicate(operand):
    return re.fullmatch(r"U?P(\d|T|R)", operand) is not None


def _results(operation, operands):
    """How many leading operands are results."""
    name = operation.split(".", 1)[0]
    if any(name == n or name.startswith(n) for n in NO_RESULT) and name not in ("REDUX", "STRONG"):
        return 0
    if name in PREDICATE_RESULT:
        count = 0
        while count < min(2, len(operands)) and _is_predicate(operands[count]):
            count += 1
        return count
    count = 0
    while count < len(operands) and _is_predicate(operands[count]):
        count += 1  # of an atomic, a load, a carry before the register
    if count < len(operands) and re.fullmatch(r"U?R(\d+|Z)(\.\w+)*", operands[count]):
        count += 1
        while count < len(operands) and _is_predicate(operands[count]) and name not in ("SEL", "FSEL", "USEL"):
            count += 1
    return count


def decode(address, guard, operation, operand_text):
    """An instruction with its masks; operands are split at commas outside of brackets."""
    operands = [o.strip() for o in re.split(r",(?![^\[]*\])", operand_text)] if operand_text.strip() else []
    i = Instruction(address, guard, operation, operands)
    results = _results(operation, operands)
    width = _result_width(operation)
    for n, operand in enumerate(operands):
        if n < results:
            for kind, number in REGISTER.findall(operand):
                for k in range(width if kind in ("R", "UR") else 1):
                    i.writes |= register_bit(kind, int(number) + k)
            if operand == "UPR":
                i.writes |= ALL_UP
            if operand == "PR":
                i.writes |= ALL_P
        else:
            i.reads |= _mask(operand, wide=name_takes_pair(operation, n - results))
            if operand == "UPR":
                i.reads |= ALL_UP
            if operand == "PR":
                i.reads |= ALL_P
    if guard:
        i.reads |= _mask(guard)
    found = [o for o in operands if re.fullmatch(r"0x[0-9a-f]+", o)]
    if i.name in ("BRA", "CALL", "BSSY", "JMP", "WARPSYNC") and found:
        i.target = int(found[-1], 16)
    return i


def name_takes_pair(operation, source):
    name = operation.split(".", 1)[0]
    if name.startswith("D"):
        return True
    return name in ("IMAD", "UIMAD") and ".WIDE" in operation and source == 2


def parse(lines):
    """The functions of a listing, in order."""
    functions = []
    for line in lines:
        if found := INSTRUCTION.match(line):
            if functions:
                address, guard, operation, operands = found.groups()
                functions[-1].code.append(decode(int(address, 16), guard or "", operation, operands))
        elif found := FUNCTION.match(line):
            functions.append(Function(found.group(1)))
    return functions
