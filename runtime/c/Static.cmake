# libdsv4.a, for programs that want the runtime in themselves: one object, made of
# the objects of libdsv4.so and what they need of Boost.Context and libsodium. Its
# global names are those of dsv4.h; the rest cannot meet the program's own.

file(STRINGS exports.map exports REGEX "^ *dsv4_[a-z_]+;$")
list(TRANSFORM exports REPLACE "[ ;]" "")
set(roots ${exports})
list(TRANSFORM roots PREPEND "-u;")
list(JOIN exports "\n" names)
file(CONFIGURE OUTPUT exports.txt CONTENT "@names@\n" @ONLY)

set(object ${CMAKE_CURRENT_BINARY_DIR}/dsv4.o)
# GNU ld: lld drops no sections from an object.
find_program(DSV4_LD NAMES ld.bfd ld REQUIRED)
add_custom_command(
  OUTPUT ${object}
  # Groups would leave references to sections that the program's linker drops.
  COMMAND ${DSV4_LD} -r --force-group-allocation --gc-sections ${roots} -o ${object}
    $<TARGET_OBJECTS:dsv4_c>
    --start-group
    $<TARGET_FILE:dsv4_runtime> $<TARGET_FILE:dsv4_host_target>
    $<TARGET_FILE:dsv4_launch> ${DSV4_BOOST_CONTEXT} ${DSV4_SODIUM}
    --end-group
  COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=exports.txt ${object}
  DEPENDS $<TARGET_OBJECTS:dsv4_c> dsv4_runtime dsv4_host_target dsv4_launch
    ${CMAKE_CURRENT_SOURCE_DIR}/exports.map
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
  COMMENT "Linking libdsv4.a into one object"
  COMMAND_EXPAND_LISTS
  VERBATIM)

add_library(dsv4_c_static STATIC ${object})
add_library(dsv4::runtime_static ALIAS dsv4_c_static)
# Makefiles of another directory do not know how its objects are made.
add_dependencies(dsv4_c_static dsv4_c)
set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(dsv4_c_static PROPERTIES
  LINKER_LANGUAGE CXX
  OUTPUT_NAME dsv4
  EXPORT_NAME runtime_static
  ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_include_directories(dsv4_c_static
  INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/../include>
            $<INSTALL_INTERFACE:include>)
# By name, so that a program in C links it, too.
target_link_libraries(dsv4_c_static INTERFACE stdc++ m pthread ${CMAKE_DL_LIBS})
