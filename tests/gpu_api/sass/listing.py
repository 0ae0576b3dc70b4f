# SPDX-License-Identifier: Apache-2.0
"""Listings of `nvdisasm -c` as functions of instructions, with the registers that each reads and writes.

Registers are bits of one mask: UR0 ... UR62 are bits 0 ... 62, UP0 ... UP6 bits 64 ... 70, R0 ... R254 from bit 128 on,
P0 ... P6 from bit 384 on; from bit 512 on the single bits of R0 ... that hold saved predicates.
"""
import functools
import re
from dataclasses import dataclass, field

UNIFORM = (1 << 71) - 1  # UR and UP
FIRST_UP, FIRST_R, FIRST_P, FIRST_BIT = 64, 128, 384, 512
ALL_UP = 0x7F << FIRST_UP
ALL_P = 0x7F << FIRST_P

FUNCTION = re.compile(r"^\.text\.(\S+):")
LABEL = re.compile(r"^(\.L_\S+|\$\S+):")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P[0-9T])\s+)?([A-Z][A-Z0-9_.a-z]*)\s*([^;]*);")
TO_LABEL = re.compile(r"`\(([^)]*)\)")
NOTE = re.compile(r'\(\*.*?\*\)')
TABLE = re.compile(r'\(\*"BRANCH_TARGETS (\S+)"\*\)')  # of a BRX
REGISTER = re.compile(r"(?<![A-Za-z0-9_])(UR|UP|R|P)(\d+)\b")
# Operations that write a uniform register though their name does not begin with U.
UNIFORM_RESULT = ("R2UR", "S2UR", "CS2UR", "VOTEU", "REDUX", "CREDUX", "ELECT", "LDCU")
# Those whose first operands are predicates, all of them results.
PREDICATE_RESULT = ("ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "R2P", "FCHK", "UISETP", "UPLOP3", "UFSETP",
                    "UR2UP")
# Those that read predicates after the register that they write.
READS_PREDICATES = ("SEL", "FSEL", "USEL", "P2R", "UP2UR")
NO_RESULT = ("ST", "RED", "BRA", "BRX", "BSSY", "BSYNC", "BREAK", "EXIT", "CALL", "RET", "YIELD", "NOP", "MEMBAR",
             "WARPSYNC", "NANOSLEEP", "BAR", "CCTL", "ERRBAR", "BPT", "KILL", "JMP", "JMX", "FENCE", "DEPBAR", "UBLK",
             "UTMA", "UCGABAR", "SYNCS", "UMEMSETS", "BMOV", "ENDCOLLECTIVE", "USETMAXREG", "LDGSTS", "LDGDEPBAR",
             "PREEXIT", "ACQBULK", "CGAERRBAR")
MOVES_WIDE = ("ST", "RED", "ATOM")  # as many registers as the operation is wide
# Their results may differ between lanes though their operands do not. A load from one address is the same for all.
OF_LANES = frozenset(("ATOM", "ATOMG", "ATOMS", "LDSM", "SHFL", "MATCH", "SUATOM", "QSPC"))
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
    read_bits: tuple = ()  # what its result depends on where it is carried out
    write_bits: tuple = ()
    clears: int = 0  # one bit of a register (FIRST_BIT), the rest stays
    sets: int = 0
    shape: tuple = ()  # what it does, whatever registers it does it with
    targets: list = field(default_factory=list)  # of a branch, a call; where a barrier is waited at

    def __post_init__(self):
        self.name = self.operation.split(".", 1)[0]
        self.guard_is_uniform = self.guard.lstrip("!").startswith("U")

    def reads_of(self, which):
        """Registers in some of the operands."""
        mask = 0
        for operand in self.operands[which]:
            mask |= _mask(operand)
        return mask

    def text_of_operands(self):
        return ", ".join(self.operands) if self.operation == "LOP3.LUT" else ""

    def text(self):
        guard = f"@{self.guard} " if self.guard else ""
        return f"/*{self.address:04x}*/ {guard}{self.operation} {', '.join(self.operands)}"


@dataclass
class Function:
    name: str
    code: list = field(default_factory=list)


@functools.cache
def _mask(operand, wide=False):
    mask = 0
    for kind, number in REGISTER.findall(operand):
        mask |= register_bit(kind, int(number))
        if wide or f"desc[{kind}{number}]" in operand or f"{kind}{number}.64" in operand:
            mask |= register_bit(kind, int(number) + 1)
    return mask


@functools.cache
def _result_width(operation):
    parts = operation.split(".")
    if "128" in parts:
        return 4
    if "64" in parts or "WIDE" in parts or parts[0] in ("DADD", "DMUL", "DFMA") or operation == "CS2R":
        return 2
    return 1


@functools.cache
def _is_predicate(operand):
    return re.fullmatch(r"U?P(\d|T|R)", operand) is not None


@functools.cache
def _has_no_result(name):
    return name.startswith(tuple(NO_RESULT)) and name not in ("REDUX", "STRONG")


