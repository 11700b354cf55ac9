//===- NpyTest.cpp - Reading, writing and refusing .npy files -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Npy.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>

#include "gtest/gtest.h"

using namespace dsv4;

namespace {

/// A file's contents from its parts.
std::string npy(const std::string &dict, const std::string &data,
                int version = 1) {
  std::string text = "\x93NUMPY";
  text += char(version);
  text += '\0';
  uint32_t length = uint32_t(dict.size());
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += char(length >> (8 * i));
  return text + dict + data;
}

std::string dict(const std::string &descr, const std::string &shape,
                 const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }\n";
}

/// The message with which `contents` are refused; "" if they are accepted.
std::string refusal(const std::string &contents) {
  auto array = parseNpy(contents, "x.npy");
  if (array)
    return "";
  const std::string &message = array.status().message();
  EXPECT_EQ(array.status().code(), rt::Code::InvalidArgument);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 400u) << message;
  EXPECT_EQ(message.substr(0, 7), "x.npy: ") << message;
  return message.substr(std::min<size_t>(7, message.size()));
}

class NpyFile : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("dsv4-npy", directory));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  std::string path(llvm::StringRef name) {
    llvm::SmallString<128> result(directory);
    llvm::sys::path::append(result, name);
    return std::string(result);
  }
  std::string contents(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  int files() {
    std::error_code failure;
    int count = 0;
    for (llvm::sys::fs::directory_iterator it(directory, failure), end;
         it != end && !failure; it.increment(failure))
      ++count;
    return count;
  }

  llvm::SmallString<128> directory;
};

} // namespace

TEST_F(NpyFile, RoundTripsEveryTypeAndRank) {
  struct {
    const char *dtype;
    size_t size;
  } types[] = {{"u1", 1}, {"u2", 2}, {"u4", 4}, {"i2", 2},
               {"i4", 4}, {"i8", 8}, {"f4", 4}};
  std::vector<std::vector<int64_t>> shapes = {
      {},     {1},       {7},          {0},
      {2, 3}, {5, 0, 3}, {2, 3, 1, 4}, std::vector<int64_t>(64, 1)};
  for (auto [dtype, size] : types)
    for (const auto &shape : shapes) {
      NpyArray array{dtype, shape, {}};
      size_t count = size;
      for (int64_t extent : shape)
        count *= size_t(extent);
      for (size_t i = 0; i < count; ++i)
        array.bytes.push_back(char(i * 37 + 128));
      ASSERT_TRUE(writeNpy(path("a.npy"), array).ok());
      auto read = readNpy(path("a.npy"));
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read->dtype, dtype);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->bytes, array.bytes);
      // The first element is aligned to 64 bytes.
      EXPECT_EQ((contents(path("a.npy")).size() - count) % 64, 0u);
    }
  EXPECT_EQ(files(), 1);
}

TEST_F(NpyFile, WritesWhatNumPyWrites) {
  NpyArray array{"i4", {3}, std::vector<char>(12, 1)};
  ASSERT_TRUE(writeNpy(path("a.npy"), array).ok());
  std::string header =
      "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
  header.resize(117, ' ');
  EXPECT_EQ(contents(path("a.npy")), npy(header + "\n", std::string(12, '\1')));
}

TEST_F(NpyFile, ReplacesAFileAsAWhole) {
  std::string file = path("a.npy");
  ASSERT_TRUE(writeNpy(file, {"u1", {2}, {1, 2}}).ok());
  std::string before = contents(file);

  // A disk that fills up: the limit on a file's size stands in for it.
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = {4096, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  rt::Status status =
      writeNpy(file, {"u1", {100000}, std::vector<char>(100000)});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);

  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), file + ": cannot be written: File too large");
  EXPECT_EQ(contents(file), before);
  EXPECT_EQ(files(), 1); // Nothing is left beside it.
  ASSERT_TRUE(writeNpy(file, {"u1", {1}, {9}}).ok());
  EXPECT_EQ(readNpy(file)->bytes, std::vector<char>{9});
}

