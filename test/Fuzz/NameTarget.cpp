//===- NameTarget.cpp - Names of strangers in emitted source --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte of an input says where the rest stands as a name: function,
// argument, dim, record field, location, file or kernel. The emitted source
// must be, word by word, that of a plain name with other identifiers, and the
// host compiler and NVRTC must take it.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "dsv4/JIT/JIT.h"
#include "dsv4/JIT/NVRTC.h"
#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <map>
#include <set>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::fuzz;

namespace {

enum Place : unsigned char {
  Function,
  Argument,
  Dim,
  Field,
  NameOfLocation,
  File,
  Kernel,
  kTopK
};

/// So many sources are compiled together.
constexpr size_t kBatch = 64;

/// `text` in a string of MLIR.
std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (unsigned char c : text)
    if (llvm::isAlnum(c) || c == '_')
      result += char(c);
    else
      result += "\\" + llvm::toHex(llvm::StringRef((const char *)&c, 1));
  return result + "\"";
}

/// A program with the name `name` at `place`, and plain ones elsewhere.
std::string makeProgram(Place place, llvm::StringRef name,
                        const std::string &function) {
  auto at = [&](Place here, const std::string &plain) {
    return here == place ? quoted(name) : "\"" + plain + "\"";
  };
  std::string cache = "!dsv4.cache<4 x <[<\"v\" : 64 x f8E4M3FN in row>, <" +
                      at(Field, "s") +
                      " : 4 x f8E8M0FNU in array scales \"v\" per 16>]>>";
  std::string gather =
      "dsv4.paged_gather %c[%i] outs(%o : tensor<?x64xbf16>) : " + cache +
      ", tensor<?xi32> loc(" + at(NameOfLocation, "place") + ")";
  std::string body = "  %r = " + gather + "\n";
  if (place == Kernel)
    body = "  %r = dsv4.kernel @" + quoted(name) + "(%c, %i, %o) : (" + cache +
           ", tensor<?xi32>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {\n"
           "  ^bb0(%d: " +
           cache +
           ", %j: tensor<?xi32>, %p: tensor<?x64xbf16>):\n"
           "  %s = dsv4.paged_gather %d[%j] outs(%p : tensor<?x64xbf16>) : " +
           cache +
           ", tensor<?xi32>\n"
           "  dsv4.yield %s : tensor<?x64xbf16>\n  }\n";
  return "func.func @" + at(Function, function) + "(%c: " + cache +
         " {dsv4.name = \"cache\"}, %i: tensor<?xi32> {dsv4.name = " +
         at(Argument, "indices") + ", dsv4.dims = [" + at(Dim, "rows_of_it") +
         "]}, %o: tensor<?x64xbf16> {dsv4.name = \"out\", dsv4.dims = [" +
         at(Dim, "rows_of_it") + ", \"\"]}) -> tensor<?x64xbf16> {\n" + body +
         "  return %r : tensor<?x64xbf16>\n}\n";
}

rt::Result<EmittedProgram> emitAt(Place place, llvm::StringRef name,
                                  const std::string &function) {
  return emitProgram(makeProgram(place, name, function),
                     place == File ? name.str() : "plain.mlir", {}, "cuda",
                     "sm_90a");
}

/// The words of a source without its comments and #line; a name of the device
/// library is one with its namespace, a member such as that of `threadIdx.x`
/// with its dot, and `extern "C"` has one, too.
std::vector<std::string> wordsOf(llvm::StringRef source) {
  std::string code;
  for (llvm::StringRef line : llvm::split(source, '\n'))
    if (!line.ltrim().starts_with("//") && !line.ltrim().starts_with("#line"))
      code += line.str() + "\n";
  std::vector<std::string> words;
  for (std::string &word : tokenize(code)) {
    if (llvm::isSpace(word.front()))
      continue;
    bool isLinkage = !words.empty() && words.back() == "\"" && word == "C";
    bool isQualified =
        isLinkage ||
        (!words.empty() && (words.back() == "dsv4" || words.back() == "dsv4:" ||
                            words.back() == "dsv4::" || words.back() == "."));
    if (isQualified)
      words.back() += word;
    else
      words.push_back(std::move(word));
  }
  return words;
}

/// How `source` differs from `plain` in more than names, or an empty string.
std::string compareSources(llvm::StringRef plain, llvm::StringRef source) {
  std::vector<std::string> before = wordsOf(plain), after = wordsOf(source);
  if (before.size() != after.size())
    return "has " + std::to_string(after.size()) + " words, expected " +
           std::to_string(before.size());
  std::map<std::string, std::string> renamed;
  std::set<std::string> used;
  for (auto [from, to] : llvm::zip_equal(before, after)) {
    if (auto [known, isNew] = renamed.try_emplace(from, to);
        !isNew ? known->second != to : !used.insert(to).second)
      return "has '" + to + "' for '" + from + "'";
    if (from != to &&
        !(llvm::isAlpha(from.front()) && llvm::isAlpha(to.front())))
      return "has '" + to + "' for '" + from + "'";
  }
  return "";
}

