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

/// Looks for what ends MLIR's parser. It follows the brackets of a text; signs
/// in a row, which nest as well; aliases of attributes and types, each of which
/// may be in the next; numbers of results, for each of which the parser keeps a
/// place; and arrays of a type that has no width.
class ParserLimits {
public:
  explicit ParserLimits(StringRef text) : text(text) {}

  /// What is beyond the limits, at position `at`; or an empty string.
  std::string findExcess();
  size_t at = 0;

private:
  void skipString();
  void skipComment();
  void visitAlias();
  bool isLargeResultNumber() const;
  bool isArrayWithoutWidth() const;
  void close(char opening) {
    // A stray bracket is the parser's to refuse.
    if (!open.empty() && open.back() == opening)
      open.pop_back();
  }

  StringRef text;
  size_t signs = 0; ///< Since the expression began.
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

void ParserLimits::skipString() {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
}

void ParserLimits::skipComment() {
  at = std::min(text.find_first_of("\n\r", at), text.size());
}

/// At '#' or '!': the definition of an alias, or a use of one.
void ParserLimits::visitAlias() {
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

/// At '%': whether a result `%name#number` beyond the limit is used.
bool ParserLimits::isLargeResultNumber() const {
  StringRef rest = text.substr(at + 1);
  rest = rest.drop_while(
      [](char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); });
  uint64_t number = 0;
  if (!rest.consume_front("#") || rest.empty() || !llvm::isDigit(rest.front()))
    return false;
  return rest.consumeInteger(10, number) || number > kMaxResultNumber;
}

/// At '<': whether it opens `array<index`, or an array of an alias.
bool ParserLimits::isArrayWithoutWidth() const {
  StringRef element = text.substr(at + 1).ltrim();
  return text.take_front(at).rtrim().ends_with("array") &&
         (element.starts_with("index") || element.starts_with("!"));
}

std::string ParserLimits::findExcess() {
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
    if (c == '<' && isArrayWithoutWidth())
      return "the elements of an array attribute have no width: expected i1, "
             "i8, i16, i32, i64, f32 or f64";
    if (c == '%' && isLargeResultNumber())
      return "the program uses a result with a number above " +
             std::to_string(kMaxResultNumber);
    if (open.size() > kMaxNesting || signs > kMaxNesting ||
        current.depth > kMaxNesting || current.size > kMaxProgramBytes / 16)
      return "the program nests more than " + std::to_string(kMaxNesting) +
             " levels deep";
  }
  return "";
}

/// "file:line:column: ".
static std::string describePlace(StringRef source, StringRef name, size_t at) {
  StringRef before = source.take_front(at);
  size_t line = before.count('\n') + 1;
  size_t column = at - (before.rfind('\n') + 1) + 1;
  return toCommentText(name) + ":" + std::to_string(line) + ":" +
         std::to_string(column) + ": ";
}

rt::Status dsv4::checkParserLimits(StringRef source, StringRef name) {
  ParserLimits limits(source);
  std::string excess = limits.findExcess();
  if (excess.empty())
    return rt::Status();
  return rt::Status(rt::Code::InvalidArgument,
                    describePlace(source, name, limits.at) + excess);
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
  return checkParserLimits(source, name);
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