TEST_F(NpyFile, KeepsTheUmask) {
  mode_t old = umask(027);
  rt::Status status = writeNpy(path("a.npy"), {"u1", {1}, {1}});
  umask(old);
  ASSERT_TRUE(status.ok());
  struct stat info;
  ASSERT_EQ(stat(path("a.npy").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(NpyFile, UnreadableAndUnwritable) {
  EXPECT_EQ(readNpy(path("none.npy")).status().message(),
            path("none.npy") + ": cannot be read: No such file or directory");
  EXPECT_EQ(readNpy(directory).status().message(),
            std::string(directory) + ": cannot be read: Is a directory");
  NpyArray array{"u1", {1}, {1}};
  EXPECT_EQ(writeNpy(path("no/a.npy"), array).message(),
            path("no/a.npy") + ": cannot be written: there is no such folder");
  // What is no file stays what it is.
  llvm::sys::fs::create_directory(path("taken"));
  EXPECT_EQ(writeNpy(path("taken"), array).message(),
            path("taken") + ": cannot be written: neither a file, a pipe nor a "
                            "character device");
  EXPECT_TRUE(writeNpy("/dev/null", array).ok());
  struct stat info;
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_EQ(files(), 1);
}

TEST_F(NpyFile, RefusesToWriteNonsense) {
  auto message = [&](const NpyArray &array) {
    rt::Status status = writeNpy(path("a.npy"), array);
    return status.message().substr(path("a.npy").size() + 2);
  };
  EXPECT_EQ(message({"f8", {1}, std::vector<char>(8)}),
            "dtype 'f8' cannot be written; accepted: uint8, uint16, uint32, "
            "int16, int32, int64, float16, float32");
  EXPECT_EQ(message({"f4", {2, 3}, std::vector<char>(23)}),
            "shape (2, 3) of float32 is 24 bytes, the array has 23");
  EXPECT_EQ(message({"f4", {-1}, {}}), "shape (-1,) is negative or too large");
  EXPECT_EQ(message({"i8", {INT64_MAX, INT64_MAX}, {}}),
            "shape (9223372036854775807, 9223372036854775807) is negative or "
            "too large");
  EXPECT_EQ(message({"u1", std::vector<int64_t>(65, 1), {1}}),
            "the shape has 65 axes; at most 64 can be written");
  EXPECT_EQ(files(), 0);
}

TEST(NpyParse, AcceptsWhatTheFormatAllows) {
  std::string four(4, '\0');
  for (int version : {1, 2, 3})
    EXPECT_EQ(refusal(npy(dict("<f4", "(1,)"), four, version)), "");
  // A header length whose low byte is above 127.
  std::string padded = dict("<f4", "(1, 1)");
  padded.insert(padded.size() - 1, 182 - padded.size(), ' ');
  EXPECT_EQ(refusal(npy(padded, four)), "");
  // Any order of keys, either quotes, no blanks, no last comma.
  EXPECT_EQ(refusal(npy("{\"shape\":(1,4),'descr':'|u1',"
                        "'fortran_order':False}",
                        four)),
            "");
  EXPECT_EQ(refusal(npy(dict("<u4", "()"), four)), "");
  EXPECT_EQ(refusal(npy(dict("<f2", "(2,)"), four)), "");
  EXPECT_EQ(refusal(npy(dict("<u1", "(4,)"), four)), "");
  EXPECT_EQ(refusal(npy(dict("<i4", "(0, 9223372036854775807, 8)"), "")), "");
  // Fortran order of one long axis is the same bytes.
  EXPECT_EQ(refusal(npy(dict("|u1", "(1, 4, 1)", "True"), four)), "");
}

TEST(NpyParse, RefusesOtherFiles) {
  EXPECT_EQ(refusal(""), "the file is empty; expected a .npy file");
  EXPECT_EQ(refusal(std::string("PK\3\4 a zip")),
            "not a .npy file; write it with numpy.save");
  EXPECT_EQ(refusal(npy(dict("<f4", "(1,)"), "1234", 4)),
            ".npy version 4.0 is not supported; accepted: 1.0, 2.0, 3.0");
}

TEST(NpyParse, RefusesOtherTypes) {
  for (const char *descr : {"<f8", "|b1", "<c8", "|i1", "<V2", "|O", "<U3", "",
                            "<", "f", "<f44", "<<f4"})
    EXPECT_EQ(
        refusal(npy(dict(descr, "(1,)"), "12345678")),
        "dtype '" + std::string(descr) +
            "' is not supported; save an array of one of uint8, "
            "uint16, uint32, int16, int32, int64, float16, float32 (view bf16 "
            "as uint16, fp8 and bool as uint8)");
  EXPECT_EQ(refusal(npy(dict(">f4", "(1,)"), "1234")),
            "dtype '>f4' is big-endian; save x.astype('<f4')");
  EXPECT_EQ(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                        "'shape': (1,), }\n",
                        "1234")),
            "a structured dtype is not supported; save one field");
}

TEST(NpyParse, RefusesFortranOrder) {
  EXPECT_EQ(refusal(npy(dict("|u1", "(2, 2)", "True"), "1234")),
            "the array is in Fortran order; save numpy.ascontiguousarray(x)");
}

TEST(NpyParse, RefusesWrongSizes) {
  EXPECT_EQ(refusal(npy(dict("<f4", "(2, 3)"), "123")),
            "truncated: shape (2, 3) of float32 is 24 bytes, the file has 3");
  EXPECT_EQ(refusal(npy(dict("<u2", "(1,)"), "123")),
            "too long: shape (1,) of uint16 is 2 bytes, the file has 3");
  EXPECT_EQ(refusal(npy(dict("<f4", "(4611686018427387905,)"), "1234")),
            "shape (4611686018427387905,) is too large");
  EXPECT_EQ(refusal(npy(dict("<i8", "(4294967296, 4294967296)"), "")),
            "shape (4294967296, 4294967296) is too large");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\1\0\xff\xff{", 11)),
            "truncated: the header says 65535 bytes, the file has 1");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13)),
            "truncated: the header says 4294967295 bytes, the file has 1");
}

