//===- Program.cpp - Programs as JSON -------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writing, reading and validating ProgramInfo. An extent is a number (constant)
// or {"dim":i}; launch plans are text over the names of dims and bindings
// (Expression.h, LaunchPlan.h).
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Program.h"

#include "ProgramJSON.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

using namespace dsv4::rt;
namespace json = llvm::json;

static Status invalid(const std::string &message) {
  return Status(Code::InvalidArgument, message);
}

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

static const char *spell(Storage storage) {
  switch (storage) {
  case Storage::U8:
    return "u8";
  case Storage::U16:
    return "u16";
  case Storage::I32:
    return "i32";
  case Storage::F32:
    return "f32";
  case Storage::I64:
    return "i64";
  }
  return "u8";
}

static bool read(llvm::StringRef text, Storage &storage) {
  for (Storage each :
       {Storage::U8, Storage::U16, Storage::I32, Storage::F32, Storage::I64})
    if (text == spell(each)) {
      storage = each;
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// JSON has no bytes, only Unicode: a name that is not UTF-8 is repaired.
static std::string utf8(const std::string &text) {
  return json::isUTF8(text) ? text : json::fixUTF8(text);
}

static void writeExtents(json::OStream &out, llvm::StringRef key,
                         const std::vector<Extent> &extents) {
  out.attributeArray(key, [&] {
    for (const Extent &extent : extents) {
      if (extent.dim < 0)
        out.value(extent.constant);
      else
        out.object([&] { out.attribute("dim", extent.dim); });
    }
  });
}

static void writeBinding(json::OStream &out, const Binding &binding) {
  out.object([&] {
    out.attribute("name", utf8(binding.name));
    out.attribute("storage", spell(binding.storage));
    out.attribute("element", utf8(binding.element));
    writeExtents(out, "shape", binding.shape);
    out.attribute("written", binding.written);
    out.attribute("scalar", binding.scalar);
    writeExtents(out, "strides", binding.strides);
  });
}

static void writeDim(json::OStream &out, const Dim &dim) {
  out.object([&] {
    out.attribute("name", utf8(dim.name));
    out.attribute("binding", dim.binding);
    out.attribute("axis", dim.axis);
    out.attribute("max", dim.max);
    out.attribute("multiple", dim.multiple);
    out.attribute("isStride", dim.isStride);
    out.attribute("min", dim.min);
  });
}

static void writeDim3(json::OStream &out, llvm::StringRef key,
                      const Dim3 &extents) {
  out.attributeArray(key, [&] {
    for (unsigned axis = 0; axis < 3; ++axis)
      out.value(int64_t(extents[axis]));
  });
}

static void writeKernel(json::OStream &out, const KernelInfo &kernel,
                        const PlanNames &names) {
  const LaunchPlan &plan = kernel.plan;
  out.object([&] {
    out.attribute("symbol", utf8(kernel.symbol));
    out.attribute("schedule", utf8(kernel.schedule));
    out.attribute("if", utf8(plan.condition.print(names)));
    out.attribute("requires", utf8(plan.requirements.print(names)));
    out.attributeArray("grid", [&] {
      for (const Expression &extent : plan.grid)
        out.value(utf8(extent.print(names)));
    });
    writeDim3(out, "block", plan.block);
    writeDim3(out, "cluster", plan.cluster);
    out.attribute("sharedBytes", utf8(plan.sharedBytes.print(names)));
    out.attribute("programmaticLaunch", plan.programmaticLaunch);
    out.attribute("workspaceBytes", utf8(plan.workspaceBytes.print(names)));
    out.attributeArray("parameters", [&] {
      for (const Parameter &parameter : plan.parameters)
        out.value(utf8(parameter.print(names)));
    });
    out.attribute("registers", int64_t(kernel.registers));
    out.attribute("spillBytes", int64_t(kernel.spillBytes));
  });
}

PlanNames ProgramInfo::planNames() const {
  PlanNames names;
  for (const Dim &dim : dims)
    names.extents.push_back(dim.name);
  for (const Binding &binding : bindings)
    names.bindings.push_back(binding.name);
  return names;
}

void dsv4::rt::writeProgram(json::OStream &out, const ProgramInfo &info) {
  const PlanNames names = info.planNames();
  out.object([&] {
    out.attribute("name", utf8(info.name));
    out.attribute("target", utf8(info.target));
    out.attribute("arch", utf8(info.arch));
    out.attributeArray("bindings", [&] {
      for (const Binding &binding : info.bindings)
        writeBinding(out, binding);
    });
    out.attributeArray("dims", [&] {
      for (const Dim &dim : info.dims)
        writeDim(out, dim);
    });
    out.attributeArray("kernels", [&] {
      for (const KernelInfo &kernel : info.kernels)
        writeKernel(out, kernel, names);
    });
  });
}

std::string ProgramInfo::toJSON() const {
  std::string text;
  {
    llvm::raw_string_ostream stream(text);
    json::OStream out(stream);
    writeProgram(out, *this);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<json::Value> dsv4::rt::parseJSON(llvm::StringRef text,
                                        const char *what) {
  constexpr unsigned maxDepth = 16; // A program needs 6.
  unsigned depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxDepth)
        return invalid(std::string(what) + ": JSON nested too deeply");
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return invalid(std::string(what) +
                   ": not JSON: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

namespace {
/// Reads the members of one object; the first failure sticks and is reported
/// with the object's path in the document.
class Reader {
public:
  Reader(const json::Value &value, std::string path, Status &failure)
      : object(value.getAsObject()), path(std::move(path)), failure(failure) {
    if (!object)
      fail("", "is not an object");
  }

  void operator()(const char *key, std::string &out) {
    if (const json::Value *value = member(key)) {
      if (std::optional<llvm::StringRef> text = value->getAsString())
        out = text->str();
      else
        fail(key, "is not a string");
    }
  }

  void operator()(const char *key, bool &out) {
    if (const json::Value *value = member(key)) {
      if (std::optional<bool> flag = value->getAsBoolean())
        out = *flag;
      else
        fail(key, "is not true or false");
    }
  }

  template <typename T>
  std::enable_if_t<std::is_integral_v<T>> operator()(const char *key, T &out) {
    const json::Value *value = member(key);
    if (!value)
      return;
    std::optional<int64_t> number = value->getAsInteger();
    if (!number || *number < int64_t(std::numeric_limits<T>::min()) ||
        *number > int64_t(std::numeric_limits<T>::max()))
      return fail(key, "is not an integer in range");
    out = T(*number);
  }

  template <typename T>
  std::enable_if_t<std::is_enum_v<T>> operator()(const char *key, T &out) {
    if (const json::Value *value = member(key)) {
      std::optional<llvm::StringRef> text = value->getAsString();
      if (!text || !read(*text, out))
        fail(key, "is not a known spelling");
    }
  }

  /// Reads the text of what `T` parses.
  template <typename T>
  void operator()(const char *key, T &out, const PlanNames &names) {
    if (const json::Value *value = member(key))
      parseText(*value, key, out, names);
  }

  /// Three texts, along x, y and z.
  void operator()(const char *key, std::array<Expression, 3> &out,
                  const PlanNames &names) {
    if (const json::Array *array = triple(key))
      for (unsigned axis = 0; axis < 3; ++axis)
        parseText((*array)[axis], key, out[axis], names);
  }

  void operator()(const char *key, Dim3 &out) {
    const json::Array *array = triple(key);
    if (!array)
      return;
    uint32_t *extents[] = {&out.x, &out.y, &out.z};
    for (unsigned axis = 0; axis < 3; ++axis) {
      std::optional<int64_t> number = (*array)[axis].getAsInteger();
      if (!number || *number < 0 || *number > int64_t(UINT32_MAX))
        return fail(key, "is not an array of three integers in range");
      *extents[axis] = uint32_t(*number);
    }
  }

  /// Calls `element(value, path)` for each element of an array.
  template <typename F>
  void each(const char *key, size_t limit, F element) {
    const json::Value *value = member(key);
    if (!value)
      return;
    const json::Array *array = value->getAsArray();
    if (!array || array->size() > limit)
      return fail(key, "is not an array of at most " + std::to_string(limit));
    for (size_t i = 0; i < array->size() && failure.ok(); ++i)
      element((*array)[i], path + key + "[" + std::to_string(i) + "].");
  }

  void extents(const char *key, std::vector<Extent> &out) {
    each(key, MaxRank, [&](const json::Value &value, const std::string &where) {
      Extent extent;
      if (std::optional<int64_t> constant = value.getAsInteger())
        extent.constant = *constant;
      else
        Reader(value, where, failure)("dim", extent.dim);
      out.push_back(extent);
    });
  }

  /// Reads an element of the array `key`.
  template <typename T>
  void parseText(const json::Value &value, const char *key, T &out,
                 const PlanNames &names) {
    std::optional<llvm::StringRef> text = value.getAsString();
    if (!text)
      return fail(key, "is not a string");
    Result<T> parsed =
        T::parse(std::string_view(text->data(), text->size()), names);
    if (!parsed)
      return fail(key, "cannot be read: " + parsed.status().message());
    out = parsed.take();
  }

private:
  const json::Array *triple(const char *key) {
    const json::Value *value = member(key);
    const json::Array *array = value ? value->getAsArray() : nullptr;
    if (value && (!array || array->size() != 3)) {
      fail(key, "is not an array of three");
      return nullptr;
    }
    return array;
  }

  const json::Value *member(const char *key) {
    if (!failure.ok())
      return nullptr;
    const json::Value *value = object->get(key);
    if (!value)
      fail(key, "is missing");
    return value;
  }

  void fail(const char *key, const std::string &what) {
    if (!failure.ok())
      return;
    std::string where = path + key;
    if (!where.empty() && where.back() == '.')
      where.pop_back();
    failure = invalid((where.empty() ? "program " : "program: " + where + " ") +
                      what);
  }

  const json::Object *object;
  std::string path;
  Status &failure;
};
} // namespace

static KernelInfo readKernel(const json::Value &value, const std::string &path,
                             const PlanNames &names, Status &failure) {
  KernelInfo kernel;
  LaunchPlan &plan = kernel.plan;
  Reader reader(value, path, failure);
  reader("symbol", kernel.symbol);
  reader("schedule", kernel.schedule);
  reader("if", plan.condition, names);
  reader("requires", plan.requirements, names);
  reader("grid", plan.grid, names);
  reader("block", plan.block);
  reader("cluster", plan.cluster);
  reader("sharedBytes", plan.sharedBytes, names);
  reader("programmaticLaunch", plan.programmaticLaunch);
  reader("workspaceBytes", plan.workspaceBytes, names);
  reader.each("parameters", MaxParameters,
              [&](const json::Value &element, const std::string &) {
                Parameter parameter;
                reader.parseText(element, "parameters", parameter, names);
                plan.parameters.push_back(std::move(parameter));
              });
  reader("registers", kernel.registers);
  reader("spillBytes", kernel.spillBytes);
  return kernel;
}

static Binding readBinding(const json::Value &value, const std::string &path,
                           Status &failure) {
  Binding binding;
  binding.storage = Storage::U8;
  Reader reader(value, path, failure);
  reader("name", binding.name);
  reader("storage", binding.storage);
  reader("element", binding.element);
  reader.extents("shape", binding.shape);
  reader("written", binding.written);
  reader("scalar", binding.scalar);
  reader.extents("strides", binding.strides);
  return binding;
}

static Dim readDim(const json::Value &value, const std::string &path,
                   Status &failure) {
  Dim dim;
  Reader reader(value, path, failure);
  reader("name", dim.name);
  reader("binding", dim.binding);
  reader("axis", dim.axis);
  reader("max", dim.max);
  reader("multiple", dim.multiple);
  reader("isStride", dim.isStride);
  reader("min", dim.min);
  return dim;
}

Result<ProgramInfo> dsv4::rt::readProgram(const json::Value &value) {
  ProgramInfo info;
  Status failure;
  Reader reader(value, "", failure);
  reader("name", info.name);
  reader("target", info.target);
  reader("arch", info.arch);
  reader.each("bindings", MaxBindings,
              [&](const json::Value &element, const std::string &path) {
                info.bindings.push_back(readBinding(element, path, failure));
              });
  reader.each("dims", MaxDims,
              [&](const json::Value &element, const std::string &path) {
                info.dims.push_back(readDim(element, path, failure));
              });
  const PlanNames names = info.planNames();
  reader.each("kernels", MaxKernels,
              [&](const json::Value &element, const std::string &path) {
                info.kernels.push_back(
                    readKernel(element, path, names, failure));
              });
  if (failure.ok())
    failure = info.validate();
  if (!failure.ok())
    return failure;
  return info;
}

Result<ProgramInfo> ProgramInfo::fromJSON(const std::string &text) {
  Result<json::Value> value = parseJSON(text, "program");
  if (!value)
    return value.status();
  return readProgram(*value);
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

static Status validateExtents(const std::vector<Extent> &extents,
                              const std::vector<Dim> &dims, bool areStrides,
                              const std::string &owner) {
  if (extents.size() > MaxRank)
    return invalid(owner + " has more than " + std::to_string(MaxRank) +
                   " extents");
  for (const Extent &extent : extents) {
    if (extent.dim >= 0 && size_t(extent.dim) >= dims.size())
      return invalid(owner + ": dim " + std::to_string(extent.dim) +
                     " does not exist");
    if (extent.dim >= 0 && dims[size_t(extent.dim)].isStride != areStrides)
      return invalid(owner + ": dim '" + dims[size_t(extent.dim)].name +
                     (areStrides ? "' is an extent: expected a stride"
                                 : "' is a stride: expected an extent"));
    if (extent.dim < 0 && extent.constant < 0)
      return invalid(owner +
                     (areStrides ? ": negative stride" : ": negative extent"));
  }
  return Status();
}

static Status validateDim(const Dim &dim, size_t index,
                          const std::vector<Binding> &bindings) {
  std::string owner = "program: dim '" + dim.name + "'";
  if (dim.binding < 0 || size_t(dim.binding) >= bindings.size())
    return invalid(owner + ": binding " + std::to_string(dim.binding) +
                   " does not exist");
  const Binding &binding = bindings[size_t(dim.binding)];
  const std::vector<Extent> &numbers =
      dim.isStride ? binding.strides : binding.shape;
  if (dim.axis < 0 || size_t(dim.axis) >= numbers.size())
    return invalid(owner + ": axis " + std::to_string(dim.axis) +
                   " does not exist");
  if (numbers[size_t(dim.axis)].dim != int(index))
    return invalid(owner + " is read from an axis of another " +
                   (dim.isStride ? "stride" : "extent"));
  if (dim.max < 0)
    return invalid(owner + " has a negative maximum");
  // In bytes, a stride fits 63 bits.
  if (dim.isStride && dim.max > INT32_MAX)
    return invalid(owner + ": a stride is at most 2^31 - 1");
  if (dim.min < 0 || dim.min > dim.max || (dim.min > 0 && !dim.isStride))
    return invalid(owner + ": expected a minimum of 0, or of a stride one up "
                           "to its maximum");
  if (dim.multiple < 1 || (dim.multiple & (dim.multiple - 1)))
    return invalid(owner + ": multiple must be a power of two");
  return Status();
}

static Status validateKernel(const KernelInfo &kernel,
                             const ProgramInfo &info) {
  std::string owner = "program: kernel '" + kernel.symbol + "'";
  if (kernel.symbol.empty() || kernel.symbol.find('\0') != std::string::npos)
    return invalid(owner + " has no usable symbol");
  if (Status status =
          kernel.plan.validate(info.dims.size(), info.bindings.size());
      !status)
    return invalid(owner + ": " + status.message());
  using Kind = Parameter::Kind;
  for (const Parameter &parameter : kernel.plan.parameters) {
    const bool isScalar = parameter.kind == Kind::Scalar;
    if (!isScalar && parameter.kind != Kind::Buffer &&
        parameter.kind != Kind::TensorMap)
      continue;
    const Binding &binding = info.bindings[size_t(parameter.binding)];
    if (binding.scalar != isScalar)
      return invalid(owner + ": '" + binding.name + "' is " +
                     (isScalar ? "no scalar: pass it as a buffer"
                               : "a scalar: pass it as one"));
  }
  return Status();
}

static Status validateBinding(const Binding &binding, size_t index,
                              const std::vector<Dim> &dims) {
  std::string owner = "program: binding '" + binding.name + "'";
  if (Status status =
          validateExtents(binding.shape, dims, /*areStrides=*/false, owner);
      !status)
    return status;
  if (Status status =
          validateExtents(binding.strides, dims, /*areStrides=*/true, owner);
      !status)
    return status;
  if (!binding.strides.empty() &&
      binding.strides.size() + 1 != binding.shape.size())
    return invalid(owner + ": expected a stride for every axis but the last");
  for (size_t axis = 0; axis < binding.strides.size(); ++axis)
    if (int number = binding.strides[axis].dim; number >= 0)
      if (const Dim &dim = dims[size_t(number)];
          dim.binding != int(index) || dim.axis != int(axis))
        return invalid(owner + ": dim '" + dim.name +
                       "' is the stride of another axis");
  if (binding.scalar &&
      (!binding.shape.empty() || binding.written ||
       binding.storage == Storage::U8 || binding.storage == Storage::U16))
    return invalid(owner + ": a scalar is one i32, i64 or f32 that is not "
                           "written");
  return Status();
}

/// Launch plans are text, so what they refer to has a name of its own.
static Status validateNames(const std::vector<std::string> &names,
                            const char *what) {
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  for (const std::string &name : sorted)
    if (!isPlanName(name))
      return invalid(std::string("program: ") + what + " '" + name +
                     "': expected a letter or '_', then letters, digits, '_' "
                     "and '.'");
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return invalid(std::string("program: two ") + what + "s have the name '" +
                   *twice + "'");
  return Status();
}

Status ProgramInfo::validate() const {
  if (target != "cuda" && target != "host")
    return invalid("program: target '" + target +
                   "' is neither 'cuda' nor 'host'");
  if (arch.empty())
    return invalid("program: arch is empty");
  if (bindings.size() > MaxBindings || dims.size() > MaxDims ||
      kernels.size() > MaxKernels)
    return invalid("program: too many bindings, dims or kernels");
  const PlanNames names = planNames();
  if (Status status = validateNames(names.extents, "dim"); !status)
    return status;
  if (Status status = validateNames(names.bindings, "binding"); !status)
    return status;
  for (size_t i = 0; i < bindings.size(); ++i)
    if (Status status = validateBinding(bindings[i], i, dims); !status)
      return status;
  for (size_t i = 0; i < dims.size(); ++i)
    if (Status status = validateDim(dims[i], i, bindings); !status)
      return status;
  for (const KernelInfo &kernel : kernels)
    if (Status status = validateKernel(kernel, *this); !status)
      return status;
  return Status();
}
