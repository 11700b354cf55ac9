#include "dsv4/InitAll.h"
#include "dsv4/JIT/JIT.h"

int main() {
  mlir::DialectRegistry registry;
  dsv4::registerAllDialects(registry);
  return dsv4::Session::create({}) ? 0 : 1;
}