TEST(NpyParse, RefusesBadHeaders) {
  auto header = [](const std::string &text) { return refusal(npy(text, "")); };
  EXPECT_EQ(header(""), "the header is not a dict");
  EXPECT_EQ(header("{"), "the header has no key at ''");
  EXPECT_EQ(header("{}"), "the header has no 'descr'");
  EXPECT_EQ(header("{'descr': '<f4'}"), "the header has no 'fortran_order'");
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': False}"),
            "the header has no 'shape'");
  EXPECT_EQ(header("{'descr': '<f4', 'descr': '<f4'}"),
            "the header has 'descr' twice");
  EXPECT_EQ(header("{'color': 1}"), "the header has an unknown key 'color'");
  EXPECT_EQ(header("{'descr' '<f4'}"), "the header has no ':' after 'descr'");
  EXPECT_EQ(header("{'descr': 7}"),
            "the header's 'descr' is not a string: '7}'");
  EXPECT_EQ(header("{'descr': '<f4"),
            "the header's 'descr' is not a string: '<f4'");
  EXPECT_EQ(header("{'fortran_order': 0}"),
            "the header's 'fortran_order' is neither True nor False: '0}'");
  EXPECT_EQ(header("{'shape': 3}"),
            "the header's 'shape' is not a tuple: '3}'");
  EXPECT_EQ(header("{'shape': (3)}"), "the header's 'shape' is not a tuple");
  EXPECT_EQ(header("{'shape': (-3,)}"),
            "the header's 'shape' has no valid extent at '-3,)}'");
  EXPECT_EQ(header("{'shape': (9223372036854775808,)}"),
            "the header's 'shape' has no valid extent at ',)}'");
  EXPECT_EQ(header("{'shape': (3, 3x)}"),
            "the header's 'shape' has no ',' or ')' before 'x)}'");
  EXPECT_EQ(header("{'shape': (3,) 'descr'}"),
            "the header has no ',' or '}' before ''descr'}'");
  EXPECT_EQ(header(dict("<f4", "(0,)") + "}"),
            "the header continues after its dict with '\\0A}'");
  std::string axes = "(";
  for (int i = 0; i < 65; ++i)
    axes += "1,";
  EXPECT_EQ(header(dict("<f4", axes + ")")), "the shape has more than 64 axes");
  // Long and binary text is cut and escaped.
  refusal(npy(dict("<f" + std::string(60000, '4'), "(1,)"), ""));
  refusal(npy(dict(std::string("\n\0\xff", 3), "(1,)"), ""));
}

//===----------------------------------------------------------------------===//
// Damaged files: never a crash, and never an array that does not add up
//===----------------------------------------------------------------------===//

namespace {

void expectSound(const std::string &contents) {
  // A copy of exact size, so that a sanitizer sees a read past the end.
  std::vector<char> exact(contents.begin(), contents.end());
  auto array = parseNpy(llvm::StringRef(exact.data(), exact.size()), "x.npy");
  if (!array) {
    EXPECT_FALSE(array.status().message().empty());
    EXPECT_EQ(array.status().message().find('\n'), std::string::npos);
    return;
  }
  size_t size = size_t(array->dtype.back() - '0');
  for (int64_t extent : array->shape)
    size *= size_t(extent);
  EXPECT_EQ(array->bytes.size(), size);
}

std::vector<std::string> samples() {
  std::string data(24, '\x7f');
  return {npy(dict("<f4", "(2, 3)"), data), npy(dict("|u1", "(24,)"), data, 2),
          npy(dict("<i8", "(1, 3, 1)", "True"), data, 3),
          npy(dict("<u2", "()"), "ab")};
}

} // namespace

TEST(NpyFuzz, EveryTruncation) {
  for (const std::string &good : samples()) {
    ASSERT_EQ(refusal(good), "");
    for (size_t length = 0; length < good.size(); ++length)
      EXPECT_NE(refusal(good.substr(0, length)), "") << length;
  }
}

TEST(NpyFuzz, EveryByteWithEveryValue) {
  for (const std::string &good : samples())
    for (size_t i = 0; i < good.size(); ++i)
      for (int value = 0; value < 256; ++value) {
        std::string bad = good;
        bad[i] = char(value);
        expectSound(bad);
      }
}

TEST(NpyFuzz, RandomEdits) {
  std::mt19937_64 random(1);
  const std::string alphabet = "{}(),:'\"[] 019<>|=fuiTrueFalse\n";
  for (const std::string &good : samples())
    for (int i = 0; i < 20000; ++i) {
      std::string bad = good;
      for (uint64_t edits = 1 + random() % 4; edits > 0 && !bad.empty();
           --edits) {
        size_t at = random() % bad.size();
        char letter = alphabet[random() % alphabet.size()];
        switch (random() % 4) {
        case 0:
          bad[at] = char(bad[at] ^ (1 << random() % 8));
          break;
        case 1:
          bad[at] = letter;
          break;
        case 2:
          bad.insert(at, 1 + random() % 3, letter);
          break;
        default:
          bad.erase(at, 1 + random() % 3);
        }
      }
      expectSound(bad);
    }
}
