# SPDX-License-Identifier: Apache-2.0
"""Programs of an MPI, under the mpirun of that MPI, with the datatypes of GGAS before it."""

import os
import shutil
import subprocess
from pathlib import Path

from ggas_launch.where import BASE

# What a program of an MPI is linked with, what the answer of its mpirun has, and the option that passes a variable on.
MPIS = {"openmpi": ("libmpi.so.40", "Open MPI", ["-x", "LD_PRELOAD={}"]), "mpich": ("libmpich.so.12", "HYDRA", ["-genv", "LD_PRELOAD", "{}"])}


def answer(*words):
    """What a command says; nothing if there is none."""
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def mpi_of(program):
    """By what the program is linked with; of a script the MPI of this computer's mpirun."""
    linked, says = answer("ldd", shutil.which(program) or program), answer("mpirun", "--version")
    for place, text in ((0, linked), (1, says)):
        for name, about in MPIS.items():
            if about[place] in text:
                return name
    raise ValueError("linked with neither Open MPI 4.1 nor MPICH 4.0, and there is no mpirun of one of them")


def library_of(mpi):
    """As built here, or as installed next to this command."""
    build = Path(os.environ.get("GGAS_BUILD") or BASE / "build" / "release")
    for folder in (build / "userlib" / "mpi", *sorted(BASE.glob("lib*/ggas")), *sorted(BASE.glob("lib*/*/ggas"))):
        library = folder / mpi / "libggas_mpi_types.so"
        if library.exists():
            return library
    raise ValueError(f"there is no libggas_mpi_types.so for {mpi}: ./ggas build ggas_mpi_types_{mpi} makes it where {mpi} is installed")


def under_mpirun(program, size):
    mpi = mpi_of(program[0])
    passed_on = [word.format(library_of(mpi)) for word in MPIS[mpi][2]]
    return [shutil.which(f"mpirun.{mpi}") or "mpirun", "-n", str(size), *passed_on, *program]
