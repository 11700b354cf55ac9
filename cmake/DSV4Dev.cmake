# The component `dev` of the installed package: dsv4Config.cmake includes it.

include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(MLIR 22.1 CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_library(DSV4_SODIUM libsodium.a)
find_library(DSV4_BOOST_CONTEXT NAMES libboost_context.a boost_context)
if(NOT DSV4_SODIUM OR NOT DSV4_BOOST_CONTEXT)
  set(dsv4_FOUND FALSE)
  set(dsv4_NOT_FOUND_MESSAGE
    "libsodium or Boost.Context was not found: install libsodium-dev and libboost-context-dev")
  return()
endif()

include(${CMAKE_CURRENT_LIST_DIR}/DSV4Compiler.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/dsv4DevTargets.cmake)
# Where they are on this machine; the exported targets name no path outside of the tree.
target_link_libraries(dsv4_runtime INTERFACE ${DSV4_SODIUM})
target_link_libraries(dsv4_host_target INTERFACE ${DSV4_BOOST_CONTEXT})
get_target_property(DSV4_ODS_FOLDERS dsv4_dialects INTERFACE_INCLUDE_DIRECTORIES)
set(dsv4_dev_FOUND TRUE)
