# SPDX-License-Identifier: Apache-2.0
"""Compiles a kernel with NVRTC, through ctypes: no headers of CUDA and none of the standard library are in its way."""
import ctypes
import ctypes.util
from pathlib import Path
from typing import NamedTuple


class NvrtcError(Exception):
    pass


class Compiled(NamedTuple):
    code: bytes  # of the machine
    log: str  # warnings


def load():
    """libnvrtc of the toolkit; None where there is none."""
    for name in ("libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so", "/usr/local/cuda/lib/libnvrtc.so", ctypes.util.find_library("nvrtc") or ""):
        try:
            return ctypes.CDLL(name) if name else None
        except OSError:
            continue
    return None


def compile_kernel(nvrtc, source: Path, include: list[Path], arch: str, options=()):
    """Compiles a source file. Raises NvrtcError with the compiler's words."""
    program = ctypes.c_void_p()
    text = source.read_bytes()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.name.encode(), 0, None, None) != 0:
        raise NvrtcError("nvrtcCreateProgram")
    arguments = [f"-arch={arch}", "-std=c++20", *(f"-I{path}" for path in include), *options]
    array = (ctypes.c_char_p * len(arguments))(*(a.encode() for a in arguments))
    result = nvrtc.nvrtcCompileProgram(program, len(arguments), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if result != 0:
        raise NvrtcError(log.value.decode())
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return Compiled(code.raw, log.value.decode())
