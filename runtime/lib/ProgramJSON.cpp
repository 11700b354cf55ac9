//===- ProgramJSON.cpp - Programs as JSON ---------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writing and reading ProgramInfo. An extent is a number (constant) or
// {"dim":i}; launch plans are text over the names of dims and bindings
// (Expression.h, LaunchPlan.h).
//
//===----------------------------------------------------------------------===//

#include "ProgramJSON.h"

#include <limits>

using namespace dsv4::rt;

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

static bool read(const std::string &text, Storage &storage) {
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

static JSON writeExtents(const std::vector<Extent> &extents) {
  JSON out = JSON::array();
  for (const Extent &extent : extents)
    out.push_back(extent.dim < 0 ? JSON(extent.constant)
                                 : JSON({{"dim", extent.dim}}));
  return out;
}

static JSON writeBinding(const Binding &binding) {
  return {{"name", binding.name},
          {"storage", spell(binding.storage)},
          {"element", binding.element},
          {"shape", writeExtents(binding.shape)},
          {"written", binding.written},
          {"scalar", binding.scalar},
          {"strides", writeExtents(binding.strides)}};
}

static JSON writeDim(const Dim &dim) {
  return {{"name", dim.name},
          {"binding", dim.binding},
          {"axis", dim.axis},
          {"max", dim.max},
          {"multiple", dim.multiple},
          {"isStride", dim.isStride},
          {"min", dim.min}};
}

static JSON writeDim3(const Dim3 &extents) {
  return JSON::array({extents.x, extents.y, extents.z});
}

static JSON writeKernel(const KernelInfo &kernel, const PlanNames &names) {
  const LaunchPlan &plan = kernel.plan;
  JSON grid = JSON::array(), parameters = JSON::array();
  for (const Expression &extent : plan.grid)
    grid.push_back(extent.print(names));
  for (const Parameter &parameter : plan.parameters)
    parameters.push_back(parameter.print(names));
  return {{"symbol", kernel.symbol},
          {"schedule", kernel.schedule},
          {"if", plan.condition.print(names)},
          {"requires", plan.requirements.print(names)},
          {"grid", std::move(grid)},
          {"block", writeDim3(plan.block)},
          {"cluster", writeDim3(plan.cluster)},
          {"sharedBytes", plan.sharedBytes.print(names)},
          {"programmaticLaunch", plan.programmaticLaunch},
          {"workspaceBytes", plan.workspaceBytes.print(names)},
          {"parameters", std::move(parameters)},
          {"registers", kernel.registers},
          {"spillBytes", kernel.spillBytes}};
}

JSON dsv4::rt::writeProgram(const ProgramInfo &info) {
  const PlanNames names = info.planNames();
  JSON bindings = JSON::array(), dims = JSON::array(), kernels = JSON::array();
  for (const Binding &binding : info.bindings)
    bindings.push_back(writeBinding(binding));
  for (const Dim &dim : info.dims)
    dims.push_back(writeDim(dim));
  for (const KernelInfo &kernel : info.kernels)
    kernels.push_back(writeKernel(kernel, names));
  return {{"name", info.name},       {"target", info.target},
          {"arch", info.arch},       {"bindings", std::move(bindings)},
          {"dims", std::move(dims)}, {"kernels", std::move(kernels)}};
}

std::string dsv4::rt::print(const JSON &value) {
  // JSON has no bytes, only Unicode: a name that is not UTF-8 is repaired.
  return value.dump(-1, ' ', false, JSON::error_handler_t::replace);
}

std::string ProgramInfo::toJSON() const { return print(writeProgram(*this)); }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<JSON> dsv4::rt::parseJSON(std::string_view text, const char *what) {
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
  // What it throws has the position of the error.
  try {
    return JSON::parse(text.begin(), text.end());
  } catch (const JSON::parse_error &error) {
    return invalid(std::string(what) + ": not JSON: wrong at byte " +
                   std::to_string(error.byte));
  } catch (const JSON::exception &) {
    return invalid(std::string(what) + ": not JSON: a number is out of range");
  }
}

std::optional<int64_t> dsv4::rt::asInteger(const JSON &value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX))
    return std::nullopt;
  if (!value.is_number_integer())
    return std::nullopt;
  return value.get<int64_t>();
}

namespace {
/// Reads the members of one object; the first failure sticks and is reported
/// with the object's path in the document.
class Reader {
public:
  Reader(const JSON &value, std::string path, Status &failure)
      : object(value.is_object() ? &value : nullptr), path(std::move(path)),
        failure(failure) {
    if (!object)
      fail("", "is not an object");
  }

  void operator()(const char *key, std::string &out) {
    if (const JSON *value = member(key)) {
      if (const std::string *text = value->get_ptr<const std::string *>())
        out = *text;
      else
        fail(key, "is not a string");
    }
  }

  void operator()(const char *key, bool &out) {
    if (const JSON *value = member(key)) {
      if (value->is_boolean())
        out = value->get<bool>();
      else
        fail(key, "is not true or false");
    }
  }

