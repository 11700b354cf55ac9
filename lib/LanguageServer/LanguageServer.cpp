//===- LanguageServer.cpp - MLIR's language server, and more --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's server answers every request. Its hovers do not show what ODS says of
// an op, and it has no hook that could add this. So the server writes into a
// pipe, and a thread puts the documentation into the hovers that it passes on.
//
//===----------------------------------------------------------------------===//

#include "dsv4/LanguageServer/LanguageServer.h"

#include "OpDocumentation.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LSP/Transport.h"

#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mlir;
using namespace dsv4;

// Generated: the reference of dsv4's dialects.
namespace dsv4::rt {
std::string_view dialectPage(std::string_view file);
const std::vector<std::string_view> &dialectPages();
} // namespace dsv4::rt

namespace {
/// Puts documentation into what this process writes to stdout.
class Output {
public:
  explicit Output(const OpDocumentation &documentation)
      : documentation(documentation) {}
  ~Output();

  /// From now on, once.
  void start();

private:
  /// Passes messages on to the client until the server closes its end.
  void passOn(FILE *server);

  const OpDocumentation &documentation;
  /// Where the client reads; below 0 until `start`.
  int client = -1;
  std::thread thread;
};
} // namespace

void Output::start() {
  int ends[2];
  // Without a pipe, hovers are those of MLIR.
  if (client >= 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    return;
  llvm::outs().flush();
  FILE *server = ::fdopen(ends[0], "r");
  client = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (!server || client < 0)
    llvm::report_fatal_error("the language server cannot keep its stdout");
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
  thread = std::thread([this, server] { passOn(server); });
}

Output::~Output() {
  if (client < 0)
    return;
  llvm::outs().flush();
  // Closes the server's end of the pipe, too.
  ::dup2(client, STDOUT_FILENO);
  thread.join();
}

void Output::passOn(FILE *server) {
  llvm::lsp::JSONTransportInputOverFile input(server);
  llvm::raw_fd_ostream output(client, /*shouldClose=*/true);
  std::string message;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (failed(input.readMessage(message)))
      continue;
    documentation.addTo(message);
    output << "Content-Length: " << message.size() << "\r\n\r\n" << message;
    output.flush();
  }
  // A client that is gone reads nothing: this is no error of ours.
  output.clear_error();
  std::fclose(server);
}

LogicalResult dsv4::runLanguageServer(int argc, char **argv,
                                      DialectRegistry &registry,
                                      ArrayRef<StringRef> pages) {
  OpDocumentation documentation;
  for (std::string_view file : rt::dialectPages())
    documentation.addPage(rt::dialectPage(file));
  for (StringRef page : pages)
    documentation.addPage(page);
  Output output(documentation);
  // The server asks for the dialects of a document when it is opened: hovers
  // come later, and options that print and exit, such as --help, before.
  return MlirLspServerMain(
      argc, argv, [&](const llvm::lsp::URIForFile &) -> DialectRegistry & {
        output.start();
        return registry;
      });
}
