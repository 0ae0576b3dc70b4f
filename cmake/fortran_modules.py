#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fortran modules of GASPI from its headers: `fortran_modules.py FOLDER HEADER...`, a module for each header, with the name of the header.

Kinds, constants and interfaces are read from the headers, so no procedure is forgotten. Types of C structures are in
fortran_types.f90, which goes into the module of the first header."""

import re
import sys
import textwrap
from pathlib import Path

from man_pages import functions

KINDS = {
    "char": "c_char",
    "unsigned char": "c_signed_char",
    "short": "c_short",
    "unsigned short": "c_short",
    "int": "c_int",
    "unsigned int": "c_int",
    "long": "c_long",
    "unsigned long": "c_long",
    "float": "c_float",
    "double": "c_double",
}
REAL = {"float", "double", "gaspi_float", "gaspi_double", "gaspi_time_t"}
# Kinds of the constants that the headers define by the preprocessor.
DEFINED = {"GASPI_BLOCK": "gaspi_timeout_t", "GASPI_TEST": "gaspi_timeout_t", "GASPI_GROUP_ALL": "gaspi_group_t"}
ADDRESSES = {"void*", "gaspi_pointer_t", "gaspi_const_pointer_t", "gaspi_reduce_state_t", "gaspi_state_vector_t"}
ARRAYS = {"group_ranks", "segment_ids", "ids"}  # and all of a list: the program passes c_loc() of an array
ARGUMENT = re.compile(r"(?:const )?(?P<type>[\w ]*\w(?P<star>\*?)) (?P<name>\w+)")


def constants(text):
    """Enumerators, and what the preprocessor defines as a number."""
    for body, name in re.findall(r"^(?:typedef )?enum [\w ]*\{(.*?)\} ?(\w*);", text, re.M | re.S):
        kind = name if name.startswith("gaspi_") else "c_int"
        for constant, value in re.findall(r"(\w+) = (-?\d+)", body):
            yield constant, kind, value
    for constant, value in re.findall(r"^#define (GASPI_\w+) (.+)$", text, re.M):
        kind = DEFINED.get(constant, "gaspi_alloc_t" if "_MEM_" in constant or "ALLOC" in constant else "c_int")
        number = re.fullmatch(r"\(?(?:\(\w+\))?(~?\w+?)(?:ul)?\)?", value)
        if number:
            yield constant, kind, "-1" if number[1] == "~0" else number[1]


def kinds(text):
    for kind, name in re.findall(r"^typedef ([a-z ]+) (gaspi_\w+);", text, re.M):
        yield name, KINDS[kind]
    for name in re.findall(r"^typedef enum (gaspi_\w+)", text, re.M):
        yield name, "c_int"


def dummy(argument, is_list):
    """Name and declaration of an argument."""
    if "(*" in argument:
        name = re.search(r"\(\*(\w+)\)", argument)[1]
        return name, f"type(c_funptr), value :: {name}"
    parts = ARGUMENT.fullmatch(argument)
    kind, name = parts["type"], parts["name"]
    base = kind.rstrip("*")
    if kind == "char*":
        return name, f"character(kind=c_char), dimension(*) :: {name}"
    if kind in ADDRESSES or (parts["star"] and (is_list or name in ARRAYS)):
        return name, f"type(c_ptr), value :: {name}"
    if base in ("gaspi_string_t", "gaspi_pointer_t"):
        return name, f"type(c_ptr) :: {name}"
    if base == "gaspi_reduce_operation_t":
        return name, f"type(c_funptr), value :: {name}"
    family = "type" if base == "gaspi_config_t" else "real" if base in REAL else "integer"
    return name, f"{family}({KINDS.get(base, base)}){'' if parts['star'] else ', value'} :: {name}"


def split(arguments):
    return [one.strip() for one in re.split(r",(?![^()]*\))", arguments) if one.strip() not in ("void", "...")]


def interface(name, declaration):
    result, arguments = re.fullmatch(r"(.*?[ *])" + name + r"\((.*)\);", declaration).groups()
    dummies = [dummy(one, "_list" in name and name != "gaspi_segment_list") for one in split(arguments)]
    kind = "subroutine" if result.strip() == "void" else "function"
    head = f"{kind} {name}({', '.join(d for d, _ in dummies)})"
    head += f' bind(C, name="{name}")' if kind == "subroutine" else f' result(res) bind(C, name="{name}")'
    lines = " &\n".join(textwrap.wrap(head, 96, subsequent_indent="        "))
    body = [line for _, line in dummies]
    if kind == "function":
        body.append("type(c_ptr) :: res" if "string" in result else "integer(gaspi_return_t) :: res")
    return "\n".join([f"    {lines}", "      import", *(f"      {line}" for line in body), f"    end {kind} {name}"])


def module(header, first):
    """The first module has the kinds and types that the others use."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    lines = [f"! SPDX-License-Identifier: Apache-2.0\n! Made from {header.name}.\nmodule {header.stem}"]
    lines += ["  use, intrinsic :: iso_c_binding", *([] if header == first else [f"  use {first.stem}"]), "  implicit none"]
    lines += [f"  integer, parameter :: {name} = {kind}" for name, kind in kinds(text)]
    lines += [f"  integer({kind}), parameter :: {name} = {value}" for name, kind, value in constants(text) if re.fullmatch(r"-?\d+", value)]
    if header == first:
        lines.append(Path(__file__).with_name("fortran_types.f90").read_text().split("\n", 1)[1].rstrip())
    _, found = functions(header)
    procedures = {}  # names that differ in capitals only are one in Fortran
    for name, declaration, _ in found:
        procedures.setdefault(name.lower(), interface(name, declaration))
    lines += ["  interface", *procedures.values(), "  end interface"]
    return "\n".join([*lines, f"end module {header.stem}\n"])


def main(folder, headers):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for header in headers:
        text = module(header, headers[0])
        if header == headers[0]:  # by the names of the standard and of the reference
            text += "".join(f"module {name}\n  use {header.stem}\nend module {name}\n" for name in ("GASPI_C_BINDING", "GASPI_types"))
        (Path(folder) / f"{header.stem}.f90").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], [Path(header) for header in sys.argv[2:]])
