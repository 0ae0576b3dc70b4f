# SPDX-License-Identifier: Apache-2.0
"""Compiles every public call of kernels in every form, by NVRTC, nvcc or the host's compiler, each warning an error.

  python tests/gpu_api/every_call/every_call.py [--mpi thread|warp|block] [--compiler PROGRAM] [--arch sm_90] [--keep FILE] nvrtc|nvcc|host [-- OPTION...]

--mpi: the functions of mpi.cuh instead, for ranks of this kind.

OPTIONs are the compiler's, as -DGGAS_NIC. The calls and their parameters come from the public headers
(declared_calls.py), so a new one is compiled too. Ends with status 77 where there is no NVRTC."""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
sys.path += [str(HERE), str(ROOT / "benchmarks" / "compile")]
import declared_calls  # noqa: E402
import nvrtc  # noqa: E402

INCLUDE = ROOT / "gpu_api" / "include"
NO_COMPILER = 77

# What stands in each program before the calls: the types that templates are made for, and members of classes.
PROLOGUE = """// Made by tests/gpu_api/every_call: every public call in every form.
#include "ggas/ggas.cuh"
#include "ggas/message.cuh"
#include "ggas/ranks.cuh"
#include "ggas/type.cuh"
#include "ggas/upc_reduce.cuh"
#include "ggas/worker.cuh"

using T = int;
using P = int*;
using F = decltype(nullptr);
using global = ggas::global_ptr<float>;

extern "C" __global__ void members(global p, ggas_queue q, float* out, int* number) {
  (p + 1).store(p.load());
  ggas_store(p, ggas_load(p, ggas_acquire), ggas_release);
  *out = *p.get();
  *number = p.node() + static_cast<int>(p.offset()) + (p == global(0, 8)) + q.good() + q.index();
  (void)ggas_put(p, out, 1, 1000);
  (void)ggas_allreduce_block(p, p, 1, ggas_sum, ggas_auto, 1000);
  GGAS_SHARED(int, one);
  GGAS_SHARED_ARRAY(float, several, 4);
  one = 1, several[threadIdx.x % 4] = 2, *out = several[0] + static_cast<float>(one);
  GGAS_COMPUTE(1, 2);
}

extern "C" __global__ void shared(ggas::upc::shared_array<int, 4> a, ggas::upc::shared_array<float> b, int64_t* out) {
  using namespace ggas::upc;
  forall(0, THREADS, [&](uint64_t i) { b[i] = static_cast<float>(MYTHREAD); });
  forall(0, a.elements, a, [&](uint64_t i) { a[i] += 1; });
  forall(0, 8, [&](uint64_t i) { return a + i; }, [&](uint64_t i) { a[i] = a[i + 1]; });
  auto p = a + a.thread_of(3);
  ++p += 2;
  *(p - 1) = *p;
  if (p < a + 1 || p > a + 2 || p <= a + 3 || p >= a + 4) *out = (p - (a + 0)) + (local(p) != address_of(p));
  const shared_const_void v = resetphase(p.cast<float, 4>());
  *out += static_cast<int64_t>(v.bits() + v.phase() + affinity_bytes(9, 2, 1, THREADS) + star(9, THREADS) + (v == p));
}
"""


# Functions of MPI need more than their parameters: what the headers define beyond them.
MPI_PROLOGUE = """// Made by tests/gpu_api/every_call: every function of MPI for one kind of rank.
#define GGAS_MPI_RANK ::ggas::{kind}
#include "ggas/mpi.cuh"

extern "C" __global__ void names(float* data, int* out) {{
  out[0] = MPI_Init((void*)0) + MPI_Finalize();
  out[1] = MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  out[2] = MPI_Recv(data, 1, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request none = MPI_REQUEST_NULL;
  MPI_Win window = MPI_WIN_NULL;
  out[3] = MPI_Wait(&none, MPI_STATUS_IGNORE) + MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  out[4] = MPI_Waitall(1, &none, MPI_STATUSES_IGNORE) + MPI_ORDER_FORTRAN;
}}
"""


def mpi_program(calls, kind):
    text = MPI_PROLOGUE.format(kind=kind)
    for i, (name, types) in enumerate(calls):
        parameters = "".join(f", {t} p{k}" for k, t in enumerate(types))
        arguments = ", ".join(f"p{k}" for k in range(len(types)))
        text += f'extern "C" __global__ void mpi_{i}(double* out{parameters}) {{ *out = {name}({arguments}); }}\n'
    return text


def kernel(number, form):
    """A kernel whose parameters are those of the call."""
    group = [f"ggas::{form.group} group"] if form.group else []
    parameters = ", ".join(group + [p.as_value() for p in form.call.parameters])
    explicit = f"<{', '.join(form.call.explicit)}>" if form.call.explicit else ""
    arguments = ", ".join(["group"] * len(group) + [p.name for p in form.call.parameters])
    return f'extern "C" __global__ void call_{number}({parameters}) {{ (void){form.name}{explicit}({arguments}); }}\n'


def program(forms):
    return PROLOGUE + "".join(kernel(i, form) for i, form in enumerate(forms))


def compile_by_program(command, source):
    done = subprocess.run([*command, str(source)], capture_output=True, text=True)
    return "" if done.returncode == 0 else " ".join(command) + "\n" + done.stdout + done.stderr


def compile_by_nvrtc(library, source, arch, options):
    try:
        log = nvrtc.compile_kernel(library, source, [INCLUDE], arch, options).log
    except nvrtc.NvrtcError as e:
        return str(e)
    return log  # a warning is an error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("by", choices=("nvrtc", "nvcc", "host"))
    parser.add_argument("--mpi", choices=declared_calls.OF_MESSAGES, help="functions of MPI, for this kind of rank")
    parser.add_argument("--compiler", help="nvcc or the host's compiler")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--keep", type=Path, help="where the program is left")
    parser.add_argument("options", nargs="*", metavar="OPTION")
    args = parser.parse_args()
    forms = declared_calls.forms(declared_calls.of_headers(INCLUDE / "ggas"))
    mpi = list(declared_calls.of_mpi(INCLUDE / "ggas"))
    include = ["-I", str(INCLUDE)]
    with tempfile.TemporaryDirectory() as folder:
        source = args.keep or Path(folder) / "every_call.cu"
        source.write_text(mpi_program(mpi, args.mpi) if args.mpi else program(forms))
        if args.by == "nvrtc":
            library = nvrtc.load()
            if library is None:
                print("no NVRTC here: skipped")
                return NO_COMPILER
            wrong = compile_by_nvrtc(library, source, args.arch, args.options)
        elif args.by == "nvcc":
            wrong = compile_by_program([args.compiler or "nvcc", "-std=c++20", f"-arch={args.arch}", "-Werror", "all-warnings",
                                        *args.options, *include, "-cubin", "-o", f"{folder}/every_call.cubin"], source)
        else:
            wrong = compile_by_program([args.compiler or "c++", "-std=c++20", "-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                                        *args.options, *include, "-I", str(ROOT)], source)
    print(f"{args.by}: {len(mpi)} functions of MPI" if args.mpi else f"{args.by}: {len(forms)} forms of {len({f.call.name for f in forms})} calls")
    if wrong:
        sys.exit(wrong)
    return 0


if __name__ == "__main__":
    sys.exit(main())
