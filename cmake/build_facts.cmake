# SPDX-License-Identifier: Apache-2.0
# Writes a source file with commit and compiler of a build; the file changes only if they do.
#   cmake -DSOURCE=<folder> -DOUTPUT=<file> -DCOMPILER=<text> -P build_facts.cmake
function(git result)
  execute_process(COMMAND git -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${result} "" PARENT_SCOPE)
  if(status EQUAL 0)
    set(${result} "${text}" PARENT_SCOPE)
  endif()
endfunction()

# Sources that lie in the repository of another project have no commit of their own.
git(top rev-parse --show-toplevel)
file(REAL_PATH ${SOURCE} source)
set(COMMIT unknown)
if(top STREQUAL source)
  git(described describe --always --dirty --abbrev=12 "--exclude=*")
  if(described)
    set(COMMIT ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
namespace ggas::bench {
extern const char* const commit;
extern const char* const compiler;
const char* const commit = "@COMMIT@";
const char* const compiler = "@COMPILER@";
}  // namespace ggas::bench
]])
