# Writes OUTPUT with the digest of every source file of the compiler, so that a
# changed compiler never answers from the cache of another.
string(REPLACE "," ";" FILES "${FILES}")
set(all "LLVM ${LLVM_VERSION}\n")
foreach(file ${FILES})
  file(SHA256 ${SOURCE_DIR}/${file} digest)
  string(APPEND all "${digest} ${file}\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUTPUT}
  "namespace dsv4 {\nextern const char compilerDigest[];\n"
  "const char compilerDigest[] = \"${digest}\";\n} // namespace dsv4\n")
