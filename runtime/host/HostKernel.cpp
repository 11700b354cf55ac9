//===- HostKernel.cpp - A kernel that runs on the CPU ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostKernel.h"
#include "FiberExecutor.h"
#include "PrivateDirectory.h"
#include "Sanitizers.h"

#include "dsv4-runtime/Fork.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <utility>

namespace dsv4::rt {

namespace {

std::string loaderMessage() {
  const char *message = dlerror();
  return message ? message : "no message";
}

} // namespace

struct HostKernel::Loaded {
  ~Loaded() {
    if (library)
      dlclose(library);
  }

  void *library = nullptr;
  /// Where the image was loaded from, as long as a report may want its lines.
  std::unique_ptr<PrivateDirectory> directory;
  /// Guards what follows, and the image's own variables. A launch sets all of
  /// both, so a child of fork() can go on with what it finds.
  PerProcess<std::mutex> running;
  HostLaunch launch;
  std::function<void(const std::string &)> warn;
};

HostKernel::HostKernel(std::unique_ptr<Loaded> loaded)
    : loaded(std::move(loaded)) {}
HostKernel::~HostKernel() = default;

Result<std::unique_ptr<HostKernel>>
HostKernel::load(const std::string &image, const std::string &symbol,
                 const ThreadSchedule &schedule,
                 std::function<void(const std::string &)> warn, Dim3 cluster) {
  const std::string who = "kernel '" + symbol + "': ";
  // A file, because the loader takes an image only from a name and takes equal
  // names (of memory files, say) for the same image.
  Result<PrivateDirectory> directory = PrivateDirectory::create();
  if (!directory)
    return directory.status();
  if (Status written = directory->write("kernel.so", image); !written)
    return written;

  auto loaded = std::make_unique<Loaded>();
  loaded->library =
      dlopen(directory->pathOf("kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded->library)
    return Status(Code::LoadFailed,
                  who + "cannot load the image: " + loaderMessage());

  auto *head = static_cast<const dsv4_host::Image *>(
      dlsym(loaded->library, "dsv4_host_image"));
  void *entry = dlsym(loaded->library, "dsv4_host_entry");
  if (!head || !entry)
    return Status(Code::LoadFailed, who + "the image is not a host kernel");
  if (head->version != dsv4_host::abi_version)
    return Status(Code::LoadFailed, who + "the image has version " +
                                        std::to_string(head->version) +
                                        ", expected " +
                                        std::to_string(dsv4_host::abi_version));
  if (!dlsym(loaded->library, symbol.c_str()))
    return Status(Code::LoadFailed, who + "the image has no such kernel");

  if (addressSanitizerIsOn)
    loaded->directory =
        std::make_unique<PrivateDirectory>(std::move(*directory));

  HostLaunch &launch = loaded->launch;
  launch.kernel = symbol;
  launch.state = head->state;
  launch.entry = reinterpret_cast<void (*)(void **)>(entry);
  launch.sharedBegin = head->sharedBegin;
  launch.sharedEnd = head->sharedEnd;
  launch.schedule = schedule;
  launch.clusterShape = cluster;
  launch.cluster = uint32_t(cluster.count());
  loaded->warn = std::move(warn);
  return std::unique_ptr<HostKernel>(new HostKernel(std::move(loaded)));
}

/// What is wrong with the shape of a launch, or "".
static std::string explainShape(const HostLaunch &launch, Dim3 grid, Dim3 block,
                                uint32_t sharedBytes) {
  static constexpr const char *axes[] = {"x", "y", "z"};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::string along = grid.is1D() && launch.clusterShape.is1D()
                                  ? ""
                                  : std::string(" along ") + axes[axis];
    if (grid[axis] > MaxGrid[axis])
      return std::to_string(grid[axis]) + " blocks" + along +
             ": expected at most " + std::to_string(MaxGrid[axis]);
    if (grid[axis] % launch.clusterShape[axis] != 0)
      return std::to_string(grid[axis]) + " blocks" + along +
             ": expected a multiple of the " +
             std::to_string(launch.clusterShape[axis]) + " of a cluster";
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    if (block[axis] == 0 || block[axis] > MaxBlock[axis])
      return std::to_string(block[axis]) + " threads per block" +
             (block.is1D() ? "" : std::string(" along ") + axes[axis]) +
             ": expected 1 to " + std::to_string(MaxBlock[axis]);
  if (block.count() > MaxThreadsOfBlock)
    return std::to_string(block.count()) +
           " threads per block: expected 1 to " +
           std::to_string(MaxThreadsOfBlock);
  if (sharedBytes > MaxHostSharedBytes)
    return std::to_string(sharedBytes) +
           " bytes of shared memory: expected at most " +
           std::to_string(MaxHostSharedBytes);
  return "";
}

Status HostKernel::launch(Dim3 grid, Dim3 block, uint32_t sharedBytes,
                          void **params) {
  std::unique_lock<std::mutex> lock(loaded->running.get());
  HostLaunch &launch = loaded->launch;
  const std::string who = "kernel '" + launch.kernel + "': ";
  if (std::string why = explainShape(launch, grid, block, sharedBytes);
      !why.empty())
    return Status(Code::InvalidArgument, who + why);
  launch.grid = grid;
  launch.blockShape = block;
  launch.threads = uint32_t(block.count());
  launch.sharedBytes = sharedBytes;
  launch.params = params;
  std::set<std::pair<int64_t, int64_t>> beyondPool;
  launch.beyondPool = &beyondPool;
  Status status = FiberExecutor::run(launch);
  launch.beyondPool = nullptr;
  lock.unlock(); // Whoever is warned may take long.
  // The lowest page of each pool; pools of one size are not distinguished.
  std::map<int64_t, int64_t> lowest;
  for (auto [page, pages] : beyondPool)
    lowest.try_emplace(pages, page);
  if (loaded->warn)
    for (auto [pages, page] : lowest)
      loaded->warn(who +
                   "entries beyond the pool were not written, the lowest in "
                   "page " +
                   std::to_string(page) + " of a pool of " +
                   std::to_string(pages) + " pages");
  return status;
}

void HostKernel::setSchedule(const ThreadSchedule &schedule) {
  std::lock_guard<std::mutex> lock(loaded->running.get());
  loaded->launch.schedule = schedule;
}

namespace {
/// A kernel of the host target after the launch path's interface.
class HostKernelModule : public HostModule {
public:
  explicit HostKernelModule(std::unique_ptr<HostKernel> kernel)
      : kernel(std::move(kernel)) {}

  Status launch(Dim3 grid, Dim3 block, uint32_t sharedBytes,
                void **params) override {
    return kernel->launch(grid, block, sharedBytes, params);
  }

private:
  std::unique_ptr<HostKernel> kernel;
};
} // namespace

HostModuleFactory hostModules(const ThreadSchedule &schedule,
                              std::function<void(const std::string &)> warn) {
  return [schedule, warn](
             const std::string &image,
             const KernelInfo &kernel) -> Result<std::unique_ptr<HostModule>> {
    auto loaded = HostKernel::load(image, kernel.symbol, schedule, warn,
                                   kernel.plan.cluster);
    if (!loaded)
      return loaded.status();
    return std::unique_ptr<HostModule>(new HostKernelModule(loaded.take()));
  };
}

} // namespace dsv4::rt