def _results(name, operands):
    """How many leading operands are results."""
    if _has_no_result(name):
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
        while count < len(operands) and _is_predicate(operands[count]) and name not in READS_PREDICATES:
            count += 1
    return count


def _predicates_kept(operands):
    """The predicates that `P2R R0, PR, R1, 0x3` puts into a register: those of its mask."""
    number = int(operands[3], 16) if len(operands) > 3 and re.fullmatch(r"0x[0-9a-f]+", operands[3]) else 0x7F
    return (number & 0x7F) * register_bit("UP" if operands[1] == "UPR" else "P", 0)


@functools.cache
def operands_of(text):
    """Split at commas outside of brackets."""
    return tuple(o.strip() for o in re.split(r",(?![^\[]*\])", text)) if text.strip() else ()


@functools.cache
def _shape_of(operands):
    """What is left of operands without their registers."""
    return tuple(REGISTER.sub("", o) for o in operands)


def decode(address, guard, operation, operand_text):
    """An instruction with its masks."""
    operands = list(operands_of(operand_text))
    i = Instruction(address, guard, operation, operands)
    results = _results(i.name, operands)
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
            if width > 1 and i.name.startswith(MOVES_WIDE) and (stored := re.fullmatch(r"R(\d+)(\.reuse)?", operand)):
                for k in range(width):
                    i.reads |= register_bit("R", int(stored.group(1)) + k)
            if operand == "UPR":
                i.reads |= ALL_UP
            if operand == "PR":
                i.reads |= ALL_P
    if i.name in ("P2R", "UP2UR"):
        i.reads = _predicates_kept(operands) | _mask(operands[2])
    if i.name == "PRMT" and operands[2:3] == ["0x7610"] and operands[3:4] == operands[:1]:
        i.reads = _mask(operands[1])  # 16 bits of a register whose upper half no one looks at
    i.read_bits = tuple(bits(i.reads | (_mask(guard) if i.guard_is_uniform else 0)))
    i.write_bits = tuple(bits(i.writes))
    i.reads |= _mask(guard)
    i.shape = i.operation, i.guard.startswith("!"), _shape_of(tuple(operands))
    return i


@functools.cache
def name_takes_pair(operation, source):
    name = operation.split(".", 1)[0]
    if name.startswith("D"):
        return True
    return name in ("IMAD", "UIMAD") and ".WIDE" in operation and source == 2


def follow_kept_predicates(code):
    """Predicates kept in single bits of a register, each followed for itself: cleared, set under a guard, tested."""
    kept = {}  # register -> bits that are tested
    for i in code:
        if found := KEPT.fullmatch(i.text_of_operands()):
            tested, target, source, number, operation = found.groups()
            number = int(number, 16)
            if tested and operation == "c0" and number & (number - 1) == 0:
                i.reads = _kept_bit(source, number) | _mask(i.guard)
                kept[int(source)] = kept.get(int(source), 0) | i.reads & -1 << FIRST_BIT
            elif target == source and operation == "fc" and number & (number - 1) == 0:
                i.sets = _kept_bit(source, number)
            elif target == source and operation == "c0" and not i.guard and (rest := number ^ 0xffffffff):
                i.clears = _kept_bit(source, rest) if rest & (rest - 1) == 0 else 0
    for i in code:
        if not i.sets and not i.clears:
            for register, mask in kept.items():
                i.writes |= mask if i.writes & register_bit("R", register) else 0


KEPT = re.compile(r"(?:(P\d), )?R(Z|\d+), R(\d+)(?:\.reuse)?, (0x[0-9a-f]+), RZ, 0x(c0|fc), !PT")


def _kept_bit(register, number):
    return 1 << FIRST_BIT + 32 * int(register) + number.bit_length() - 1


def by_function(lines):
    """The lines of each function; jumps lead nowhere else."""
    starts = [n for n, line in enumerate(lines) if FUNCTION.match(line)]
    return [lines[n:m] for n, m in zip(starts, starts[1:] + [len(lines)])]


def parse(lines):
    """The functions of a listing, in order."""
    functions, labels, jumps = [], {}, []
    waiting = []  # labels before the next instruction
    for line in lines:
        if found := INSTRUCTION.match(line):
            address, guard, operation, operands = found.groups()
            address = int(address, 16)
            labels.update((name, address) for name in waiting)
            waiting = []
            names = [n for table in TABLE.findall(operands) for n in table.split(",")] + TO_LABEL.findall(operands)
            i = decode(address, guard or "", operation, NOTE.sub("", operands))
            functions[-1].code.append(i)
            jumps.append((i, names))
        elif found := LABEL.match(line):
            waiting.append(found.group(1))
        elif found := FUNCTION.match(line):
            functions.append(Function(found.group(1)))
    for f in functions:
        follow_kept_predicates(f.code)
    for i, names in jumps:
        i.targets = [labels[n] for n in names if n in labels]
    return functions
