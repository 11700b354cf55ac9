//===- ParseProgram.cpp - Text of strangers to IR -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/ParseProgram.h"

#include "dsv4/Support/Identifiers.h"
#include "dsv4/Support/ProgramLexer.h"

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

/// Looks for what ends MLIR's parser or printer: nesting that overflows the
/// stack, aliases that double from one to the next, numbers too long to be
/// read, shapes and affine maps that take the square of their length, numbers
/// of results, for each of which the parser keeps a slot, and arrays of a type
/// without a width.
class ParserLimits {
public:
  ParserLimits(StringRef source, size_t maxExpanded)
      : lexer(source), token(lexer.next()), maxExpanded(maxExpanded) {}

  /// What exceeds the limits, at `token`; or an empty string.
  std::string findExcess();
  StringRef getToken() const { return token.text; }

private:
  std::string visit();
  std::string visitIdentifier();
  std::string visitList();
  std::string visitNumber();
  void visitBracket(char c);
  bool isExpressionOver() const;
  void beginDefinition();
  void endDefinition();

  ProgramLexer lexer;
  ProgramLexer::Lexeme beforePrevious, previous, token;

  struct Bracket {
    char opening = 0;
    bool isDialectBody = false; ///< Or within that of an attribute or type.
    bool isAffine = false;      ///< The `<` of an affine map or set.
    size_t operators = 0;       ///< Of the expression: each nests in the next.
    size_t shapeCharacters = 0;
    size_t commas = 0;
  };
  SmallVector<Bracket> open;
  Bracket outside; ///< Stands for none.
  Bracket &innermost() { return open.empty() ? outside : open.back(); }

  /// What an alias stands for: how deep it nests, and its length with its own
  /// aliases written out.
  struct Extent {
    size_t depth = 0, length = 0;
  };
  llvm::StringMap<Extent> aliases;
  StringRef defined;    ///< The alias that is being defined, or empty.
  size_t definedIn = 0; ///< How many brackets were open then.
  Extent definition;

  const size_t maxExpanded;
  size_t expandedLength = 0;  ///< Of the program, aliases written out.
  uint64_t resultNumbers = 0; ///< Sum of N in `%name#N`.
};

} // namespace

static std::string describeNesting() {
  return "the program nests more than " + std::to_string(kMaxNesting) +
         " levels deep";
}

static bool isOneOf(StringRef token, std::initializer_list<StringRef> list) {
  return llvm::is_contained(list, token);
}

/// Whether `token` begins another expression, or ends the brackets around the
/// definition. An expression such as `dense<0> : tensor<4xi32>` goes on with a
/// bracket, a colon or an arrow, and after a colon, an arrow or a sign.
bool ParserLimits::isExpressionOver() const {
  if (open.size() != definedIn)
    return open.size() < definedIn;
  return !isOneOf(token.text, {"<", "(", "[", "{", "{-#", ":", "->"}) &&
         !isOneOf(previous.text, {"=", ":", "->", "-"});
}

void ParserLimits::beginDefinition() {
  endDefinition();
  defined = previous.text;
  definedIn = open.size();
  definition = Extent();
}

void ParserLimits::endDefinition() {
  if (!defined.empty())
    aliases[defined] = definition;
  defined = "";
}

void ParserLimits::visitBracket(char c) {
  if (StringRef("([{<").contains(c)) {
    bool opensBody =
        c == '<' && (previous.isHash() || previous.isExclamation());
    Bracket bracket;
    bracket.opening = c;
    bracket.isDialectBody = opensBody || innermost().isDialectBody;
    bracket.isAffine =
        c == '<' && isOneOf(previous.text, {"affine_map", "affine_set"});
    open.push_back(bracket);
    return;
  }
  char opening = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
  // A stray bracket is the parser's to refuse.
  if (!open.empty() && open.back().opening == opening)
    open.pop_back();
}

/// Whether `gap`, which may have comments, leaves the scan for the end of a
/// dialect's attribute or type where it was: that scan knows brackets, arrows
/// and strings, and no comments.
static bool isBalanced(StringRef gap) {
  SmallVector<char> expected;
  while (!gap.empty()) {
    char c = gap.front();
    if (c == '"') {
      size_t end = 1;
      while (end < gap.size() && !StringRef("\"\n\v\f").contains(gap[end]))
        end += gap[end] == '\\' ? 2 : 1;
      if (end >= gap.size() || gap[end] != '"')
        return false;
      gap = gap.drop_front(end);
    } else if (gap.starts_with("->")) {
      gap = gap.drop_front();
    } else if (size_t kind = StringRef("<([{").find(c);
               kind != StringRef::npos) {
      expected.push_back(StringRef(">)]}")[kind]);
    } else if (StringRef(">)]}").contains(c) &&
               (expected.empty() || expected.pop_back_val() != c)) {
      return false;
    }
    gap = gap.drop_front();
  }
  return expected.empty();
}

/// At `#name` or `!name`.
std::string ParserLimits::visitIdentifier() {
  uint64_t number = 0;
  if (llvm::isDigit(token.text[1])) {
    if (token.text.drop_front().getAsInteger(10, number) ||
        (resultNumbers += number) > kMaxResultNumbers)
      return "the numbers of results, as in %name#1, sum to more than " +
             std::to_string(kMaxResultNumbers);
  }
  auto known = aliases.find(token.text);
  if (known == aliases.end())
    return "";
  size_t depth = known->second.depth + 1, length = known->second.length;
  definition.depth = std::max(
      definition.depth, open.size() - std::min(open.size(), definedIn) + depth);
  definition.length += length;
  expandedLength += length;
  return open.size() + depth > kMaxNesting ? describeNesting() : "";
}