  template <typename T>
  std::enable_if_t<std::is_integral_v<T>> operator()(const char *key, T &out) {
    const JSON *value = member(key);
    if (!value)
      return;
    std::optional<int64_t> number = asInteger(*value);
    if (!number || *number < int64_t(std::numeric_limits<T>::min()) ||
        *number > int64_t(std::numeric_limits<T>::max()))
      return fail(key, "is not an integer in range");
    out = T(*number);
  }

  template <typename T>
  std::enable_if_t<std::is_enum_v<T>> operator()(const char *key, T &out) {
    if (const JSON *value = member(key)) {
      const std::string *text = value->get_ptr<const std::string *>();
      if (!text || !read(*text, out))
        fail(key, "is not a known spelling");
    }
  }

  /// Reads the text of what `T` parses.
  template <typename T>
  void operator()(const char *key, T &out, const PlanNames &names) {
    if (const JSON *value = member(key))
      parseText(*value, key, out, names);
  }

  /// Three texts, along x, y and z.
  void operator()(const char *key, std::array<Expression, 3> &out,
                  const PlanNames &names) {
    if (const JSON *array = triple(key))
      for (unsigned axis = 0; axis < 3; ++axis)
        parseText((*array)[axis], key, out[axis], names);
  }

  void operator()(const char *key, Dim3 &out) {
    const JSON *array = triple(key);
    if (!array)
      return;
    uint32_t *extents[] = {&out.x, &out.y, &out.z};
    for (unsigned axis = 0; axis < 3; ++axis) {
      std::optional<int64_t> number = asInteger((*array)[axis]);
      if (!number || *number < 0 || *number > int64_t(UINT32_MAX))
        return fail(key, "is not an array of three integers in range");
      *extents[axis] = uint32_t(*number);
    }
  }

  /// Calls `element(value, path)` for each element of an array.
  template <typename F>
  void each(const char *key, size_t limit, F element) {
    const JSON *value = member(key);
    if (!value)
      return;
    const JSON *array = value->is_array() ? value : nullptr;
    if (!array || array->size() > limit)
      return fail(key, "is not an array of at most " + std::to_string(limit));
    for (size_t i = 0; i < array->size() && failure.ok(); ++i)
      element((*array)[i], path + key + "[" + std::to_string(i) + "].");
  }

  void extents(const char *key, std::vector<Extent> &out) {
    each(key, MaxRank, [&](const JSON &value, const std::string &where) {
      Extent extent;
      if (std::optional<int64_t> constant = asInteger(value))
        extent.constant = *constant;
      else
        Reader(value, where, failure)("dim", extent.dim);
      out.push_back(extent);
    });
  }

  /// Reads an element of the array `key`.
  template <typename T>
  void parseText(const JSON &value, const char *key, T &out,
                 const PlanNames &names) {
    const std::string *text = value.get_ptr<const std::string *>();
    if (!text)
      return fail(key, "is not a string");
    Result<T> parsed = T::parse(*text, names);
    if (!parsed)
      return fail(key, "cannot be read: " + parsed.status().message());
    out = parsed.take();
  }

private:
  const JSON *triple(const char *key) {
    const JSON *value = member(key);
    const JSON *array = value && value->is_array() ? value : nullptr;
    if (value && (!array || array->size() != 3)) {
      fail(key, "is not an array of three");
      return nullptr;
    }
    return array;
  }

  const JSON *member(const char *key) {
    if (!failure.ok())
      return nullptr;
    auto found = object->find(key);
    if (found != object->end())
      return &*found;
    fail(key, "is missing");
    return nullptr;
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

  const JSON *object;
  std::string path;
  Status &failure;
};
} // namespace

static KernelInfo readKernel(const JSON &value, const std::string &path,
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
              [&](const JSON &element, const std::string &) {
                Parameter parameter;
                reader.parseText(element, "parameters", parameter, names);
                plan.parameters.push_back(std::move(parameter));
              });
  reader("registers", kernel.registers);
  reader("spillBytes", kernel.spillBytes);
  return kernel;
}

static Binding readBinding(const JSON &value, const std::string &path,
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

static Dim readDim(const JSON &value, const std::string &path,
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

Result<ProgramInfo> dsv4::rt::readProgram(const JSON &value) {
  ProgramInfo info;
  Status failure;
  Reader reader(value, "", failure);
  reader("name", info.name);
  reader("target", info.target);
  reader("arch", info.arch);
  reader.each("bindings", MaxBindings,
              [&](const JSON &element, const std::string &path) {
                info.bindings.push_back(readBinding(element, path, failure));
              });
  reader.each("dims", MaxDims,
              [&](const JSON &element, const std::string &path) {
                info.dims.push_back(readDim(element, path, failure));
              });
  const PlanNames names = info.planNames();
  reader.each(
      "kernels", MaxKernels, [&](const JSON &element, const std::string &path) {
        info.kernels.push_back(readKernel(element, path, names, failure));
      });
  if (failure.ok())
    failure = info.validate();
  if (!failure.ok())
    return failure;
  return info;
}

Result<ProgramInfo> ProgramInfo::fromJSON(const std::string &text) {
  Result<JSON> value = parseJSON(text, "program");
  if (!value)
    return value.status();
  return readProgram(*value);
}
