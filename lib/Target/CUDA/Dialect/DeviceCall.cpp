//===- DeviceCall.cpp - Text of device calls ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One path for all ops that are calls. They differ only in the results of
// DeviceCallOpInterface.
//
//===----------------------------------------------------------------------===//

#include "DeviceCall.h"

#include "dsv4/Support/Identifiers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dsv4;
using cuda::CallArgument;
using cuda::TemplateArgument;

FailureOr<std::string> dsv4::spellElement(const cuda::ElementAddress &address,
                                          ModuleTranslation &text) {
  auto pointer = text.spellWithin(address.base, Precedence::Postfix);
  // An index needs no widening.
  auto index = text.spell(address.offset);
  if (failed(pointer) || failed(index))
    return failure();
  return *pointer + "[" + index->text + "]";
}

//===----------------------------------------------------------------------===//
// Template arguments
//===----------------------------------------------------------------------===//

static FailureOr<std::string> spell(const TemplateArgument &argument,
                                    Location loc, ModuleTranslation &text) {
  if (auto *type = std::get_if<Type>(&argument))
    return text.spellType(*type, loc);
  if (auto *flag = std::get_if<bool>(&argument))
    return std::string(*flag ? "true" : "false");
  if (auto *number = std::get_if<int64_t>(&argument))
    return std::to_string(*number);
  const auto &enumerator = std::get<cuda::Enumerator>(argument);
  return (enumerator.scope + "::" + enumerator.name).str();
}

static FailureOr<std::string>
spellTemplateArguments(cuda::DeviceCallOpInterface op,
                       ModuleTranslation &text) {
  if (op.getConfig()) {
    auto name = op->getAttrOfType<StringAttr>(cuda::CUDADialect::kConfigAttr);
    // printConfigs() said so if there is none.
    if (!name)
      return failure();
    return "<" + name.str() + ">";
  }
  SmallVector<std::string> spelled;
  for (const TemplateArgument &argument : op.getTemplateArguments()) {
    auto one = spell(argument, op.getLoc(), text);
    if (failed(one))
      return failure();
    spelled.push_back(*one);
  }
  return spelled.empty() ? std::string()
                         : "<" + llvm::join(spelled, ", ") + ">";
}

/// The members of a config, constants of one type in one declaration.
static LogicalResult printMembers(const cuda::CallConfig &config, Location loc,
                                  ModuleTranslation &text) {
  auto &os = text.os();
  StringRef open;
  for (const cuda::ConfigMember &member : config.members) {
    auto value = spell(member.value, loc, text);
    if (failed(value))
      return failure();
    if (std::holds_alternative<Type>(member.value)) {
      os << (open.empty() ? "" : ";\n") << "using " << member.name << " = "
         << *value;
      open = "using";
      continue;
    }
    StringRef type = std::holds_alternative<int64_t>(member.value) ? "int"
                     : std::holds_alternative<bool>(member.value)  ? "bool"
                                                                   : "auto";
    // Deduced types are declared one by one.
    if (type == open && type != "auto")
      os << ", ";
    else
      os << (open.empty() ? "" : ";\n") << "static constexpr " << type << " ";
    os << member.name << " = " << *value;
    open = type;
  }
  if (!open.empty())
    os << ";\n";
  return success();
}

