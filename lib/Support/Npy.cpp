//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own code, because the one packaged library that reads this format (xtensor
// 0.24.3) was tried and: accepts 102 of the 152 truncations of a 152-byte file,
// returning uninitialised bytes; refuses legal headers whose length has its low
// byte above 127 (182 bytes, say); wraps around on large shapes; overflows the
// stack in std::regex on a long dtype; and calls back() on an empty header.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Npy.h"

#include "dsv4/Support/Files.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace dsv4;
using llvm::StringRef;
using llvm::Twine;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "elements are kept as they lie in the file");

static constexpr StringRef kMagic = "\x93NUMPY";
static constexpr StringRef kAcceptedTypes =
    "uint8, uint16, uint32, int16, int32, int64, float16, float32";
static constexpr uint64_t kAlignment = 64; ///< Of the first element.
static constexpr size_t kMaxAxes = 64;     ///< As in NumPy.

StringRef dsv4::getNumpyName(StringRef dtype) {
  return llvm::StringSwitch<StringRef>(dtype)
      .Case("u1", "uint8")
      .Case("u2", "uint16")
      .Case("u4", "uint32")
      .Case("i2", "int16")
      .Case("i4", "int32")
      .Case("i8", "int64")
      .Case("f2", "float16")
      .Case("f4", "float32")
      .Default(dtype);
}

/// Bytes of one element, or nothing for a dtype that is not accepted.
static std::optional<uint64_t> elementSize(StringRef dtype) {
  return llvm::StringSwitch<std::optional<uint64_t>>(dtype)
      .Case("u1", 1)
      .Cases({"u2", "i2", "f2"}, 2)
      .Cases({"u4", "i4", "f4"}, 4)
      .Case("i8", 8)
      .Default(std::nullopt);
}

/// Bytes of an array, or nothing if there is no such array in 63 bits.
static std::optional<uint64_t> arraySize(llvm::ArrayRef<int64_t> shape,
                                         uint64_t elementSize) {
  uint64_t total = elementSize;
  bool empty = false, overflow = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    bool wrapped = false;
    total = llvm::SaturatingMultiply(total, uint64_t(extent), &wrapped);
    overflow |= wrapped || total > uint64_t(INT64_MAX);
  }
  if (empty)
    return 0;
  if (overflow)
    return std::nullopt;
  return total;
}

/// A short printable form of text taken from a file.
static std::string quoted(StringRef text) {
  constexpr size_t limit = 40;
  std::string shown;
  llvm::raw_string_ostream os(shown);
  os << '\'';
  llvm::printEscapedString(text.take_front(limit), os);
  os << (text.size() > limit ? "...'" : "'");
  return shown;
}

static std::string printed(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(shape, os);
  os << (shape.size() == 1 ? ",)" : ")");
  return text;
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

namespace {

/// Reads the dict of a header: the three keys, each once, in any order.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  /// False, with `problem` set, if the header is not one of the format.
  bool parse();

  std::string problem;
  StringRef descr; ///< Without quotes.
  bool fortranOrder = false;
  std::vector<int64_t> shape;

private:
  bool parseEntry();
  bool parseString(StringRef &value);
  bool parseShape();

  bool fail(const Twine &what) {
    problem = what.str();
    return false;
  }
  /// Consumes `token` and the blanks before it.
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  StringRef rest;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};

} // namespace

bool HeaderParser::parse() {
  if (!consume("{"))
    return fail("the header is not a dict");
  while (!consume("}")) {
    if (!parseEntry())
      return false;
    if (consume(","))
      continue;
    if (!consume("}"))
      return fail("the header has no ',' or '}' before " + quoted(rest));
    break;
  }
  if (!rest.trim().empty())
    return fail("the header continues after its dict with " + quoted(rest));
  for (auto [key, found] :
       {std::pair("descr", hasDescr), std::pair("fortran_order", hasOrder),
        std::pair("shape", hasShape)})
    if (!found)
      return fail(Twine("the header has no '") + key + "'");
  return true;
}

bool HeaderParser::parseEntry() {
  StringRef key;
  if (!parseString(key))
    return fail("the header has no key at " + quoted(rest));
  bool *found = llvm::StringSwitch<bool *>(key)
                    .Case("descr", &hasDescr)
                    .Case("fortran_order", &hasOrder)
                    .Case("shape", &hasShape)
                    .Default(nullptr);
  if (!found)
    return fail("the header has an unknown key " + quoted(key));
  if (*found)
    return fail("the header has " + quoted(key) + " twice");
  *found = true;
  if (!consume(":"))
    return fail("the header has no ':' after " + quoted(key));

  if (found == &hasShape)
    return parseShape();
  if (found == &hasDescr) {
    if (consume("["))
      return fail("a structured dtype is not supported; save one field");
    return parseString(descr) ||
           fail("the header's 'descr' is not a string: " + quoted(rest));
  }
  fortranOrder = consume("True");
  return fortranOrder || consume("False") ||
         fail("the header's 'fortran_order' is neither True nor False: " +
              quoted(rest));
}

/// A string without escapes, in either kind of quotes.
bool HeaderParser::parseString(StringRef &value) {
  for (StringRef quote : {"'", "\""}) {
    if (!consume(quote))
      continue;
    size_t end = rest.find(quote.front());
    if (end == StringRef::npos)
      return false;
    value = rest.take_front(end);
    rest = rest.drop_front(end + 1);
    return true;
  }
  return false;
}

