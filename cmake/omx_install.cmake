# SPDX-License-Identifier: BSD-3-Clause
# Says what `cmake --install` installs, and the files by which other builds find it: pkg-config files
# (open-mx.pc, and myriexpress.pc for programs that look for MX) and a CMake package (find_package(open-mx),
# target open-mx::myriexpress). Each component is a Debian package (debian/rules).
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
  FILES_MATCHING PATTERN "*.h")
install(TARGETS myriexpress EXPORT open-mx LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
# Programs linked with Open-MX 1.x find the library by these links (docs/spec/mx-api.md 8.3).
install(FILES "${PROJECT_BINARY_DIR}/lib/libopen-mx.so.0" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
install(FILES
  "${PROJECT_BINARY_DIR}/lib/libmyriexpress.a"
  "${PROJECT_BINARY_DIR}/lib/libopen-mx.a"
  "${PROJECT_BINARY_DIR}/lib/libopen-mx.so"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)

# Configure scripts of MPI libraries look for lib64 in the prefix of Open-MX, as Open-MX 1.x had it
# (docs/spec/mx-api.md 8.3). In a prefix that other software shares, lib64 is not ours.
if(CMAKE_INSTALL_LIBDIR STREQUAL "lib" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  install(CODE [[
    set(lib64 "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib64")
    if(NOT CMAKE_INSTALL_PREFIX MATCHES "^/(usr(/local)?)?/?$" AND NOT EXISTS "${lib64}")
      file(CREATE_LINK lib "${lib64}" SYMBOLIC)
    endif()]] COMPONENT dev)
endif()

# The command finds the library in the same prefix, wherever the prefix is.
if(TARGET omx)
  set_target_properties(omx PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()

# --- files by which other builds find it ---
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/open-mx")
set(package_build_dir "${PROJECT_BINARY_DIR}/package")
install(EXPORT open-mx NAMESPACE open-mx:: FILE open-mx-targets.cmake DESTINATION "${package_dir}" COMPONENT dev)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/open-mx-config.cmake.in" "${package_build_dir}/open-mx-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${package_build_dir}/open-mx-config-version.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMajorVersion)
install(FILES "${package_build_dir}/open-mx-config.cmake" "${package_build_dir}/open-mx-config-version.cmake"
  DESTINATION "${package_dir}" COMPONENT dev)

# Paths are relative to the file, so that the prefix can be moved.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_prefix "/prefix/${pc_dir}" "/prefix")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR OMX_SANITIZE)
  set(pc_static "-lstdc++ ")  # otherwise the archive contains libstdc++
endif()
foreach(name open-mx myriexpress)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/open-mx.pc.in" "${package_build_dir}/${name}.pc" @ONLY)
  install(FILES "${package_build_dir}/${name}.pc" DESTINATION "${pc_dir}" COMPONENT dev)
endforeach()

# --- examples and documents ---
set(share_dir "${CMAKE_INSTALL_DATADIR}/open-mx")
# Links between documents go by folders, so they are laid out as in the source tree.
foreach(document README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md LICENSE)
  install(FILES "${PROJECT_SOURCE_DIR}/${document}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT tools)
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT tools PATTERN man EXCLUDE
  PATTERN "*.py" EXCLUDE PATTERN "pictures/*.txt" EXCLUDE PATTERN "*.json" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/lab/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/lab" COMPONENT tools)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION "${share_dir}/examples" COMPONENT dev
  PATTERN "*.conf" EXCLUDE PATTERN peers EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/examples/open-mx.conf" "${PROJECT_SOURCE_DIR}/examples/peers"
  DESTINATION "${share_dir}/examples" COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/wireshark/" DESTINATION "${share_dir}/wireshark" COMPONENT tools)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/lab/" DESTINATION "${share_dir}/lab" USE_SOURCE_PERMISSIONS COMPONENT lab
  PATTERN "__pycache__" EXCLUDE)

include(omx_metrics_install)
include(omx_broker_install)
