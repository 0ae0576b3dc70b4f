# SPDX-License-Identifier: Apache-2.0
# ggas_cocotb(<target> TOP <module> SOURCES <.vlt and .sv files, packages first> [PARAMETERS NAME=VALUE ...]
#   [DEFINES NAME[=VALUE] ...])
# makes a program of a Verilated design with cocotb's main function: ${<target>_program}, named like its top module.
# GGAS_COCOTB is empty if its packages are missing (requirements.txt).
execute_process(COMMAND ${GGAS_PYTHON} -c
  "import cocotb, cocotbext.pcie, find_libpython, pathlib; print(pathlib.Path(cocotb.__file__).parent, end='')"
  OUTPUT_VARIABLE GGAS_COCOTB RESULT_VARIABLE missing ERROR_QUIET)
if(missing)
  set(GGAS_COCOTB)
  message(STATUS "Left out: tests at a second root complex; not found: cocotb, cocotbext-pcie (requirements.txt)")
endif()

function(ggas_cocotb target)
  cmake_parse_arguments(C "" "TOP" "SOURCES;PARAMETERS;DEFINES" ${ARGN})
  list(TRANSFORM C_PARAMETERS PREPEND -G)
  list(TRANSFORM C_DEFINES PREPEND +define+)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir)
  add_custom_command(OUTPUT ${dir}/${C_TOP}
    COMMAND ${CMAKE_COMMAND} -P ${CMAKE_SOURCE_DIR}/cmake/quietly.cmake -- ${VERILATOR} --cc --exe --build -j 2
      --vpi --timing --timescale 1ns/1ps -O3 --x-assign fast --x-initial fast --assert -Wno-fatal
      --top-module ${C_TOP} --prefix Vtop ${C_PARAMETERS} ${C_DEFINES} --Mdir ${dir} -o ${C_TOP}
      -LDFLAGS "-Wl,-rpath,${GGAS_COCOTB}/libs -L${GGAS_COCOTB}/libs -lcocotbvpi_verilator"
      -MAKEFLAGS "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1 OBJCACHE=${CCACHE}"
      ${C_SOURCES} ${GGAS_COCOTB}/share/lib/verilator/verilator.cpp
    DEPENDS ${C_SOURCES} ggas_regs COMMENT "Verilating ${C_TOP} as ${target} for cocotb" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${dir}/${C_TOP})
  set(${target}_program ${dir}/${C_TOP} PARENT_SCOPE)
endfunction()
