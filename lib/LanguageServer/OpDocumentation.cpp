//===- OpDocumentation.cpp - What a hover says of an op -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpDocumentation.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace dsv4;

/// What an editor shows of the section of an op, which begins after its name.
static std::string getShown(StringRef section) {
  // The rest of the heading is the class.
  section = section.split('\n').second;
  // Tables of operands repeat the description; traits are for C++.
  for (StringRef end :
       {"\n### ", "\n## ", "\nTraits: ", "\nInterfaces: ", "\nEffects: ",
        "\n#### Attributes:", "\n#### Operands:", "\n#### Results:"})
    section = section.take_front(section.find(end));
  std::string shown = section.trim().str();
  // Other pages of the documentation are not beside the program.
  llvm::Regex link("\\[([^]]*)\\]\\((\\.\\./|#)[^)]*\\)");
  while (link.match(shown))
    shown = link.sub("\\1", shown);
  return shown;
}

void OpDocumentation::addPage(StringRef page) {
  StringRef heading = "\n### `";
  for (size_t at = page.find(heading); at != StringRef::npos;
       at = page.find(heading, at + 1)) {
    StringRef section = page.drop_front(at + heading.size());
    texts[section.take_until([](char c) { return c == '`'; })] =
        getShown(section);
  }
}

StringRef OpDocumentation::lookup(StringRef op) const {
  auto found = texts.find(op);
  return found == texts.end() ? StringRef() : StringRef(found->second);
}

void OpDocumentation::addTo(std::string &message) const {
  // Few messages are hovers, and others may be long.
  if (!StringRef(message).contains("\"contents\""))
    return;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(message);
  if (!value)
    return llvm::consumeError(value.takeError());
  llvm::json::Object *object = value->getAsObject();
  llvm::json::Object *result = object ? object->getObject("result") : nullptr;
  llvm::json::Object *contents =
      result ? result->getObject("contents") : nullptr;
  std::optional<StringRef> text =
      contents ? contents->getString("value") : std::nullopt;
  // MLIR's hover over an op begins with its name in quotes.
  if (!text || !text->starts_with("\""))
    return;
  auto [title, rest] = text->split('\n');
  StringRef documentation = lookup(title.split('"').second.split('"').first);
  if (documentation.empty())
    return;
  (*contents)["value"] =
      llvm::formatv("{0}\n\n{1}\n\n---\n{2}", title, documentation, rest).str();
  bool isPretty = StringRef(message).ends_with("\n");
  message = isPretty ? llvm::formatv("{0:2}\n", *value).str()
                     : llvm::formatv("{0}", *value).str();
}
