# SPDX-License-Identifier: Apache-2.0
# GASPI for Fortran: modules with the names of the headers, made from them. They have no code: a program links libggas.
# Another compiler than the one that is found here needs modules of its own, so their sources are installed, too.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT CMAKE_Fortran_COMPILER OR NOT Python3_FOUND)
  return()
endif()
set(fortran ${CMAKE_CURRENT_BINARY_DIR}/fortran)
set(headers GASPI GASPI_Ext GASPI_GPU)
list(TRANSFORM headers REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/userlib/include/\\1.h" OUTPUT_VARIABLE from)
list(TRANSFORM headers REPLACE "(.+)" "${fortran}/\\1.f90" OUTPUT_VARIABLE modules)
set(maker ${CMAKE_SOURCE_DIR}/cmake/fortran_modules.py)
add_custom_command(OUTPUT ${modules} COMMAND ${Python3_EXECUTABLE} -B ${maker} ${fortran} ${from}
  DEPENDS ${maker} ${CMAKE_SOURCE_DIR}/cmake/man_pages.py ${CMAKE_SOURCE_DIR}/cmake/fortran_types.f90 ${from}
  COMMENT "GASPI for Fortran" VERBATIM)
add_library(gaspi_fortran OBJECT ${modules})
set_target_properties(gaspi_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${fortran}/modules)
target_include_directories(gaspi_fortran PUBLIC ${fortran}/modules)
