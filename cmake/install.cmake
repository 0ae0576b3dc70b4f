# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts into a prefix, for projects without this source tree (docs/how-to/another-project.md):
# headers, the providers shm and cuda as archives, the package GGAS of CMake, files for pkg-config, the programs that
# were built. The prefix can be moved. The provider sim is in ggas-bench only: its NIC is Verilated for this machine's
# processor and linked with SystemC. `cmake --install --component host` leaves the host library alone: its headers, modules,
# manual pages and launchers.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/GGAS)
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

# ggas_install_library(<name> <target> <file for pkg-config> <description> CFLAGS <flags> LIBS <flags> REQUIRES <files>)
# It is the component <name> of the installation.
function(ggas_install_library name target pc description)
  cmake_parse_arguments(L "" "CFLAGS;LIBS;REQUIRES" "" ${ARGN})
  set(GGAS_COMPONENTS ${GGAS_COMPONENTS} ${name} PARENT_SCOPE)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT GGAS-${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
  install(EXPORT GGAS-${name} NAMESPACE GGAS:: DESTINATION ${package} COMPONENT ${name})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/install/${pc}.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@up@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
Name: @pc@
Description: @description@
Version: @PROJECT_VERSION@
Requires: @L_REQUIRES@
Cflags: @L_CFLAGS@
Libs: @L_LIBS@
]])
  install(FILES ${CMAKE_BINARY_DIR}/install/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${name})
endfunction()

ggas_install_library(device ggas_device ggas "Headers of GGAS: one global address space for the GPUs of a cluster"
  CFLAGS "-I\${includedir}")
ggas_install_library(host libggas ggas-host "Host library of GGAS: one-sided communication between processes, from C"
  CFLAGS "-I\${includedir}" LIBS "-L\${libdir} -lggas")
# What programs of GASPI ask pkg-config for.
file(WRITE ${CMAKE_BINARY_DIR}/install/GASPI.pc
  "Name: GASPI\nDescription: GASPI 17.1 by libggas\nVersion: 17.1.0\nRequires: ggas-host\n")
install(FILES ${CMAKE_BINARY_DIR}/install/GASPI.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT host)
# libggas by the names of GPI-2: by the option, or alone by `cmake --install --component gpi2`.
option(GGAS_GPI2_NAMES "Install libGPI2.so and GPI2.pc, too, for build systems that look for GPI-2" OFF)
if(NOT GGAS_GPI2_NAMES)
  set(by_component_alone EXCLUDE_FROM_ALL)
endif()
file(CREATE_LINK libggas.so ${CMAKE_BINARY_DIR}/install/libGPI2.so SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/install/libGPI2.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT gpi2 ${by_component_alone})
file(WRITE ${CMAKE_BINARY_DIR}/install/GPI2.pc
  "Name: GPI2\nDescription: GASPI with the extensions of GPI-2 by libggas\nVersion: 1.5.1\nRequires: GASPI\n")
install(FILES ${CMAKE_BINARY_DIR}/install/GPI2.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT gpi2 ${by_component_alone})
if(GGAS_SHM)
  ggas_install_library(shm ggas_provider_shm ggas-shm "Kernels of GGAS on the processor, for C++23"
    CFLAGS "-I\${includedir}/ggas/simt" LIBS "-Wl,-u,ggas_provider_shm -L\${libdir} -lggas_provider_shm -lboost_context -lpthread" REQUIRES ggas)
  install(FILES $<TARGET_FILE:ggas_mpi_threads> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT shm OPTIONAL)
  install(FILES userlib/cluster/mpi_threads/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ggas/mpi_threads COMPONENT shm)
endif()
if(TARGET ggas_provider_cuda)
  ggas_install_library(cuda ggas_provider_cuda ggas-cuda "GGAS on the GPUs of a computer, linked by nvcc for C++20"
    LIBS "-Xlinker=-u,ggas_provider_cuda -L\${libdir} -lggas_provider_cuda" REQUIRES ggas)
