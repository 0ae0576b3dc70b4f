// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/gpu/imports.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ggas::mpi {

namespace {

constexpr size_t most_open = 64, most_known = 256;

}  // namespace

void imports::close(map::iterator i) {
  d_.cuIpcCloseMemHandle(i->second.at);
  open_.erase(i);
}

std::string imports::open(int process, const shared_block& b, CUdeviceptr& at) {
  const std::pair key(process, b.first);
  // Another allocation at the same address: the one that was opened is gone.
  if (const auto o = open_.find(key); o != open_.end() && o->second.allocation != b.allocation) close(o);
  if (const auto o = open_.find(key); o != open_.end()) {
    o->second.used = ++calls_;
    at = o->second.at;
    return {};
  }
  if (open_.size() >= most_open)
    close(std::min_element(open_.begin(), open_.end(),
                           [](const auto& a, const auto& c) { return a.second.used < c.second.used; }));
  CUipcMemHandle handle;
  static_assert(sizeof handle == sizeof b.handle);
  std::memcpy(&handle, b.handle, sizeof handle);
  const CUresult r = d_.cuIpcOpenMemHandle(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (r == CUDA_SUCCESS) open_[key] = {b.allocation, ++calls_, at};
  return worked(d_, "cuIpcOpenMemHandle", r);
}

bool exports::describe(const void* at, shared_block& b) {
  unsigned long long number = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_BUFFER_ID};
  void* values[] = {&number};
  const auto address = reinterpret_cast<CUdeviceptr>(at);
  if (d_.cuPointerGetAttributes(1, which, values, address) != CUDA_SUCCESS || number == 0) return false;
  const std::lock_guard one_at_a_time(lock_);
  if (const auto k = known_.find(number); k != known_.end()) return b = k->second.second, k->second.first;
  b = {};
  CUdeviceptr first = 0;
  size_t bytes = 0;
  CUipcMemHandle handle;
  const bool given = d_.cuMemGetAddressRange(&first, &bytes, address) == CUDA_SUCCESS &&
                     d_.cuIpcGetMemHandle(&handle, first) == CUDA_SUCCESS;
  if (given) {
    std::memcpy(b.handle, &handle, sizeof handle);
    b.allocation = number;
    b.first = first;
    b.bytes = bytes;
  }
  if (known_.size() >= most_known) known_.clear();
  known_[number] = {given, b};
  return given;
}

void* exports::borrow(uint64_t bytes) {
  const uint64_t size = std::bit_ceil(std::max<uint64_t>(bytes, 4096));
  const std::lock_guard one_at_a_time(lock_);
  if (std::vector<void*>& some = unused_[size]; !some.empty()) {
    void* const at = some.back();
    some.pop_back();
    return at;
  }
  CUdeviceptr made = 0;
  if (d_.cuMemAlloc(&made, size) != CUDA_SUCCESS) return nullptr;
  void* const at = reinterpret_cast<void*>(made);
  sizes_[at] = size;
  return at;
}

void exports::give_back(void* at) {
  const std::lock_guard one_at_a_time(lock_);
  unused_[sizes_[at]].push_back(at);
}

}  // namespace ggas::mpi