/// Sources that wait for their compilers.
struct Batch {
  std::string source, symbol;
  std::set<std::string> symbols;
  std::vector<std::string> headers;
  size_t count = 0;
} batch;

Outcome compileBatch() {
  if (batch.count == 0)
    return accepted();
  Batch full = std::move(batch);
  batch = Batch();
  alarm(kCompilerSeconds);
  auto image = rt::compileHost(rt::hostPrelude(full.headers) + full.source +
                               rt::hostEpilogue(full.symbol));
  if (!image)
    return broken("the host compiler refuses names: " +
                  image.status().message());
  auto nvrtc = jit::NVRTC::get();
  if (!nvrtc)
    return accepted();
  auto cubin = (*nvrtc)->compile(rt::cudaPrelude(full.headers) + full.source,
                                 "names.cu", "sm_90a", {});
  return cubin ? accepted()
               : broken("NVRTC refuses names: " + cubin.status().message());
}

Outcome runName(llvm::StringRef input) {
  if (input.empty())
    return refused();
  auto place = static_cast<Place>((unsigned char)input.front() % kTopK);
  llvm::StringRef name = input.drop_front();
  static const std::string plain = [] {
    auto emitted = emitAt(File, "plain.mlir", "k");
    if (!emitted)
      llvm::report_fatal_error(emitted.status().message().c_str());
    return emitted->texts.front();
  }();
  // Kernels of a batch have names of their own.
  static unsigned number = 0;
  auto emitted = emitAt(place, name, "k" + std::to_string(number++));
  if (!emitted)
    return refusedWith(emitted.status().message());
  const std::string &source = emitted->texts.front();
  if (std::string why = compareSources(plain, source); !why.empty())
    return broken("the source " + why + ":\n" + source);
  const std::string &symbol = emitted->info.kernels.front().symbol;
  // One function has one name, so its second source begins another batch.
  Outcome outcome = accepted();
  if (batch.count == kBatch || batch.symbols.count(symbol))
    outcome = compileBatch();
  batch.source += source;
  batch.symbol = symbol;
  batch.symbols.insert(symbol);
  batch.headers = emitted->headers.front();
  ++batch.count;
  return outcome;
}

std::vector<std::string> makeNameSeeds(std::mt19937_64 &random) {
  std::vector<std::string> names = {"f",
                                    "f x",
                                    "x",
                                    "f_x",
                                    "f_module",
                                    "int",
                                    "main",
                                    "printf",
                                    "memcpy",
                                    "threadIdx",
                                    "cudaError_t",
                                    "dsv4",
                                    "dsv4_state",
                                    "dsv4_host_entry",
                                    "dsv4_host_image",
                                    "dsv4_shared",
                                    "_end",
                                    "__bss_start",
                                    "cache",
                                    "cache_pages",
                                    "indices",
                                    "rows",
                                    "out",
                                    "lane",
                                    "row",
                                    "page",
                                    "slot",
                                    "min",
                                    "float4",
                                    "A7",
                                    "WARP_SZ",
                                    "expf",
                                    "std",
                                    "asm",
                                    "NULL",
                                    "linux",
                                    "x){}int pwn(",
                                    "x\ny",
                                    "x\\\ny",
                                    "x;system(\"true\");//",
                                    "*/ x /*",
                                    "\n#include </etc/passwd>\n",
                                    "\"",
                                    "\\",
                                    "?\?/",
                                    "%:include",
                                    "R\"(",
                                    "\xC3\xA9",
                                    "\xFF",
                                    "'",
                                    "a'",
                                    "//",
                                    "$x",
                                    "x$y",
                                    "\\u0041",
                                    "",
                                    " ",
                                    "0",
                                    "1e5",
                                    "0x",
                                    "kernel.cu",
                                    "dsv4/core/core.cuh",
                                    "-",
                                    ".",
                                    "..",
                                    "/",
                                    "../../x",
                                    "load",
                                    "store",
                                    "Tile",
                                    "bf16",
                                    "const",
                                    "auto",
                                    "constinit",
                                    "wait_for_previous_kernel",
                                    "__syncthreads",
                                    "__launch_bounds__"};
  names.push_back(std::string("x\0y", 3));
  names.push_back(std::string(127, 'a'));
  names.push_back(std::string(129, 'a'));
  names.push_back(std::string(5000, 'b'));
  // What the device library calls its own.
  for (std::string_view file : rt::deviceLibraryFiles())
    for (std::string &word : tokenize(llvm::StringRef(
             rt::deviceLibrary(file).data(), rt::deviceLibrary(file).size())))
      if (llvm::isAlpha(word.front()) && random() % 4 == 0)
        names.push_back(std::move(word));
  std::vector<std::string> inputs;
  for (const std::string &name : names)
    inputs.push_back(char(random() % kTopK) + name);
  return inputs;
}

} // namespace

const Target dsv4::fuzz::nameTarget = {
    "names", "names of strangers in emitted source",
    false,   makeNameSeeds,
    runName, compileBatch};