bool HeaderParser::parseShape() {
  if (!consume("("))
    return fail("the header's 'shape' is not a tuple: " + quoted(rest));
  while (!consume(")")) {
    uint64_t extent;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, extent) || extent > uint64_t(INT64_MAX))
      return fail("the header's 'shape' has no valid extent at " +
                  quoted(rest));
    if (shape.size() == kMaxAxes)
      return fail("the shape has more than " + Twine(kMaxAxes) + " axes");
    shape.push_back(int64_t(extent));
    bool comma = consume(",");
    if (comma)
      continue;
    if (shape.size() == 1) // "(3)" is a number, not a tuple.
      return fail("the header's 'shape' is not a tuple");
    if (!consume(")"))
      return fail("the header's 'shape' has no ',' or ')' before " +
                  quoted(rest));
    break;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Sets `dtype` from a descr such as "<f4"; a message if it is not accepted.
static std::optional<std::string> parseDescr(StringRef descr,
                                             std::string &dtype) {
  StringRef type = descr;
  char order = '=';
  if (!type.empty() && StringRef("<>|=").contains(type.front())) {
    order = type.front();
    type = type.drop_front();
  }
  std::optional<uint64_t> size = elementSize(type);
  if (!size)
    return ("dtype " + quoted(descr) +
            " is not supported; save an array of one of " + kAcceptedTypes +
            " (view bf16 as uint16, fp8 and bool as uint8)")
        .str();
  if (*size > 1 && order == '>')
    return ("dtype " + quoted(descr) + " is big-endian; save x.astype('<" +
            type + "')")
        .str();
  dtype = type.str();
  return std::nullopt;
}

rt::Result<NpyArray> dsv4::parseNpy(StringRef contents, StringRef name) {
  StringRef rest = contents;
  if (!rest.consume_front(kMagic))
    return invalidFile(name, contents.empty()
                                 ? "the file is empty; expected a .npy file"
                                 : "not a .npy file; write it with numpy.save");
  if (rest.size() < 2)
    return invalidFile(name, "truncated: the file ends before its version");
  unsigned major = uint8_t(rest[0]), minor = uint8_t(rest[1]);
  if (major < 1 || major > 3 || minor != 0)
    return invalidFile(name, ".npy version " + Twine(major) + "." +
                                 Twine(minor) +
                                 " is not supported; accepted: 1.0, 2.0, 3.0");
  rest = rest.drop_front(2);

  size_t lengthBytes = major == 1 ? 2 : 4;
  if (rest.size() < lengthBytes)
    return invalidFile(name, "truncated: the file ends before its header");
  uint64_t length = major == 1 ? llvm::support::endian::read16le(rest.data())
                               : llvm::support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthBytes);
  if (rest.size() < length)
    return invalidFile(name, "truncated: the header says " + Twine(length) +
                                 " bytes, the file has " + Twine(rest.size()));

  HeaderParser header(rest.take_front(length));
  rest = rest.drop_front(length);
  if (!header.parse())
    return invalidFile(name, header.problem);

  NpyArray array;
  array.shape = std::move(header.shape);
  if (auto problem = parseDescr(header.descr, array.dtype))
    return invalidFile(name, *problem);
  // With one axis or none longer than 1, both orders are the same bytes.
  if (header.fortranOrder &&
      llvm::count_if(array.shape, [](int64_t n) { return n != 1; }) > 1)
    return invalidFile(name, "the array is in Fortran order; save "
                             "numpy.ascontiguousarray(x)");

  std::optional<uint64_t> size =
      arraySize(array.shape, *elementSize(array.dtype));
  if (!size)
    return invalidFile(name, "shape " + printed(array.shape) + " is too large");
  if (rest.size() != *size)
    return invalidFile(name,
                       (rest.size() < *size ? "truncated: " : "too long: ") +
                           Twine("shape ") + printed(array.shape) + " of " +
                           getNumpyName(array.dtype) + " is " + Twine(*size) +
                           " bytes, the file has " + Twine(rest.size()));
  array.bytes.assign(rest.begin(), rest.end());
  return array;
}

rt::Result<NpyArray> dsv4::readNpy(StringRef path) {
  auto bytes = readFile(path, SIZE_MAX);
  if (!bytes)
    return bytes.status();
  return parseNpy(*bytes, path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Everything before the elements. 64 axes of 19 digits fit version 1.0.
static std::string headerFor(const NpyArray &array) {
  std::string dict;
  llvm::raw_string_ostream os(dict);
  os << "{'descr': '" << (array.dtype == "u1" ? '|' : '<') << array.dtype
     << "', 'fortran_order': False, 'shape': " << printed(array.shape) << ", }";
  uint64_t before = kMagic.size() + 4;
  uint64_t length =
      llvm::alignTo(before + dict.size() + 1, kAlignment) - before;
  dict.resize(length - 1, ' ');

  std::string text = kMagic.str();
  text += {'\x01', '\x00', char(length & 0xFF), char(length >> 8)};
  return text + dict + '\n';
}

rt::Status dsv4::writeNpy(StringRef path, const NpyArray &array) {
  std::optional<uint64_t> element = elementSize(array.dtype);
  if (!element)
    return invalidFile(path,
                       "dtype " + quoted(array.dtype) +
                           " cannot be written; accepted: " + kAcceptedTypes);
  if (array.shape.size() > kMaxAxes)
    return invalidFile(path, "the shape has " + Twine(array.shape.size()) +
                                 " axes; at most " + Twine(kMaxAxes) +
                                 " can be written");
  std::optional<uint64_t> size = arraySize(array.shape, *element);
  if (!size)
    return invalidFile(path, "shape " + printed(array.shape) +
                                 " is negative or too large");
  if (*size != array.bytes.size())
    return invalidFile(path, "shape " + printed(array.shape) + " of " +
                                 getNumpyName(array.dtype) + " is " +
                                 Twine(*size) + " bytes, the array has " +
                                 Twine(array.bytes.size()));
  std::string header = headerFor(array);
  return writeFile(path,
                   {header, StringRef(array.bytes.data(), array.bytes.size())});
}
