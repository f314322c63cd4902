# SPDX-License-Identifier: BSD-3-Clause
# cpack reads this file when it starts. Without these two programs the packages would name no dependencies, or
# cpack would fail with a message that names no remedy.
find_program(shlibdeps dpkg-shlibdeps)
find_program(file file)
if(NOT shlibdeps OR NOT file)
  message(FATAL_ERROR "cpack needs two programs to make Debian packages: apt-get install dpkg-dev file")
endif()
