# SPDX-License-Identifier: Apache-2.0
# Which parts of the project can be built with what is installed (packages.txt); one line says of each that is left out
# what it lacks. Programs for GPUs need nothing of these but `records` and toml++ (cmake/nvcc.cmake finds the CUDA
# compiler).
#   GGAS_SHM      kernels on the processor: provider shm, examples
#   GGAS_SIM      the NIC's models, the simulator, provider sim, with `records` ggas-bench
#   GGAS_RECORDS  what all benchmark programs share
#   GGAS_TESTS    tests of the parts that are there
# -DGGAS_WITHOUT=GGAS_SIM leaves a part out that could be built.
set(GGAS_WITHOUT "" CACHE STRING "Parts to leave out though they could be built, for example GGAS_SIM")
find_program(VERILATOR verilator)
find_library(SYSTEMC systemc)
find_path(TOMLPLUSPLUS toml++/toml.h)
find_path(PROTOZERO protozero/pbf_reader.hpp)
find_package(Boost 1.74 QUIET COMPONENTS context)
find_package(MPI QUIET COMPONENTS C)
include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
else()
  message(STATUS "Left out: GASPI and tests of MPI in Fortran; not found: gfortran")
endif()
foreach(package ZLIB GTest fmt CLI11 nlohmann_json)
  find_package(${package} QUIET)
endforeach()

# ggas_part(<variable> <what it is> NEEDS <name> <what says that it is there> ...)
function(ggas_part variable what)
  cmake_parse_arguments(P "" "" "NEEDS" ${ARGN})
  set(missing "")
  while(P_NEEDS)
    list(POP_FRONT P_NEEDS name there)
    if(NOT ${there})
      list(APPEND missing ${name})
    endif()
  endwhile()
  set(${variable} ON PARENT_SCOPE)
  if(variable IN_LIST GGAS_WITHOUT)
    set(${variable} OFF PARENT_SCOPE)
    message(STATUS "Left out: ${what}; GGAS_WITHOUT names it")
  elseif(missing)
    set(${variable} OFF PARENT_SCOPE)
    list(JOIN missing ", " missing)
    message(STATUS "Left out: ${what}; not found: ${missing}")
  endif()
endfunction()

ggas_part(GGAS_SHM "kernels on the processor (provider shm)" NEEDS Boost.Context Boost_FOUND)
ggas_part(GGAS_RECORDS "benchmark programs" NEEDS fmt fmt_FOUND CLI11 CLI11_FOUND nlohmann-json nlohmann_json_FOUND)
ggas_part(GGAS_SIM "the simulator, the NIC's models, ggas-bench without --provider cuda"
  NEEDS Verilator VERILATOR SystemC SYSTEMC toml++ TOMLPLUSPLUS protozero PROTOZERO zlib ZLIB_FOUND Boost.Context Boost_FOUND fmt fmt_FOUND)
if(NOT MPI_C_FOUND)
  message(STATUS "Left out: simulation by several processes (--ranks); not found: MPI")
endif()
ggas_part(GGAS_TESTS "tests" NEEDS GoogleTest GTest_FOUND)
