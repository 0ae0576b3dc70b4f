# SPDX-License-Identifier: Apache-2.0
# Programs for real GPUs, where there are a CUDA compiler and toml++; never required. GGAS_NVCC names it, or is false.
# ggas_nvcc_executable(<target> [WITH_GPU] SOURCES <.cu files> [OBJECTS <object libraries>] [LIBRARIES <CMake targets of this project>] [ARGUMENTS <more for nvcc>] [LINK <archives, more for its link>])
# makes the target build_<target> and the program <target> in the current binary folder; compiles for sm_90 (set GGAS_CUDA_ARCH for others) and links with the cuda provider, which finds the driver at run time.
# The objects of those in `all` are in the global property GGAS_NVCC_OBJECTS.
# WITH_GPU: a long compilation for nothing where there is no GPU, so it is part of `all` only where there is one, or with
# -DGGAS_GPU=ON (`./ggas test --full`).
# ggas_nvcc_compiles(<test> <.cu file> [DEVICE] INCLUDE <folders> [ARGUMENTS <more for nvcc>])
# makes a test: the file compiles without a warning. No one runs what comes of it, so nothing is optimised where nvcc can do that.
# DEVICE: all is read, but only code of kernels is made, in a quarter of the time.

find_program(GGAS_NVCC nvcc PATHS /usr/local/cuda/bin)
set(gpu_here OFF)
if(EXISTS /dev/nvidiactl)
  set(gpu_here ON)
endif()
option(GGAS_GPU "Build with everything else what only a GPU can use" ${gpu_here})
set(GGAS_CUDA_ARCH "sm_90" CACHE STRING "Architecture of GPU code, as nvcc's -arch")
if(GGAS_NVCC AND NOT TOMLPLUSPLUS)  # of the provider's tuning tables
  message(STATUS "Left out: programs for GPUs (provider cuda); not found: toml++")
  set(GGAS_NVCC "")
endif()
if(NOT GGAS_NVCC)
  return()
endif()
# For tests that may run on another machine.
find_library(GGAS_GTEST_ARCHIVE libgtest.a)
find_library(GGAS_GTEST_MAIN_ARCHIVE libgtest_main.a)
get_filename_component(cuda_bin ${GGAS_NVCC} DIRECTORY)
get_filename_component(GGAS_CUDA_ROOT ${cuda_bin}/.. ABSOLUTE)
# Lists machine code; where the toolkit came without it that of requirements.txt.
file(GLOB python_cuda ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/bin)
find_program(GGAS_CUOBJDUMP cuobjdump HINTS ${cuda_bin} ${python_cuda})
if(NOT GGAS_CUOBJDUMP)
  set(GGAS_CUOBJDUMP cuobjdump)
endif()
# As records name it.
execute_process(COMMAND ${GGAS_NVCC} --version OUTPUT_VARIABLE version)
string(REGEX MATCH "release [0-9.]+" version "${version}")
string(REPLACE "release" "nvcc" GGAS_NVCC_TEXT "${version} ${GGAS_CUDA_ARCH}")
set(GGAS_NVCC_FLAGS -std=c++20 -O3 -arch=${GGAS_CUDA_ARCH} -I ${CMAKE_SOURCE_DIR}/gpu_api/include -I ${CMAKE_SOURCE_DIR}/userlib/include
    -I ${CMAKE_SOURCE_DIR}/userlib/driver -I ${CMAKE_SOURCE_DIR} -Xcompiler=-Wall)

