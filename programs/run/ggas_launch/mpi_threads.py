# SPDX-License-Identifier: Apache-2.0
"""Programs of MPI in C whose ranks are threads of one process: compiled here, with the library that has main()."""

import os
import subprocess
from pathlib import Path

from ggas_launch.where import BASE

LIBRARIES = ("libggas_mpi_threads.a", "libggas_provider_shm.a")


def places():
    """The folder of mpi.h, and the libraries: as built here, or as installed."""
    build = Path(os.environ.get("GGAS_BUILD") or BASE / "build" / "release")
    header, folders = BASE / "userlib" / "cluster" / "mpi_threads", [build / "userlib" / "cluster"]
    if not header.exists():
        header, folders = BASE / "include" / "ggas" / "mpi_threads", [*BASE.glob("lib*"), *BASE.glob("lib*/*")]
    for folder in folders:
        if all((folder / name).exists() for name in LIBRARIES):
            return header, [str(folder / name) for name in LIBRARIES]
    raise ValueError(f"there is no {LIBRARIES[0]}: ./ggas build ggas_mpi_threads makes it")


def compiled(source, folder):
    """The program that a source becomes, in a folder; what the compilers say goes where this command's errors go."""
    header, libraries = places()
    parts, program = f"{folder}/program.o", f"{folder}/{Path(source).stem}"
    for command in (
        [os.environ.get("CC", "cc"), "-O2", f"-I{header}", "-c", source, "-o", parts],
        [os.environ.get("CXX", "c++"), parts, "-Wl,-u,ggas_provider_shm", *libraries, "-lboost_context", "-lpthread", "-lm", "-o", program],
    ):
        if subprocess.run(command, check=False).returncode:
            raise ValueError(f"{Path(command[0]).name} did not compile it")
    return program
