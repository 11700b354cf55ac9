# MLIR, and the functions that make libraries of ops and tools: for this tree, and, installed
# beside dsv4Config.cmake, for ops that are built against an installed one.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(DSV4_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# Tools are single files that need libc and libgcc_s only: MLIR, LLVM, libstdc++
# and the small libraries below are linked statically. The exported MLIR targets name
# the shared LLVM library, so the archives are named here.
set(DSV4_LLVM_LIB_DIR ${LLVM_LIBRARY_DIR})
file(GLOB DSV4_MLIR_ARCHIVES ${DSV4_LLVM_LIB_DIR}/libMLIR*.a)
list(FILTER DSV4_MLIR_ARCHIVES EXCLUDE REGEX "CAPI|ExecutionEngine|Test|Python|Runner|SPIRV|ToLLVMIR|LLVMIRImport")
set(DSV4_LLVM_ARCHIVES)
foreach(component Support Core Demangle TargetParser BinaryFormat Remarks
                  BitstreamReader SupportLSP TableGen)
  list(APPEND DSV4_LLVM_ARCHIVES ${DSV4_LLVM_LIB_DIR}/libLLVM${component}.a)
endforeach()
find_library(DSV4_ZSTD libzstd.a REQUIRED)
find_library(DSV4_Z libz.a REQUIRED)
find_library(DSV4_TINFO libtinfo.a REQUIRED)

# Imported, so that the libraries are installed without the paths of this machine.
add_library(dsv4_llvm INTERFACE IMPORTED GLOBAL)
target_include_directories(dsv4_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(dsv4_llvm INTERFACE
  -Wl,--start-group ${DSV4_LLVM_ARCHIVES} -Wl,--end-group ${DSV4_ZSTD} ${DSV4_Z} ${DSV4_TINFO} dl pthread m)
add_library(dsv4_mlir INTERFACE IMPORTED GLOBAL)
target_include_directories(dsv4_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
target_link_libraries(dsv4_mlir INTERFACE
  -Wl,--start-group ${DSV4_MLIR_ARCHIVES} -Wl,--end-group dsv4_llvm)

# On the target, so that projects that add this one link as it does.
target_link_options(dsv4_llvm INTERFACE
  -fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR} -Wl,--gc-sections)
target_compile_definitions(dsv4_llvm INTERFACE ${DSV4_LLVM_DEFINITIONS})

# Generates the code of a dialect from its ODS, the file <Name>Ops.td: <Name>Dialect.h.inc,
# <Name>Dialect.cpp.inc, <Name>Ops.h.inc and <Name>Ops.cpp.inc, in the current binary folder.
# With ATTRIBUTES <Name>Attrs.h.inc and <Name>Attrs.cpp.inc, too. `target` makes them. The file
# may include those of dsv4's dialects.
function(dsv4_add_dialect target td dialect)
  cmake_parse_arguments(ARG "ATTRIBUTES" "" "" ${ARGN})
  string(REGEX REPLACE "Ops\\.td$" "" name ${td})
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(includes EXTRA_INCLUDES ${DSV4_ODS_FOLDERS} ${MLIR_INCLUDE_DIRS})
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${dialect} ${includes})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect} ${includes})
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls ${includes})
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs ${includes})
  if(ARG_ATTRIBUTES)
    mlir_tablegen(${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect} ${includes})
    mlir_tablegen(${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect} ${includes})
  endif()
  add_public_tablegen_target(${target})
endfunction()

# A library of the compiler, or of an op's dialect: sees MLIR's headers, and those of what it
# links.
function(dsv4_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_features(${name} PUBLIC cxx_std_17)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(COMMAND dsv4_finish_target)
    dsv4_finish_target(${name})
  endif()
endfunction()

# A tool: one file in bin/, stripped of nothing but unused sections. In dsv4's own tree it
# starts on glibc 2.34.
function(dsv4_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(COMMAND dsv4_finish_target)
    dsv4_finish_target(${name})
  endif()
endfunction()
