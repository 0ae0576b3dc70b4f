# SPDX-License-Identifier: Apache-2.0
# NVSHMEM, NCCL and Yaksa, where they are present: only benchmarks/compare uses them, nothing requires them.
# GGAS_NVSHMEM_ROOT and GGAS_NCCL_ROOT are lists of folders with include/ and lib/: versions that are compared side by
# side. If they are empty, the pip packages nvidia-nvshmem-cu13 and nvidia-nccl-cu13 of GGAS_PYTHON or python3 are looked
# for, then where systems keep libraries. Yaksa 0.4 is looked for in GGAS_YAKSA_ROOT alone: GGAS_YAKSA_INCLUDE,
# GGAS_YAKSA_LIBRARY.

set(GGAS_NVSHMEM_ROOT "" CACHE STRING "NVSHMEM's folders, with include/ and lib/, one for each version; empty: look for it")
set(GGAS_NCCL_ROOT "" CACHE STRING "NCCL's folders, with include/ and lib/, one for each version; empty: look for it")

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

# Where a library is: the folders that were named, else one search.
ggas_python_package(nvidia.nvshmem nvshmem_packages)
ggas_python_package(nvidia.nccl nccl_packages)
set(ggas_nvshmem_places ${GGAS_NVSHMEM_ROOT})
set(ggas_nccl_places ${GGAS_NCCL_ROOT})
if(NOT ggas_nvshmem_places)
  set(ggas_nvshmem_places search)
endif()
if(NOT ggas_nccl_places)
  set(ggas_nccl_places search)
endif()

# ggas_find_here(<path|library> <variable> <place> <folders to search> <suffix> <names ...>): false if it is not there.
function(ggas_find_here what variable place folders suffix)
  set(hints HINTS ${folders})
  if(NOT place STREQUAL search)
    set(hints PATHS ${place} NO_DEFAULT_PATH)
  endif()
  set(found found-NOTFOUND)
  if(what STREQUAL path)
    find_path(found ${ARGN} ${hints} PATH_SUFFIXES ${suffix} NO_CACHE)
  else()
    find_library(found NAMES ${ARGN} ${hints} PATH_SUFFIXES ${suffix} NO_CACHE)
  endif()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

set(GGAS_YAKSA_ROOT "" CACHE PATH "Yaksa's folder, with include/ and lib/, made with CUDA; empty: without")
if(GGAS_YAKSA_ROOT)
  find_path(GGAS_YAKSA_INCLUDE yaksa.h HINTS ${GGAS_YAKSA_ROOT} PATH_SUFFIXES include NO_DEFAULT_PATH)
  find_library(GGAS_YAKSA_LIBRARY yaksa HINTS ${GGAS_YAKSA_ROOT} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
endif()