/// At a comma, an equals sign or a colon.
std::string ParserLimits::visitList() {
  innermost().operators = innermost().shapeCharacters = 0;
  bool isOfAffine = open.size() > 1 && open[open.size() - 2].isAffine;
  if (token.text != "," || !isOfAffine ||
      ++open.back().commas < kMaxAffineItems)
    return "";
  return "an affine map or set has more than " +
         std::to_string(kMaxAffineItems) + " dims, symbols or results";
}

/// At a number, or at what follows one in a shape: `4x8xf32` is a number and a
/// word.
std::string ParserLimits::visitNumber() {
  StringRef text = token.text;
  if (llvm::isDigit(text.front()) && text.size() > kMaxNumberCharacters)
    return "a number of " + std::to_string(text.size()) +
           " characters: expected at most " +
           std::to_string(kMaxNumberCharacters);
  if (text.front() != 'x' || text.data() != previous.end() ||
      previous.text.empty() ||
      (!llvm::isDigit(previous.text.front()) &&
       !isOneOf(previous.text, {"?", "*", "]"})))
    return "";
  size_t &length = innermost().shapeCharacters;
  length += previous.text.size() + text.size();
  return length > kMaxShapeCharacters
             ? "a shape of more than " + std::to_string(kMaxShapeCharacters) +
                   " characters"
             : "";
}

std::string ParserLimits::visit() {
  StringRef text = token.text;
  if (token.afterComment && !open.empty() && open.back().isDialectBody &&
      !isBalanced(token.gap))
    // MLIR looks for the end of the body in comments, too.
    return "unbalanced brackets or quotes in a comment within an attribute or "
           "type of a dialect";
  if (text == ">" && previous.text.ends_with("-") && !token.afterBlank &&
      !token.afterComment)
    // An arrow to the scan for the end of a body, and none to the lexer.
    return "a name that ends in '-' before '>'";
  if (beforePrevious.text == "array" && previous.text == "<" &&
      (text == "index" || token.isExclamation()))
    return "the elements of an array attribute have no width: expected i1, i8, "
           "i16, i32, i64, f32 or f64";
  if (std::string excess = visitNumber(); !excess.empty())
    return excess;
  if (!defined.empty() && isExpressionOver())
    endDefinition();
  if (text == "=" && (previous.isHash() || previous.isExclamation()))
    beginDefinition();
  definition.length += text.size();
  expandedLength += text.size();

  if (isOneOf(text, {"+", "-", "*", "mod", "floordiv", "ceildiv"})) {
    if (++innermost().operators > kMaxNesting)
      return describeNesting();
  } else if (isOneOf(text, {",", "=", ":"})) {
    if (std::string excess = visitList(); !excess.empty())
      return excess;
  } else if (text == "{-#")
    visitBracket('{');
  else if (text == "#-}")
    visitBracket('}');
  else if (token.isHash() || token.isExclamation()) {
    if (std::string excess = visitIdentifier(); !excess.empty())
      return excess;
  } else if (text.size() == 1 && StringRef("([{<)]}>").contains(text.front()))
    visitBracket(text.front());

  if (!defined.empty() && open.size() > definedIn)
    definition.depth = std::max(definition.depth, open.size() - definedIn);
  if (open.size() > kMaxNesting || definition.depth > kMaxNesting)
    return describeNesting();
  if ((!defined.empty() && definition.length > kMaxAliasBytes) ||
      expandedLength > maxExpanded)
    return "the program is too long with its aliases written out: expected at "
           "most " +
           std::to_string(kMaxAliasBytes) + " bytes per alias and " +
           std::to_string(maxExpanded) + " in all";
  return "";
}

std::string ParserLimits::findExcess() {
  for (; !token.text.empty(); token = lexer.next()) {
    if (std::string excess = visit(); !excess.empty())
      return excess;
    beforePrevious = previous;
    previous = token;
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

rt::Status dsv4::checkParserLimits(StringRef source, StringRef name,
                                   size_t maxBytes) {
  ParserLimits limits(source, 2 * maxBytes);
  std::string excess = limits.findExcess();
  if (excess.empty())
    return rt::Status();
  return rt::Status(
      rt::Code::InvalidArgument,
      describePlace(source, name, limits.getToken().data() - source.data()) +
          excess);
}

rt::Status dsv4::checkProgramText(StringRef source, StringRef name,
                                  size_t maxBytes) {
  auto invalid = [&](size_t at, const std::string &what) {
    return rt::Status(rt::Code::InvalidArgument,
                      describePlace(source, name, at) + what);
  };
  if (source.size() > maxBytes)
    return invalid(0, "the program has " + std::to_string(source.size()) +
                          " bytes, expected at most " +
                          std::to_string(maxBytes));
  if (isBytecode(llvm::MemoryBufferRef(source, "program")))
    return invalid(0, "the program is MLIR bytecode, expected text");
  if (size_t at = source.find('\0'); at != StringRef::npos)
    return invalid(at, "the program has a NUL byte, expected text");
  return checkParserLimits(source, name, maxBytes);
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
