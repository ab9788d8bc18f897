# Writes git_version.hpp with the commit of the sources, at build time, so that a binary never claims
# a commit that it was not built from. Where git or its folder is missing, the environment variable
# SAWTOOTH_GIT_COMMIT may name the commit; else it is "unknown".
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
set(dirty "unknown")
if(failed)
  set(commit "$ENV{SAWTOOTH_GIT_COMMIT}")
  if(NOT commit)
    set(commit "unknown")
  endif()
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(dirty "yes")
  else()
    set(dirty "no")
  endif()
endif()
set(text "#pragma once\n#define SAWTOOTH_GIT_COMMIT \"${commit}\"\n#define SAWTOOTH_GIT_DIRTY \"${dirty}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
