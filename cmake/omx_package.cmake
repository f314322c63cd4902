# SPDX-License-Identifier: BSD-3-Clause
# Makes a Debian package of each component: `cpack -G DEB` in the build folder. The provider has its own
# package, because libfabric brings the libraries of half a dozen other networks.
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/debian/needs.cmake")
set(CPACK_PACKAGE_NAME open-mx)
set(CPACK_PACKAGE_CONTACT "Open-MX developers <open-mx@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# With DESTDIR, files that are written at installation name the true prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library dev tools)
if(TARGET omx-fi)
  list(APPEND CPACK_COMPONENTS_ALL fabric)
endif()
if(TARGET omxd)
  list(APPEND CPACK_COMPONENTS_ALL broker)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# omx needs libmyriexpress.so, which no installed package provides yet.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")

# omx_package(COMPONENT NAME SECTION DESCRIPTION): the first line of the description is the summary.
macro(omx_package component name section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  # Only packages contain this file, and each package must have it.
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

omx_package(library libopen-mx libs "message passing for clusters on ordinary Ethernet
Programs exchange messages over Ethernet frames, without TCP/IP, with the
interface, the binary interface and the wire format of Myrinet Express (MX).
This package has the library. Programs for MX find it as libmyriexpress.so.")
omx_package(dev libopen-mx-dev libdevel "message passing on Ethernet: headers and static library
Headers of the MX interface and of the native one, the static library, files
for pkg-config and CMake, manual pages of the functions, and an example.")
omx_package(tools open-mx-tools net "message passing on Ethernet: the omx command
Shows boards, endpoints, counters and peers, measures latency and throughput,
and examines the settings of NICs. Contains the documents and the lab, which
makes hosts of network namespaces on one machine.")
omx_package(fabric libopen-mx-fabric libs "message passing on Ethernet: libfabric provider
Programs that use libfabric, such as Open MPI and MPICH, run over Open-MX
without changes.")
omx_package(broker open-mx-broker net "message passing on Ethernet: broker for ordinary users
The broker omxd runs as root and gives raw frames to users without privileges,
who can send and receive only the frames of their own endpoints. The package
has its systemd units, and makes the group open-mx. It starts nothing.")

# CPack's own scripts call ldconfig at once. The trigger serves packages that are installed together.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/triggers")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS open-mx-tools)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libopen-mx (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS pkgconf)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libopen-mx (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "iproute2, python3")
set(broker_scripts "${PROJECT_SOURCE_DIR}/cmake/debian/broker")
set(CPACK_DEBIAN_BROKER_PACKAGE_CONTROL_EXTRA "${broker_scripts}/postinst;${broker_scripts}/prerm;${broker_scripts}/postrm")
set(CPACK_DEBIAN_BROKER_PACKAGE_RECOMMENDS systemd)
set(CPACK_DEBIAN_BROKER_PACKAGE_SUGGESTS open-mx-tools)
set(CPACK_DEBIAN_BROKER_PACKAGE_ENHANCES libopen-mx)
set(CPACK_DEBIAN_FABRIC_PACKAGE_ENHANCES "openmpi-bin, mpich")

# libfabric searches only its own folder, which is that of the architecture.
set(provider_dir "${CMAKE_INSTALL_LIBDIR}/libfabric")
set(libfabric_dir "lib/${CMAKE_LIBRARY_ARCHITECTURE}/libfabric")
if(TARGET omx-fi AND CMAKE_LIBRARY_ARCHITECTURE AND NOT provider_dir STREQUAL libfabric_dir)
  file(RELATIVE_PATH provider "/${libfabric_dir}" "/${provider_dir}/libomx-fi.so")
  file(CREATE_LINK "${provider}" "${PROJECT_BINARY_DIR}/package/libomx-fi.so" SYMBOLIC)
  install(FILES "${PROJECT_BINARY_DIR}/package/libomx-fi.so" DESTINATION "${libfabric_dir}" COMPONENT fabric EXCLUDE_FROM_ALL)
endif()
include(CPack)
