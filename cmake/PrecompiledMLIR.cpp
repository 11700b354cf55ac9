// Empty: the target that compiles the headers of MLIR needs a source file.
