#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cases of messages between GPUs on real ones: each rank takes GPU rank % GPUs, so one GPU is enough. Under both MPIs, as
# far as they are there.   on_gpus.sh <build folder>
set -u
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: $0 <build folder>, which '$*' is not" >&2; exit 2; }
build=$(cd "$1" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1  # as under ctest
run=$(dirname "$0")/../../../programs/run/run.py
worst=0
case_of() { # program, case, ranks
  if GGAS_BUILD=$build timeout 60 python3 "$run" --mpi-types -n "$3" --timeout 50 "$build/tests/userlib/mpi/$1" "$2"; then
    return
  fi
  echo "FAILED: $1 $2" >&2
  worst=1
}
for mpi in openmpi mpich; do
  ninja -C "$build" -t query "mpi_direct_program_$mpi" > "$build/cases.txt" 2>&1 || { echo "left out: $mpi was not found"; continue; }
  ninja -C "$build" "mpi_gpu_program_$mpi" "mpi_direct_program_$mpi" || { worst=1; continue; }
  for program in mpi_gpu_program_$mpi mpi_direct_program_$mpi; do
    for us in 2000000 0; do
      export GGAS_MPI_DIRECT=128 GGAS_MPI_DIRECT_US=$us
      "$build/tests/userlib/mpi/$program" list > "$build/cases.txt" || { worst=1; continue; }
      while read -r name ranks; do case_of "$program" "$name" "$ranks" < /dev/null; done < "$build/cases.txt"
    done
  done
done
exit $worst
