# What `cmake --install` makes: a tree that may be moved, with a package for
# find_package and one for pkg-config.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dsv4)
install(TARGETS dsv4_c dsv4_c_static EXPORT dsv4RuntimeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  NAMELINK_COMPONENT runtime
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/../include/dsv4.h
              ${CMAKE_CURRENT_SOURCE_DIR}/../include/dsv4.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/../../LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dsv4 COMPONENT runtime)
install(EXPORT dsv4RuntimeTargets NAMESPACE dsv4::
  DESTINATION ${package_dir} COMPONENT runtime)

configure_package_config_file(
  ${CMAKE_CURRENT_SOURCE_DIR}/dsv4Config.cmake.in dsv4Config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the C++ layer.
write_basic_package_version_file(dsv4ConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
# Every directory of the file is found from where it is.
file(RELATIVE_PATH dsv4_prefix_from_pc
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/dsv4.pc.in dsv4.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dsv4Config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/dsv4ConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT runtime)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dsv4.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
