# The terms of dsv4 and of what is linked into its binaries, for the wheel. Those
# of Boost and of GCC's libraries ask nothing of binaries.

set(DSV4_LICENSES /usr/share/doc CACHE PATH
  "Where the terms of each Debian package are: PACKAGE/copyright")

set(licenses ${SKBUILD_METADATA_DIR}/licenses)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/../../LICENSE
  DESTINATION ${licenses} COMPONENT python EXCLUDE_FROM_ALL)
foreach(package llvm-22-dev libncurses-dev libsodium-dev libzstd-dev
                nlohmann-json3-dev zlib1g-dev)
  set(terms ${DSV4_LICENSES}/${package}/copyright)
  # A wheel without them must not be given away.
  if(NOT EXISTS ${terms})
    message(FATAL_ERROR "${terms} is missing, and the wheel needs these terms: "
      "install ${package}, or set DSV4_LICENSES to a folder with "
      "${package}/copyright")
  endif()
  install(FILES ${terms} DESTINATION ${licenses} RENAME ${package}.txt
    COMPONENT python EXCLUDE_FROM_ALL)
endforeach()
