# The component `dev` of the installed tree, which ops of other projects are built with: the
# compiler's libraries, its headers, and the ODS of its dialects. runtime/c/Install.cmake
# installs the package that finds them.

include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dsv4)
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR})

install(TARGETS
  dsv4_conversion dsv4_device_library dsv4_dialects dsv4_disk_cache dsv4_distribution
  dsv4_host_compiler dsv4_host_target dsv4_jit dsv4_language_server dsv4_launch dsv4_layout
  dsv4_nvrtc dsv4_pipelines dsv4_reference dsv4_run dsv4_runtime dsv4_schedule
  dsv4_schedule_tables dsv4_signature dsv4_support dsv4_target_cuda dsv4_testing
  dsv4_transforms
  EXPORT dsv4DevTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/dsv4 COMPONENT dev
  INCLUDES DESTINATION ${include_dir} ${include_dir}/dsv4/dialects/DSV4
    ${include_dir}/dsv4/dialects/Row ${include_dir}/dsv4/dialects/CUDA)
install(EXPORT dsv4DevTargets DESTINATION ${package_dir} COMPONENT dev)
install(FILES cmake/DSV4Compiler.cmake cmake/DSV4Dev.cmake
  DESTINATION ${package_dir} COMPONENT dev)

install(DIRECTORY
  include/dsv4 runtime/include/dsv4-runtime runtime/layout/include/dsv4-layout
  ${PROJECT_BINARY_DIR}/include/dsv4
  DESTINATION ${include_dir} COMPONENT dev
  FILES_MATCHING PATTERN "*.h" PATTERN "*.h.inc" PATTERN CMakeFiles EXCLUDE)
# Definitions and what is generated from them lie side by side, as MLIR's do.
foreach(dialect DSV4 Row CUDA)
  install(DIRECTORY dialects/${dialect}/ ${PROJECT_BINARY_DIR}/dialects/${dialect}/
    DESTINATION ${include_dir}/dsv4/dialects/${dialect} COMPONENT dev
    FILES_MATCHING PATTERN "*.td" PATTERN "*.h.inc" PATTERN CMakeFiles EXCLUDE)
endforeach()
