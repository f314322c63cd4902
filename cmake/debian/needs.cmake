# SPDX-License-Identifier: BSD-3-Clause
# Read by cpack when it begins: without these two it would make packages that name no dependencies, or end with a riddle.
find_program(shlibdeps dpkg-shlibdeps)
find_program(file file)
if(NOT shlibdeps OR NOT file)
  message(FATAL_ERROR "Debian packages need two programs to be made: apt-get install dpkg-dev file")
endif()
