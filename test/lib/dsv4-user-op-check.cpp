//===- dsv4-user-op-check.cpp - Does a user's kernel compute it? ----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles examples/user_op/user_op.mlir, its argument, through a session, as
// an engine does; runs it on the host target and compares the state with the
// formulas.
//
//===----------------------------------------------------------------------===//

#include "UserOps.h"

#include "dsv4/JIT/JIT.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace dsv4;

static constexpr int columns = 1024, window = 4, ring = 8, requests = 2;
static constexpr float untouched = -1;

static int fail(const std::string &what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  return 1;
}

// Numbers whose sums are exact.
static float getValue(int token, int c) { return token * 4096 + c; }
static float getScore(int token, int c) { return token - c * 0.25f; }
static float getBias(int place, int c) { return place * 512 + c * 0.5f; }

int main(int argc, char **argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::string text{std::istreambuf_iterator<char>(file),
                   std::istreambuf_iterator<char>()};
  SessionOptions sessionOptions;
  sessionOptions.target = TargetKind::Host;
  sessionOptions.threadOrder = "reverse";
  auto session = Session::create(sessionOptions);
  if (!session)
    return fail(session.status().message());
  CompileOptions options;
  options.extensions.push_back({"user 1", [](mlir::DialectRegistry &registry) {
                                  registry.insert<user::UserDialect>();
                                }});
  auto program = (*session)->compile(text, "user_op.mlir", options);
  if (!program)
    return fail(program.status().message());

  // Token 2 has no position; token 4 is no longer in the ring.
  std::vector<int> position = {0, 5, -1, 7, 2, 3}, request = {0, 0, 0, 1, 1, 0};
  std::vector<int> length = {6, 12}, token(requests * ring, -1);
  token[0 * ring + 0] = 0, token[0 * ring + 5] = 1;
  token[1 * ring + 7] = 3, token[0 * ring + 3] = 5;

  int tokens = position.size(), pages = requests;
  std::vector<float> values, scores, bias;
  for (int t = 0; t < tokens; ++t)
    for (int c = 0; c < columns; ++c) {
      values.push_back(getValue(t, c));
      scores.push_back(getScore(t, c));
    }
  for (int place = 0; place < window; ++place)
    for (int c = 0; c < columns; ++c)
      bias.push_back(getBias(place, c));
  std::vector<float> state(requests * ring * 2 * columns, untouched);

  const int64_t rows[] = {tokens, columns}, biasShape[] = {window, columns},
                count[] = {tokens}, lengths[] = {requests},
                stateShape[] = {pages, ring * 2 * columns * 4};
  const rt::Argument arguments[] = {
      {values.data(), rows},     {scores.data(), rows},
      {bias.data(), biasShape},  {position.data(), count},
      {request.data(), count},   {length.data(), lengths},
      {state.data(), stateShape}};
  if (rt::Status status =
          (*program)->launch(nullptr, arguments, std::size(arguments));
      !status)
    return fail(status.message());

  for (int entry = 0; entry < requests * ring; ++entry)
    for (int c = 0; c < columns; ++c) {
      int t = token[entry];
      const float *row = &state[entry * 2 * columns];
      float value = t < 0 ? untouched : getValue(t, c);
      float score =
          t < 0 ? untouched : getScore(t, c) + getBias(position[t] % window, c);
      if (row[c] != value || row[columns + c] != score)
        return fail("entry " + std::to_string(entry) + ", column " +
                    std::to_string(c) + ": " + std::to_string(row[c]) +
                    " and " + std::to_string(row[columns + c]) + ", expected " +
                    std::to_string(value) + " and " + std::to_string(score));
    }
  std::printf("the state is right\n");
}