LogicalResult ModuleTranslation::printConfigs(Operation *func) {
  WalkResult result = func->walk([&](cuda::DeviceCallOpInterface op) {
    auto config = op.getConfig();
    if (!config)
      return WalkResult::advance();
    auto name = op->getAttrOfType<StringAttr>(cuda::CUDADialect::kConfigAttr);
    if (!name) {
      op.emitOpError() << "has no name for its config: run "
                          "cuda-prepare-for-emission";
      return WalkResult::interrupt();
    }
    if (!isEmittableIdentifier(name.getValue()) ||
        !globalNames.insert(name.getValue()).second) {
      op.emitOpError() << "cannot name its config '"
                       << toCommentText(name.getValue())
                       << "': expected an identifier that no other kernel or "
                          "config has and CUDA C++ does not reserve";
      return WalkResult::interrupt();
    }
    os() << "struct " << name.getValue() << " : " << config->base << " {\n";
    os().indent();
    if (failed(printMembers(*config, op.getLoc(), *this)))
      return WalkResult::interrupt();
    os().unindent();
    os() << "};\n\n";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Lambdas
//===----------------------------------------------------------------------===//

static FailureOr<std::string> spellParameters(const cuda::Lambda &lambda,
                                              ModuleTranslation &text) {
  SmallVector<std::string> parameters;
  for (BlockArgument argument : lambda.region->getArguments()) {
    std::string type = "const auto &";
    if (!isa<VectorType>(argument.getType())) {
      auto memory = dyn_cast<MemRefType>(argument.getType());
      auto spelled =
          text.spellType(memory ? memory.getElementType() : argument.getType(),
                         lambda.region->getLoc());
      if (failed(spelled))
        return failure();
      type = memory ? "const " + *spelled + " *" : *spelled + " ";
    }
    auto name = text.declare(argument);
    if (failed(name))
      return failure();
    parameters.push_back(type + name->str());
  }
  if (!lambda.callback.empty())
    parameters.push_back(("auto " + lambda.callback).str());
  for (StringRef output : lambda.outputs)
    parameters.push_back(("auto &" + output).str());
  return llvm::join(parameters, ", ");
}

/// What a lambda does after the statements of its region.
static LogicalResult printEnd(const cuda::Lambda &lambda,
                              ModuleTranslation &text) {
  Operation *end = lambda.region->front().getTerminator();
  if (isa<cuda::DeviceCallOpInterface>(end))
    return text.printStatement(end);
  SmallVector<std::string> values;
  for (Value value : end->getOperands()) {
    auto spelled = text.spell(value);
    if (failed(spelled))
      return failure();
    values.push_back(spelled->text);
  }
  ArrayRef<std::string> all = values;
  auto returned = all.drop_back(lambda.outputs.size());
  for (auto [output, value] :
       llvm::zip_equal(lambda.outputs, all.take_back(lambda.outputs.size())))
    text.os() << output << " = " << value << ";\n";
  if (!lambda.maker.empty())
    text.os() << "return " << lambda.maker << "(" << llvm::join(returned, ", ")
              << ");\n";
  else if (!returned.empty())
    text.os() << "return " << returned.front() << ";\n";
  return success();
}

static FailureOr<std::string> spellLambda(const cuda::Lambda &lambda,
                                          ModuleTranslation &text) {
  return text.capture([&]() -> LogicalResult {
    auto parameters = spellParameters(lambda, text);
    if (failed(parameters))
      return failure();
    auto &os = text.os();
    os << "[&](" << *parameters << ") {\n";
    os.indent();
    if (failed(text.printBlock(lambda.region->front())) ||
        failed(printEnd(lambda, text)))
      return failure();
    os.unindent();
    os << "}";
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static FailureOr<std::string> spell(const CallArgument &argument,
                                    ModuleTranslation &text) {
  if (auto *value = std::get_if<Value>(&argument)) {
    auto spelled = text.spell(*value);
    return failed(spelled) ? FailureOr<std::string>(failure())
                           : FailureOr<std::string>(spelled->text);
  }
  if (auto *address = std::get_if<cuda::ElementAddress>(&argument)) {
    auto element = spellElement(*address, text);
    return failed(element) ? element : FailureOr<std::string>("&" + *element);
  }
  if (auto *number = std::get_if<int64_t>(&argument))
    return std::to_string(*number);
  if (auto *number = std::get_if<APFloat>(&argument))
    return spellFloat(number->convertToFloat()).text;
  if (auto *temporary = std::get_if<cuda::Temporary>(&argument))
    return temporary->type.str() + "()";
  return spellLambda(std::get<cuda::Lambda>(argument), text);
}

FailureOr<Spelling> dsv4::spellDeviceCall(cuda::DeviceCallOpInterface op,
                                          ModuleTranslation &text) {
  auto templateArguments = spellTemplateArguments(op, text);
  if (failed(templateArguments))
    return failure();
  std::string call = op.getCallee().str() + *templateArguments + "(";
  SmallVector<std::string> plain, lambdas;
  for (const CallArgument &argument : op.getCallArguments()) {
    bool isLambda = std::holds_alternative<cuda::Lambda>(argument);
    auto spelled = spell(argument, text);
    if (failed(spelled))
      return failure();
    // Temporaries take the position of a lambda.
    (isLambda || !lambdas.empty() ? lambdas : plain).push_back(*spelled);
  }
  Spelling spelling{call + llvm::join(plain, ", ") + ")", Precedence::Postfix};
  if (lambdas.empty())
    return spelling;
  // Lambdas start lines of their own.
  SmallVector<std::string> lines;
  if (!plain.empty())
    lines.push_back(llvm::join(plain, ", "));
  llvm::append_range(lines, lambdas);
  auto broken = text.capture([&] {
    auto &os = text.os();
    os << call << "\n";
    os.indent();
    os << llvm::join(lines, ",\n") << ")";
    os.unindent();
    return success();
  });
  spelling.text = *broken;
  spelling.hasStatements = true;
  return spelling;
}
