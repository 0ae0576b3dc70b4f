# SPDX-License-Identifier: Apache-2.0
# NVSHMEM, NCCL and Yaksa, where they are present: only benchmarks/compare uses them, nothing requires them.
# Looked for in GGAS_NVSHMEM_ROOT and GGAS_NCCL_ROOT (folders with include/ and lib/), in the pip packages nvidia-nvshmem-cu13
# and nvidia-nccl-cu13 of GGAS_PYTHON or python3, and where systems keep libraries. Sets GGAS_NVSHMEM_INCLUDE,
# GGAS_NVSHMEM_DEVICE, GGAS_NVSHMEM_HOST, GGAS_NCCL_INCLUDE and GGAS_NCCL_LIBRARY, false if not found. Yaksa 0.4 is looked
# for in GGAS_YAKSA_ROOT alone: GGAS_YAKSA_INCLUDE, GGAS_YAKSA_LIBRARY.

set(GGAS_NVSHMEM_ROOT "" CACHE PATH "NVSHMEM's folder, with include/ and lib/; empty: look for it")
set(GGAS_NCCL_ROOT "" CACHE PATH "NCCL's folder, with include/ and lib/; empty: look for it")

# The folders of a package in the Python environments, as a list.
function(ggas_python_package name result)
  set(found)
  foreach(python ${GGAS_PYTHON} python3)
    execute_process(COMMAND ${python} -c "import importlib.util as u; s = u.find_spec('${name}'); print(*(s.submodule_search_locations if s else []), sep=';', end='')"
      OUTPUT_VARIABLE folders ERROR_QUIET)
    list(APPEND found ${folders})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

ggas_python_package(nvidia.nvshmem nvshmem_packages)
ggas_python_package(nvidia.nccl nccl_packages)
set(nvshmem_places ${GGAS_NVSHMEM_ROOT} ${nvshmem_packages} /usr/local/nvshmem)
set(nccl_places ${GGAS_NCCL_ROOT} ${nccl_packages} /usr/local/nccl)

find_path(GGAS_NVSHMEM_INCLUDE nvshmemx.h HINTS ${nvshmem_places} PATH_SUFFIXES include)
find_library(GGAS_NVSHMEM_DEVICE nvshmem_device HINTS ${nvshmem_places} PATH_SUFFIXES lib)
find_library(GGAS_NVSHMEM_HOST NAMES libnvshmem_host.so.3 nvshmem_host HINTS ${nvshmem_places} PATH_SUFFIXES lib)
find_path(GGAS_NCCL_INCLUDE nccl.h HINTS ${nccl_places} PATH_SUFFIXES include)
find_library(GGAS_NCCL_LIBRARY NAMES libnccl.so.2 nccl HINTS ${nccl_places} PATH_SUFFIXES lib)

set(GGAS_YAKSA_ROOT "" CACHE PATH "Yaksa's folder, with include/ and lib/, made with CUDA; empty: without")
if(GGAS_YAKSA_ROOT)
  find_path(GGAS_YAKSA_INCLUDE yaksa.h HINTS ${GGAS_YAKSA_ROOT} PATH_SUFFIXES include NO_DEFAULT_PATH)
  find_library(GGAS_YAKSA_LIBRARY yaksa HINTS ${GGAS_YAKSA_ROOT} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
endif()
