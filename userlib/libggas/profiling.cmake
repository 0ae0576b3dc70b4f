# SPDX-License-Identifier: Apache-2.0
# The profiling interface of GASPI: each procedure also has the name pgaspi_..., so that a tool can take the place of
# the first and call the second. Header and names are made from the headers: none is forgotten.
set(PGASPI [[
/* SPDX-License-Identifier: Apache-2.0 */
/* Made from the headers below: the same procedures, for tools that take their places. */
#ifndef PGASPI_H
#define PGASPI_H

#include <GASPI_Ext.h>
#include <GASPI_GPU.h>
#include <GASPI_Lowlevel.h>
#include <GASPI_Threads.h>

#ifdef __cplusplus
extern "C" {
#endif
]])
set(PGASPI_NAMES "")
foreach(header GASPI.h GASPI_Ext.h GASPI_GPU.h GASPI_Lowlevel.h GASPI_Threads.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/userlib/include/${header})
  file(READ ${CMAKE_SOURCE_DIR}/userlib/include/${header} text)
  string(REPLACE ";" "@" text "${text}")
  string(REGEX MATCHALL "\n(gaspi_return_t|gaspi_string_t|void) gaspi_[A-Za-z_]+\\([^@\n]*[^@]*@" found "${text}")
  foreach(declaration ${found})
    string(REGEX REPLACE "#[^\n]*\n" "" declaration "${declaration}")
    string(REGEX REPLACE "__attribute__.*@" "@" declaration "${declaration}")
    string(REGEX MATCH "gaspi_[A-Za-z_]+\\(" name "${declaration}")
    string(REPLACE "(" "" name "${name}")
    string(REPLACE " ${name}(" " p${name}(" declaration "${declaration}")
    string(REPLACE "@" ";" declaration "${declaration}")
    string(APPEND PGASPI "${declaration}")
    string(APPEND PGASPI_NAMES "--defsym=p${name}=${name}\n")
  endforeach()
endforeach()
string(APPEND PGASPI "\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n")
set(GGAS_PGASPI ${CMAKE_CURRENT_BINARY_DIR}/include/PGASPI.h CACHE INTERNAL "")
file(CONFIGURE OUTPUT ${GGAS_PGASPI} CONTENT "${PGASPI}" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/pgaspi.names CONTENT "${PGASPI_NAMES}" @ONLY)
target_include_directories(libggas PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/include>)
# What a tool replaces is what programs call, not what the library calls itself.
target_link_options(libggas PRIVATE -Wl,-Bsymbolic-functions -Wl,@${CMAKE_CURRENT_BINARY_DIR}/pgaspi.names)
