# SPDX-License-Identifier: BSD-3-Clause
# Says what is installed for monitoring: the units that write counters for node_exporter, and a dashboard.
if(NOT TARGET omx)
  return()
endif()
set(units "${PROJECT_SOURCE_DIR}/cmake/systemd")
# systemd searches /usr/lib, whatever the folder of libraries is called.
install(FILES "${units}/open-mx-metrics.timer" DESTINATION lib/systemd/system COMPONENT tools)
# The unit names the command's folder, which is known only at installation.
install(CODE "set(bin_dir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
configure_file(\"${units}/open-mx-metrics.service.in\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/open-mx-metrics.service\" @ONLY)" COMPONENT tools)
install(FILES "${PROJECT_SOURCE_DIR}/tools/watch/grafana.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/open-mx"
  COMPONENT tools)