endif()
# Long paths of kernels, compiled once; of those who build it (what nvcc makes is no target of install()).
if(TARGET ggas_provider_cuda AND GGAS_NVCC)
  install(FILES ${CMAKE_BINARY_DIR}/gpu_api/libggas_device.a DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
  file(WRITE ${CMAKE_BINARY_DIR}/install/ggas-linked.pc
    "Name: ggas-linked\nDescription: Kernels of GGAS whose long paths nvlink takes from libggas_device\n"
    "Version: ${PROJECT_VERSION}\nRequires: ggas-cuda\nCflags: -rdc=true -DGGAS_LINKED\nLibs: -lggas_device\n")
  install(FILES ${CMAKE_BINARY_DIR}/install/ggas-linked.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(DIRECTORY gpu_api/include/ggas userlib/include/ggas userlib/driver/ggas DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES userlib/include/ggas/ggas.h userlib/include/ggas/ggas.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ggas
  COMPONENT host EXCLUDE_FROM_ALL)
set(gaspi GASPI.h GASPI_Ext.h GASPI_GPU.h GASPI_Lowlevel.h GASPI_Threads.h)
list(TRANSFORM gaspi PREPEND userlib/include/)
install(FILES ${gaspi} ${GGAS_PGASPI}
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT host)
if(TARGET gaspi_fortran)
  get_target_property(modules gaspi_fortran Fortran_MODULE_DIRECTORY)
  install(DIRECTORY ${modules}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT host FILES_MATCHING PATTERN "*.mod")
  install(DIRECTORY ${modules}/../ DESTINATION ${CMAKE_INSTALL_DATADIR}/ggas/fortran COMPONENT host
    FILES_MATCHING PATTERN "*.f90" PATTERN modules EXCLUDE)
endif()
# For kernels on the processor; named as in the tree, but in a folder of their own.
if(GGAS_SHM)
  install(FILES gpu_api/simt/device.hpp gpu_api/simt/engine.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ggas/simt/gpu_api/simt)
endif()

configure_package_config_file(cmake/GGASConfig.cmake.in ${CMAKE_BINARY_DIR}/install/GGASConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/install/GGASConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(config ${CMAKE_BINARY_DIR}/install/GGASConfig.cmake ${CMAKE_BINARY_DIR}/install/GGASConfigVersion.cmake)
install(FILES ${config} DESTINATION ${package} COMPONENT host)

# Programs, as far as they were built (what nvcc links is no target of install()), and what they read. What of others is in
# them comes with its licence.
foreach(program ggas-bench ggas-bench-host)
  if(TARGET ${program})
    install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
  endif()
endforeach()
install(PROGRAMS ${CMAKE_BINARY_DIR}/benchmarks/cuda/ggas-bench-cuda ${CMAKE_BINARY_DIR}/benchmarks/cuda/ggas-tune
  DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
if(TARGET ggas-simulator)
  install(TARGETS ggas-simulator DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
endif()
install(PROGRAMS programs/run/run.py DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT host RENAME ggas-run)
install(PROGRAMS programs/run/gaspi_run.py DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT host RENAME gaspi_run)
install(DIRECTORY programs/run/ggas_launch DESTINATION ${CMAKE_INSTALL_DATADIR}/ggas COMPONENT host PATTERN __pycache__ EXCLUDE)
install(DIRECTORY benchmarks/report sim/platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/ggas PATTERN __pycache__ EXCLUDE)
# Manual pages of the host library, from its headers, and of the launchers, from what they say themselves.
set(headers userlib/include/ggas/ggas.h ${gaspi})
set(launchers programs/run/run.py programs/run/gaspi_run.py)
file(GLOB launcher_parts ${CMAKE_SOURCE_DIR}/programs/run/ggas_launch/*.py)
list(TRANSFORM headers PREPEND ${CMAKE_SOURCE_DIR}/)
list(TRANSFORM launchers PREPEND ${CMAKE_SOURCE_DIR}/)
set(man ${CMAKE_BINARY_DIR}/install/man)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
  add_custom_command(OUTPUT ${man}/man1/gaspi_run.1
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/cmake/man_pages.py ${PROJECT_VERSION} ${man} ${headers} ${launchers}
    DEPENDS ${CMAKE_SOURCE_DIR}/cmake/man_pages.py ${headers} ${launchers} ${launcher_parts} COMMENT "manual pages" VERBATIM)
  add_custom_target(man_pages ALL DEPENDS ${man}/man1/gaspi_run.1)
  install(DIRECTORY ${man}/man1 ${man}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT host OPTIONAL)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT host)
foreach(part libtomlplusplus-dev libfmt-dev libcli11-dev nlohmann-json3-dev libsystemc-dev verilator)
  install(FILES /usr/share/doc/${part}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME ${part}.copyright OPTIONAL)
endforeach()
