# SPDX-License-Identifier: BSD-3-Clause
# Says what is installed of the broker: the daemon, its units, its example policy and its manual pages.
if(NOT TARGET omxd)
  return()
endif()
install(TARGETS omxd RUNTIME DESTINATION "${CMAKE_INSTALL_SBINDIR}" COMPONENT broker)
# systemd searches /usr/lib, whatever the folder of libraries is called.
set(units "${PROJECT_SOURCE_DIR}/cmake/systemd")
install(FILES "${units}/omxd.socket" DESTINATION lib/systemd/system COMPONENT broker)
# The unit names the daemon's folder, which is known only at installation.
install(CODE "set(sbin_dir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_SBINDIR}\")
configure_file(\"${units}/omxd.service.in\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/omxd.service\" @ONLY)" COMPONENT broker)
install(FILES "${units}/sysusers.conf" DESTINATION lib/sysusers.d RENAME open-mx-broker.conf COMPONENT broker)
install(FILES "${units}/tmpfiles.conf" DESTINATION lib/tmpfiles.d RENAME open-mx-broker.conf COMPONENT broker)
install(FILES "${PROJECT_SOURCE_DIR}/examples/broker.conf" DESTINATION "${CMAKE_INSTALL_DATADIR}/open-mx/examples"
  COMPONENT broker)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/man8" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT broker)
install(FILES "${PROJECT_SOURCE_DIR}/docs/man/man5/broker.conf.5" DESTINATION "${CMAKE_INSTALL_MANDIR}/man5"
  COMPONENT broker)
