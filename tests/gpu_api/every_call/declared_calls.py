# SPDX-License-Identifier: Apache-2.0
"""The public calls of kernels, as the headers in gpu_api/include/ggas declare them: names, forms, parameters."""
import re
from dataclasses import dataclass
from pathlib import Path

# Headers of calls that the host makes.
OF_THE_HOST = {"on_stream.cuh", "typed_on_stream.cuh"}
# Groups in front of a call.
OF_FORMS = ("thread", "tile<2>", "tile<4>", "tile<8>", "tile<16>", "warp", "warps", "block")
OF_COLLECTIVES = ("block", "grid")
OF_BARRIERS = ("block", "blocks", "grid")
OF_MESSAGES = ("thread", "warp", "block")
# Calls that some blocks of a grid make (docs/device-api.md).
OF_BLOCKS = {"ggas_put", "ggas_put_nbi", "ggas_get", "ggas_get_nbi", "ggas_wait_until"}


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str

    def as_value(self):
        """As a parameter of a kernel, which takes no references."""
        value = re.sub(r"^const (.*)&$", r"\1", self.type).rstrip("& ")
        return f"{value} {self.name}"


@dataclass(frozen=True)
class Call:
    name: str
    parameters: tuple
    suffixes: tuple = ("",)
    groups: tuple = ()
    explicit: tuple = ()  # template arguments that cannot be deduced


@dataclass(frozen=True)
class Form:
    call: Call
    name: str
    group: str = ""


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def split(text):
    """At commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "(<{[") - (c in ")>}]")
        if c == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [p.strip() for p in parts if p.strip()]


def inside(text, begin):
    """What stands in the brackets that open at `begin`."""
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return text[begin + 1:i]
    raise ValueError(f"no end of: {text[begin:begin + 60]}")


def parameter(text):
    declared = re.sub(r"\s+", " ", text.split("=")[0]).strip()
    kind, name = re.fullmatch(r"(.*?)(\w+)", declared).groups()
    return Parameter(kind.strip(), name)


def parameters(text):
    """A pack of parameters may be empty, and is."""
    return tuple(parameter(p) for p in split(text) if "..." not in p)


def groups_of(concept, name):
    if concept == "a_collective_group":
        return OF_COLLECTIVES
    if concept == "a_barrier_group":
        return OF_BARRIERS
    if concept == "a_message_group":
        return OF_MESSAGES
    return (*OF_FORMS, "blocks") if name in OF_BLOCKS else OF_FORMS


def declared(text):
    """Calls of a header without comments; with a group in front it is one call with several forms."""
    pattern = r"(?:template <([^;{}()]*)>\s*)?GGAS_(?:HOST_)?DEVICE (?:constexpr )?[\w:*&<> ]*?\b((?:ggas|upc)_\w+)\("
    for m in re.finditer(pattern, text):
        all_parameters = parameters(inside(text, m.end() - 1))
        if by_group := re.search(r"\b(a_(?:collective_|barrier_|message_)?group) G\b", m[1] or ""):
            yield Call(m[2], all_parameters[1:], (), groups_of(by_group[1], m[2]))
            continue
        used = " ".join(p.type for p in all_parameters)
        cannot = "class T" in (m[1] or "") and not re.search(r"\bT\b", used)
        yield Call(m[2], all_parameters, explicit=("T",) if cannot else ())


def of_headers(folder: Path):
    """Every call once for each list of parameters."""
    calls = {}
    for header in sorted(folder.glob("*.cuh")):
        if header.name in OF_THE_HOST:
            continue
        text = without_comments(header.read_text())
        for call in declared(text):
            calls.setdefault((call.name, call.parameters, call.groups), call)
    return list(calls.values())


def forms(calls):
    return [Form(c, c.name + s) for c in calls for s in c.suffixes] + [Form(c, c.name, g) for c in calls for g in c.groups]


def unnamed(text):
    """The type of a parameter, which may have a name and a default."""
    declared = re.sub(r"\s+", " ", text.split("=")[0]).strip()
    named = re.fullmatch(r"(.*[ *])(\w+)", declared)
    return named[1].strip() if named and named[1].strip() != "const" else declared


def of_mpi(folder: Path):
    """The functions of mpi.cuh: names, and types of parameters."""
    whole = re.compile(r"GGAS_DEVICE(?:_FUNCTION)? (?:int|double) (MPI_\w+)(\()")
    left_out = re.compile(r"GGAS_MPI_LEFT_OUT(\()(MPI_\w+)")
    for header in sorted((folder / "detail" / "mpi").glob("*.cuh")):
        text = without_comments(header.read_text())
        for m in whole.finditer(text):
            yield m[1], [unnamed(p) for p in split(inside(text, m.end() - 1))]
        for m in left_out.finditer(text):
            yield m[2], split(inside(text, m.start(1)))[1:]
