//===- ParseProgram.cpp - Text of strangers to IR -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/ParseProgram.h"

#include "dsv4/Support/Identifiers.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// Follows the brackets of a text; signs in a row, which nest as well; and
/// aliases of attributes and types, each of which may be in the next.
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text(text) {}

  /// The first position that is nested too deeply, or npos.
  size_t findTooDeep();

private:
  void skipString();
  void skipComment();
  void visitAlias();
  void close(char opening) {
    // A stray bracket is the parser's to refuse.
    if (!open.empty() && open.back() == opening)
      open.pop_back();
  }

  StringRef text;
  size_t at = 0, signs = 0; ///< Signs since the expression began.
  SmallVector<char> open;
  /// What an alias stands for: how deep it nests, and how many aliases it is
  /// written with where it is printed.
  struct Extent {
    size_t depth = 1, size = 1;
  };
  llvm::StringMap<Extent> aliases;
  StringRef defined; ///< The alias whose definition began last.
  Extent current;
};

} // namespace

void NestingScanner::skipString() {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
}

void NestingScanner::skipComment() {
  at = std::min(text.find_first_of("\n\r", at), text.size());
}

/// At '#' or '!': the definition of an alias, or a use of one.
void NestingScanner::visitAlias() {
  StringRef rest = text.substr(at);
  StringRef name = rest.take_front(rest.find_if_not([](char c) {
    return llvm::isAlnum(c) || StringRef("#!_$.-").contains(c);
  }));
  StringRef after = rest.drop_front(name.size()).ltrim();
  at += name.size() - 1;
  if (open.empty() && after.starts_with("=") && !after.starts_with("==")) {
    defined = name;
    current = Extent();
  } else if (auto known = aliases.find(name);
             known != aliases.end() && name != defined) {
    current.depth = std::max(current.depth, known->second.depth + 1);
    current.size += known->second.size;
  }
  if (!defined.empty())
    aliases[defined] = current;
}

size_t NestingScanner::findTooDeep() {
  for (; at < text.size(); ++at) {
    StringRef rest = text.substr(at);
    char c = rest.front();
    // An arrow and a comparison are no brackets.
    if (rest.starts_with("->") || rest.starts_with(">=") ||
        rest.starts_with("<=")) {
      ++at;
      continue;
    }
    if (c == '"')
      skipString();
    else if (rest.starts_with("//"))
      skipComment();
    else if (StringRef("([{<").contains(c))
      open.push_back(c);
    else if (c == ')')
      close('(');
    else if (c == ']')
      close('[');
    else if (c == '}')
      close('{');
    else if (c == '>')
      close('<');
    else if (c == '#' || c == '!')
      visitAlias();
    // Operands of affine expressions nest in what comes before them.
    if (StringRef("+-*").contains(c) || rest.starts_with("mod") ||
        rest.starts_with("floordiv") || rest.starts_with("ceildiv"))
      ++signs;
    else if (StringRef(",=:%@{}").contains(c))
      signs = 0;
    if (open.size() > kMaxNesting || signs > kMaxNesting ||
        current.depth > kMaxNesting || current.size > kMaxProgramBytes / 16)
      return at;
  }
  return StringRef::npos;
}

/// "file:line:column: ".
static std::string describePlace(StringRef source, StringRef name, size_t at) {
  StringRef before = source.take_front(at);
  size_t line = before.count('\n') + 1;
  size_t column = at - (before.rfind('\n') + 1) + 1;
  return toCommentText(name) + ":" + std::to_string(line) + ":" +
         std::to_string(column) + ": ";
}

rt::Status dsv4::checkNesting(StringRef source, StringRef name) {
  size_t at = NestingScanner(source).findTooDeep();
  if (at == StringRef::npos)
    return rt::Status();
  return rt::Status(rt::Code::InvalidArgument,
                    describePlace(source, name, at) +
                        "the program nests more than " +
                        std::to_string(kMaxNesting) + " levels deep");
}

rt::Status dsv4::checkProgramText(StringRef source, StringRef name) {
  auto invalid = [&](size_t at, const std::string &what) {
    return rt::Status(rt::Code::InvalidArgument,
                      describePlace(source, name, at) + what);
  };
  if (source.size() > kMaxProgramBytes)
    return invalid(0, "the program has " + std::to_string(source.size()) +
                          " bytes, expected at most " +
                          std::to_string(kMaxProgramBytes));
  if (isBytecode(llvm::MemoryBufferRef(source, "program")))
    return invalid(0, "the program is MLIR bytecode, expected text");
  if (size_t at = source.find('\0'); at != StringRef::npos)
    return invalid(at, "the program has a NUL byte, expected text");
  return checkNesting(source, name);
}

OwningOpRef<ModuleOp> dsv4::parseProgram(StringRef source, StringRef name,
                                         MLIRContext *context) {
  if (rt::Status status = checkProgramText(source, name); !status) {
    emitError(UnknownLoc::get(context)) << status.message();
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source, name),
                             llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(context));
}