function(ggas_nvcc_executable target)
  cmake_parse_arguments(N "WITH_GPU" "" "SOURCES;OBJECTS;LIBRARIES;ARGUMENTS;LINK" ${ARGN})
  set(all ALL)
  if(N_WITH_GPU AND NOT GGAS_GPU)
    set(all "")
  endif()
  set(objects)
  foreach(source ${N_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${GGAS_NVCC} ${GGAS_NVCC_FLAGS} ${N_ARGUMENTS} -MD -MF ${object}.d -c
              ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${object}.d COMMENT "nvcc ${source}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  if(all)
    set_property(GLOBAL APPEND PROPERTY GGAS_NVCC_OBJECTS ${objects})
  endif()
  foreach(library ${N_OBJECTS})
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endforeach()
  set(libraries)
  foreach(library ${N_LIBRARIES} ggas_provider_cuda)
    list(APPEND libraries $<TARGET_FILE:${library}>)
    if(library MATCHES "^ggas_provider_")
      list(APPEND libraries -Xlinker -u -Xlinker ${library})  # a provider makes itself known
    endif()
  endforeach()
  string(REPLACE "," ";" sanitize "${GGAS_SANITIZE}")
  list(TRANSFORM sanitize PREPEND -Xcompiler=-fsanitize=)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${target})
  add_custom_command(OUTPUT ${program}
    COMMAND ${GGAS_NVCC} -arch=${GGAS_CUDA_ARCH} ${objects} ${libraries} ${N_LINK} ${N_ARGUMENTS} ${sanitize} -o ${program}
    DEPENDS ${objects} ${N_LIBRARIES} ggas_provider_cuda COMMENT "nvcc links ${target}" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(build_${target} ${all} DEPENDS ${program})
endfunction()

# ggas_nvcc_library(<target> <object>|<.cu file>|<arguments> ...) makes lib<target>.a of device code for programs that
# nvlink links (-rdc=true), with machine code and, for links with -dlto and nvJitLink, LTO-IR; target build_<target>.
string(REGEX REPLACE "^sm_([0-9]+[af]?)$" "-gencode;arch=compute_\\1,code=[sm_\\1,lto_\\1]" ggas_nvcc_fat "${GGAS_CUDA_ARCH}")
if(ggas_nvcc_fat STREQUAL GGAS_CUDA_ARCH)
  set(ggas_nvcc_fat -arch=${GGAS_CUDA_ARCH})
endif()
function(ggas_nvcc_library target)
  list(TRANSFORM GGAS_NVCC_FLAGS REPLACE "^-arch=.*$" "" OUTPUT_VARIABLE flags)
  set(objects)
  foreach(part ${ARGN})
    string(REPLACE "|" ";" part "${part}")
    list(POP_FRONT part name source)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${GGAS_NVCC} ${flags} ${ggas_nvcc_fat} -rdc=true ${part} -MD -MF ${object}.d -c
              ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${object}.d COMMENT "nvcc ${source} (${name})" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY GGAS_NVCC_OBJECTS ${objects})
  set(library ${CMAKE_CURRENT_BINARY_DIR}/lib${target}.a)
  add_custom_command(OUTPUT ${library} COMMAND ${CMAKE_COMMAND} -E rm -f ${library}
    COMMAND ${GGAS_NVCC} -lib ${objects} -o ${library} DEPENDS ${objects} COMMENT "nvcc makes lib${target}.a" VERBATIM)
  add_custom_target(build_${target} ALL DEPENDS ${library})
  set_target_properties(build_${target} PROPERTIES GGAS_ARCHIVE ${library})
endfunction()

execute_process(COMMAND ${GGAS_NVCC} --help OUTPUT_VARIABLE help)
set(ggas_nvcc_quick "")
if(help MATCHES "--Ofast-compile")
  set(ggas_nvcc_quick --Ofast-compile=max)
endif()
function(ggas_nvcc_compiles test source)
  cmake_parse_arguments(N "DEVICE" "" "INCLUDE;ARGUMENTS" ${ARGN})
  set(made -c)
  if(N_DEVICE)
    set(made -ptx)
  endif()
  list(TRANSFORM N_INCLUDE PREPEND -I)
  add_test(NAME ${test} COMMAND ${GGAS_NVCC} -std=c++20 -arch=${GGAS_CUDA_ARCH} ${ggas_nvcc_quick} -Werror all-warnings ${N_ARGUMENTS} ${N_INCLUDE}
    ${made} ${source} -o ${CMAKE_CURRENT_BINARY_DIR}/${test}.o)
  set_tests_properties(${test} PROPERTIES TIMEOUT 300)
endfunction()
