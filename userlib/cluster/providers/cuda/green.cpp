// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/cuda/green.hpp"

#include <algorithm>

namespace ggas::userlib {

#if CUDA_VERSION >= 12050

namespace {

#define GGAS_GREEN_FUNCTIONS(X)         \
  X(cuDeviceGetDevResource, 12040)      \
  X(cuDevSmResourceSplitByCount, 12040) \
  X(cuDevResourceGenerateDesc, 12040)   \
  X(cuGreenCtxCreate, 12040)            \
  X(cuGreenCtxDestroy, 12040)           \
  X(cuGreenCtxStreamCreate, 12050)

struct {
#define GGAS_GREEN_MEMBER(name, version) PFN_##name##_v##version name = nullptr;
  GGAS_GREEN_FUNCTIONS(GGAS_GREEN_MEMBER)
#undef GGAS_GREEN_MEMBER
} green;

attempt<> load() {
  static const attempt<> all = [] {
    attempt<> ok;
#define GGAS_GREEN_FIND(name, version) \
  if (ok) ok = find_in_driver(#name, version, reinterpret_cast<void**>(&green.name));
    GGAS_GREEN_FUNCTIONS(GGAS_GREEN_FIND)
#undef GGAS_GREEN_FIND
    return ok;
  }();
  return all;
}

#define GGAS_GREEN(what, call, ...) worked(what, #call, green.call(__VA_ARGS__))

}  // namespace

// Once, in the smallest groups: the driver does not split again what a split has left.
attempt<> green_contexts::divide(int gpu, const std::string& what) {
  if (left_.contains(gpu)) return {};
  sm_part whole{}, rest{};
  unsigned groups = 0;
  auto ok = GGAS_GREEN(what, cuDeviceGetDevResource, gpu, &whole, CU_DEV_RESOURCE_TYPE_SM);
  if (ok) ok = GGAS_GREEN(what, cuDevSmResourceSplitByCount, nullptr, &groups, &whole, &rest, 0, 1);
  std::vector<sm_part> all(groups);
  if (ok) ok = GGAS_GREEN(what, cuDevSmResourceSplitByCount, all.data(), &groups, &whole, &rest, 0, 1);
  if (ok) left_[gpu] = std::move(all);
  return ok;
}

attempt<std::vector<sm_part>> green_contexts::take(int gpu, unsigned count, const std::string& what) {
  if (auto ok = divide(gpu, what); !ok) return std::unexpected(ok.error());
  std::vector<sm_part>& left = left_[gpu];
  unsigned found = 0;
  auto first = left.end();
  while (found < count && first != left.begin()) found += (--first)->sm.smCount;
  if (found < count) return std::unexpected(what + ": " + std::to_string(found) + " are left of the GPU");
  std::vector<sm_part> mine(first, left.end());
  left.erase(first, left.end());
  return mine;
}

attempt<cudaStream_t> green_contexts::make_stream(int gpu, unsigned count, int priority, const std::string& what) {
  if (auto ok = load(); !ok) return std::unexpected(what + ": " + ok.error());
  auto parts = take(gpu, count, what);
  if (!parts) return std::unexpected(parts.error());
  CUdevResourceDesc description{};
  one made{nullptr, nullptr, 0};
  for (const sm_part& p : *parts) made.count += p.sm.smCount;
  attempt<> ok =
      GGAS_GREEN(what, cuDevResourceGenerateDesc, &description, parts->data(), static_cast<unsigned>(parts->size()));
  if (ok) ok = GGAS_GREEN(what, cuGreenCtxCreate, &made.context, description, gpu, CU_GREEN_CTX_DEFAULT_STREAM);
  if (!ok) return std::unexpected(ok.error());
  ok = GGAS_GREEN(what, cuGreenCtxStreamCreate, &made.stream, made.context, CU_STREAM_NON_BLOCKING, priority);
  all_.push_back(made);
  if (!ok) return std::unexpected(ok.error());
  return made.stream;
}

void green_contexts::destroy() {
  for (const one& c : all_) static_cast<void>(green.cuGreenCtxDestroy(c.context));
  all_.clear();
}

#else

attempt<cudaStream_t> green_contexts::make_stream(int, unsigned, int, const std::string& what) {
  return std::unexpected(what + ": this program was compiled with CUDA " + std::to_string(CUDA_VERSION / 1000) + "." +
                         std::to_string(CUDA_VERSION % 1000 / 10) + ": it must be 12.5 or later");
}
void green_contexts::destroy() {}

#endif

unsigned green_contexts::multiprocessors(cudaStream_t s) const {
  const auto at = std::ranges::find(all_, s, &one::stream);
  return at == all_.end() ? 0 : at->count;
}

}  // namespace ggas::userlib
