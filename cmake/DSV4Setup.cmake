# Compiler flags, LLVM and MLIR, and the helpers the rest of the build uses.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(DSV4_CCACHE ccache)
if(DSV4_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DSV4_CCACHE})
  if(DSV4_PRECOMPILE)
    # ccache takes a precompiled header for what its macros made of it.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${DSV4_CCACHE})
  endif()
endif()

include(DSV4Compiler)

add_definitions(${DSV4_LLVM_DEFINITIONS})
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-comment
                    -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
                    -ffunction-sections
                    -fdata-sections)
if(DSV4_WERROR)
  add_compile_options(-Werror)
endif()
if(DSV4_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

add_link_options(-fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR} -Wl,--gc-sections)
if(DSV4_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(NOT DSV4_SANITIZE)
  # Not the static libgcc, too: its unwinder needs glibc 2.35.
  add_link_options(-static-libstdc++)
endif()

set(DSV4_GENERATED_INCLUDES
  ${PROJECT_BINARY_DIR}/dialects/DSV4 ${PROJECT_BINARY_DIR}/dialects/Row
  ${PROJECT_BINARY_DIR}/dialects/CUDA
  ${PROJECT_BINARY_DIR}/include)
set(DSV4_ODS_FOLDERS ${PROJECT_SOURCE_DIR}/dialects/DSV4 ${PROJECT_SOURCE_DIR}/dialects/Row
  ${PROJECT_SOURCE_DIR}/dialects/CUDA)
set(DSV4_INCLUDES ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/runtime/include)
include_directories(${DSV4_INCLUDES})
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${DSV4_GENERATED_INCLUDES})

if(DSV4_PRECOMPILE)
  add_library(dsv4_precompiled OBJECT ${CMAKE_CURRENT_LIST_DIR}/PrecompiledMLIR.cpp)
  target_include_directories(dsv4_precompiled SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS})
  target_precompile_headers(dsv4_precompiled
    PRIVATE ${CMAKE_CURRENT_LIST_DIR}/PrecompiledMLIR.h)
endif()

# Gives the sources of a target the precompiled headers of MLIR.
function(dsv4_precompile name)
  if(DSV4_PRECOMPILE)
    target_precompile_headers(${name} REUSE_FROM dsv4_precompiled)
    # -fPIE, which CMake gives executables, would not fit the header's -fPIC.
    get_target_property(type ${name} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${name} PRIVATE -fPIC)
    endif()
  endif()
endfunction()

# Compiles sources of a target together, some of a folder at a time: most of the time goes
# into headers. SKIP_UNITY_BUILD_INCLUSION leaves a source by itself, such as one that
# registers options as it is linked.
function(dsv4_group name)
  if(NOT DSV4_UNITY)
    return()
  endif()
  get_target_property(sources ${name} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "sources_${folder}" group)
    list(LENGTH ${group} count)
    list(APPEND ${group} ${source})
    math(EXPR part "${count} / ${DSV4_UNITY}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# What targets of dsv4_add_library and dsv4_add_tool get in this tree alone.
function(dsv4_finish_target name)
  add_dependencies(${name} DSV4IncGen RowIncGen CUDAIncGen DSV4PassIncGen)
  dsv4_precompile(${name})
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:dsv4_old_glibc>)
  else()
    target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${DSV4_INCLUDES}>")
    target_include_directories(${name} SYSTEM PUBLIC
      "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS};${DSV4_GENERATED_INCLUDES}>")
    dsv4_group(${name})
  endif()
endfunction()

add_library(dsv4_old_glibc OBJECT ${PROJECT_SOURCE_DIR}/tools/OldGlibc.cpp)

# Reference page of a dialect, in docs/ of the build.
function(dsv4_add_dialect_doc td dialect name)
  set(out ${PROJECT_BINARY_DIR}/docs/${name}.md)
  file(GLOB definitions CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/*.td ${PROJECT_SOURCE_DIR}/dialects/DSV4/*.td)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/docs
    COMMAND ${MLIR_TABLEGEN_EXE} -gen-dialect-doc -dialect=${dialect}
            ${CMAKE_CURRENT_SOURCE_DIR}/${td} -I ${CMAKE_CURRENT_SOURCE_DIR}
            -I ${PROJECT_SOURCE_DIR}/dialects/DSV4 -I ${MLIR_INCLUDE_DIRS} -o ${out}
    DEPENDS ${definitions} VERBATIM)
  add_custom_target(dsv4-doc-${dialect} ALL DEPENDS ${out})
endfunction()
