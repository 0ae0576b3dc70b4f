# SPDX-License-Identifier: Apache-2.0
# ggas_verilate(<target> TOP <module> PREFIX <C++ class> SOURCES <.sv files, packages first>
#               [PARAMETERS NAME=VALUE ...] [DEFINES NAME=VALUE ...] [DEPENDS <targets>] [TRACE] [NATIVE] [LARGE])
# makes a static library <target> with the Verilated model and its include folder. TRACE adds FST waves (off until asked for),
# NATIVE is for models whose speed counts: optimised fully and for this machine's processor; others are for small tests and
# compile in two thirds of the time. LARGE: a fifth of the compiler's time of a NIC with six links would go into optimised
# waves, so they are not. Verilator appends OPT_FAST=-Os behind -CFLAGS, hence the make variable.

# Verilator's runtime, once for all models (Verilator itself builds it only beside an executable).
execute_process(COMMAND ${VERILATOR} --getenv VERILATOR_ROOT OUTPUT_VARIABLE GGAS_VERILATOR_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
set(runtime verilated.cpp verilated_threads.cpp verilated_cov.cpp)
list(TRANSFORM runtime PREPEND ${GGAS_VERILATOR_ROOT}/include/)
set(waves fst_frame.cpp fst_writer.cpp wave_file.cpp)
list(TRANSFORM waves PREPEND ${CMAKE_SOURCE_DIR}/sim/trace/)
add_library(ggas_verilated STATIC EXCLUDE_FROM_ALL ${runtime} ${waves})
target_compile_definitions(ggas_verilated PRIVATE VM_COVERAGE=1 VM_TRACE=1 VM_TRACE_FST=1)
target_compile_options(ggas_verilated PRIVATE -w)
target_include_directories(ggas_verilated PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(ggas_verilated SYSTEM PUBLIC ${GGAS_VERILATOR_ROOT}/include ${GGAS_VERILATOR_ROOT}/include/vltstd)
target_link_libraries(ggas_verilated PUBLIC pthread atomic z)
if(GGAS_SANITIZE)
  target_compile_options(ggas_verilated PRIVATE -fsanitize=${GGAS_SANITIZE})
endif()

# Points of functional coverage of the modules in the given sources: tests/rtl/points.
function(ggas_points result)
  set(folder ${CMAKE_SOURCE_DIR}/tests/rtl/points)
  set(points ${folder}/point.sv)
  foreach(source ${ARGN})
    get_filename_component(module ${source} NAME)
    if(EXISTS ${folder}/${module})
      list(APPEND points ${folder}/${module})
    endif()
  endforeach()
  set(${result} ${points} PARENT_SCOPE)
endfunction()

function(ggas_verilate target)
  cmake_parse_arguments(V "TRACE;NATIVE;LARGE" "TOP;PREFIX" "SOURCES;PARAMETERS;DEFINES;DEPENDS" ${ARGN})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir)
  set(opt -O1)
  set(opt_waves -O1)  # straight code, half the compiler's time of a whole NIC at -O3
  if(V_LARGE)
    set(opt_waves -O0)
  endif()
  if(V_NATIVE)
    set(opt "-O3 -march=native")
  endif()
  set(opt_slow "-O0")  # reset and the list of waves: run once
  if(GGAS_COVERAGE)
    set(opt -O1)  # a counter for every bit: much code, run once
  endif()
  if(GGAS_SANITIZE)
    string(APPEND opt " -fsanitize=${GGAS_SANITIZE}")
    string(APPEND opt_waves " -fsanitize=${GGAS_SANITIZE}")
  endif()
  if(CCACHE)
    set(GGAS_OBJCACHE ${CCACHE})
  endif()
  set(args --cc --build -j 2 -O3 --x-assign fast --x-initial fast --noassert --top-module ${V_TOP} --prefix ${V_PREFIX} --Mdir ${dir} -Wno-fatal
    -MAKEFLAGS "OPT_FAST='$(if $(findstring __Trace,$@),${opt_waves},${opt})' OPT_SLOW=${opt_slow} OPT_GLOBAL=-O2 OBJCACHE=${GGAS_OBJCACHE}")
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR NOT V_NATIVE OR GGAS_COVERAGE)
    list(REMOVE_ITEM args --noassert)
    list(APPEND args --assert)
  endif()
  if(V_TRACE)
    list(APPEND args --trace-fst --trace-structs --trace-underscore)
  endif()
  if(GGAS_COVERAGE)
    list(APPEND args --coverage-line --coverage-toggle --coverage-user)
    ggas_points(points ${V_SOURCES})
    list(APPEND V_SOURCES ${points})
  endif()
  foreach(p ${V_PARAMETERS})
    list(APPEND args -G${p})
  endforeach()
  foreach(d ${V_DEFINES})
    list(APPEND args +define+${d})
  endforeach()
  add_custom_command(OUTPUT ${dir}/${V_PREFIX}__ALL.a
    COMMAND ${CMAKE_COMMAND} -P ${CMAKE_SOURCE_DIR}/cmake/quietly.cmake -- ${VERILATOR} ${args} ${V_SOURCES}
    DEPENDS ${V_SOURCES} ${V_DEPENDS}
    COMMENT "Verilating ${V_TOP} as ${V_PREFIX}" VERBATIM)
  add_custom_target(${target}_gen DEPENDS ${dir}/${V_PREFIX}__ALL.a)
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_gen)
  target_include_directories(${target} SYSTEM INTERFACE ${dir})
  target_link_libraries(${target} INTERFACE ${dir}/${V_PREFIX}__ALL.a ggas_verilated)
  if(GGAS_COVERAGE)
    target_compile_definitions(${target} INTERFACE VM_COVERAGE=1)
  endif()
endfunction()
