# The terms of dsv4 and of what is linked into its binaries, for the wheel. Those
# of Boost and of GCC's libraries ask nothing of binaries.

set(licenses ${SKBUILD_METADATA_DIR}/licenses)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/../../LICENSE
  DESTINATION ${licenses} COMPONENT python EXCLUDE_FROM_ALL)
foreach(package llvm-22-dev libncurses-dev libsodium-dev libzstd-dev
                nlohmann-json3-dev zlib1g-dev)
  set(terms /usr/share/doc/${package}/copyright)
  if(EXISTS ${terms})
    install(FILES ${terms} DESTINATION ${licenses} RENAME ${package}.txt
      COMPONENT python EXCLUDE_FROM_ALL)
  else()
    message(WARNING "${terms} is missing: the wheel will lack these terms")
  endif()
endforeach()
