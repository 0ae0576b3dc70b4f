// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs: packed and unpacked by kernels, which store straight into pinned memory of the host and load from it.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "ggas/detail/type/places.hpp"
#include "userlib/mpi/gpu/imports.hpp"
#include "userlib/mpi/gpu/kernels.cuh"
#include "userlib/mpi/gpu/pinned.hpp"

// The kernels of kernels.cu, as nvcc made them.
extern "C" const unsigned char ggas_mpi_kernels[];
asm(".section .rodata\n.balign 16\n.global ggas_mpi_kernels\n.hidden ggas_mpi_kernels\n"
    "ggas_mpi_kernels: .incbin \"" GGAS_MPI_KERNELS "\"\n.previous\n");

namespace ggas::mpi {

namespace {

using detail::side_items;

constexpr unsigned threads = 512;

// One side of a move: items, or packed data (no layout).
struct side {
  char* at;
  uint64_t count;
  const layout* of;
  CUdeviceptr image;

  bool dense() const { return !of || of->dense(count); }
  char* first() const { return of ? at + of->handle().base : at; }
};

class gpu final : public memory {
 public:
  gpu(const driver& d, CUcontext context) : d_(d), context_(context), exports_(d), imports_(d) {}

  // Once; the error or nothing.
  std::string begin();

  staging stage(uint64_t bytes) override {
    const current now(*this);
    return pinned_memory(d_, bytes);
  }
  std::string pack(const items& from, uint64_t bytes, void* to) override;
  std::string unpack(const items& to, uint64_t bytes, const void* from) override;
  bool apart() const override { return true; }

  bool share(const void* at, shared_block& b) override {
    const current now(*this);
    return exports_.describe(at, b);
  }
  void* borrow(uint64_t bytes) override {
    const current now(*this);
    return exports_.borrow(bytes);
  }
  void give_back(void* at) override { exports_.give_back(at); }
  bool reaches(int process, const shared_block& b) override {
    const current now(*this);
    const std::lock_guard one_at_a_time(importing_);
    CUdeviceptr at = 0;
    return imports_.open(process, b, at).empty();
  }
  std::string fetch(const items& to, uint64_t bytes, const foreign_items& from) override;

 private:
  // The context of the memory is the thread's for a while.
  struct current {
    explicit current(const gpu& g) : of(g) { of.d_.cuCtxPushCurrent(of.context_); }
    ~current() { of.d_.cuCtxPopCurrent(nullptr); }
    const gpu& of;
  };
  struct image {
    CUdeviceptr at;
    std::weak_ptr<const layout> of;
  };

  std::string side_of(const items& i, side& s);
  std::string upload(const layout& l, CUdeviceptr& at);
  std::string move(const side& to, const side& from, uint64_t bytes);
  std::string launch(CUfunction f, void* parameter, uint64_t pieces);
  bool reaches(const void* at) const;

  const driver& d_;
  CUcontext context_;
  CUstream stream_ = nullptr;
  CUfunction places_[5] = {}, walk_ = nullptr;
  unsigned blocks_ = 1;
  std::mutex lock_;
  std::map<uint64_t, image> images_;  // by the layout's number
  exports exports_;
  std::mutex importing_;
  imports imports_;
};

#define GGAS_MPI_CUDA(call, ...) \
  if (std::string wrong = worked(d_, #call, d_.call(__VA_ARGS__)); !wrong.empty()) return wrong

std::string gpu::begin() {
  const current now(*this);
  CUmodule module = nullptr;
  GGAS_MPI_CUDA(cuModuleLoadData, &module, ggas_mpi_kernels);
  for (int i = 0; i < 5; ++i) {
    const std::string name = "ggas_mpi_places_" + std::to_string(1 << i);
    GGAS_MPI_CUDA(cuModuleGetFunction, &places_[i], module, name.c_str());
  }
  GGAS_MPI_CUDA(cuModuleGetFunction, &walk_, module, "ggas_mpi_walk");
  // The program's streams are its own, and so is its default stream.
  GGAS_MPI_CUDA(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
  CUdevice device = 0;
  int processors = 0;
  if (d_.cuCtxGetDevice(&device) == CUDA_SUCCESS)
    d_.cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  blocks_ = static_cast<unsigned>(std::max(1, 2 * processors));
  return {};
}

std::string gpu::pack(const items& from, uint64_t bytes, void* to) {
  const current now(*this);
  if (!reaches(to)) {
    const staging middle = pinned_memory(d_, bytes);
    if (!middle) return "no pinned memory of " + std::to_string(bytes) + " bytes";
    const std::string wrong = pack(from, bytes, middle.get());
    if (wrong.empty()) std::memcpy(to, middle.get(), bytes);
    return wrong;
  }
  side items_here{};
  if (std::string wrong = side_of(from, items_here); !wrong.empty()) return wrong;
  return move({static_cast<char*>(to), 1, nullptr, 0}, items_here, bytes);
}

std::string gpu::unpack(const items& to, uint64_t bytes, const void* from) {
  const current now(*this);
  if (!reaches(from)) {
    const staging middle = pinned_memory(d_, bytes);
    if (!middle) return "no pinned memory of " + std::to_string(bytes) + " bytes";
    std::memcpy(middle.get(), from, bytes);
    return unpack(to, bytes, middle.get());
  }
  side items_here{};
  if (std::string wrong = side_of(to, items_here); !wrong.empty()) return wrong;
  return move(items_here, {static_cast<char*>(const_cast<void*>(from)), 1, nullptr, 0}, bytes);
}

std::string gpu::fetch(const items& to, uint64_t bytes, const foreign_items& from) {
  const current now(*this);
  const std::lock_guard one_at_a_time(importing_);  // nothing that is read from is closed
  CUdeviceptr there = 0;
  if (std::string wrong = imports_.open(from.process, from.in, there); !wrong.empty()) return wrong;
  auto* const at = reinterpret_cast<char*>(there + (from.at - from.in.first));
  side source{at, 1, nullptr, 0}, target{};
  std::string wrong = side_of(to, target);
  if (wrong.empty() && from.of) wrong = side_of({from.of, at, from.count}, source);
  return wrong.empty() ? move(target, source, bytes) : wrong;
}

// Memory of CUDA's: of GPUs, managed, or of the host and pinned.
bool gpu::reaches(const void* at) const {
  unsigned kind = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* values[] = {&kind};
  return d_.cuPointerGetAttributes(1, which, values, reinterpret_cast<CUdeviceptr>(at)) == CUDA_SUCCESS && kind != 0;
}

std::string gpu::side_of(const items& i, side& s) {
  s = {i.at, i.count, i.of, 0};
  return i.of->handle().records == 0 ? "" : upload(*i.of, s.image);
}

// The image of a layout, once. Those of layouts that are gone make room.
std::string gpu::upload(const layout& l, CUdeviceptr& at) {
  const std::lock_guard one_at_a_time(lock_);
  if (const auto known = images_.find(l.number()); known != images_.end()) {
    at = known->second.at;
    return {};
  }
  std::erase_if(images_, [&](const auto& i) { return i.second.of.expired() && (d_.cuMemFree(i.second.at), true); });
  std::vector<uint64_t> words(detail::image_header_bytes / 8, 0);
  words.insert(words.end(), l.words().begin(), l.words().end());
  GGAS_MPI_CUDA(cuMemAlloc, &at, words.size() * 8);
  GGAS_MPI_CUDA(cuMemcpyAsync, at, reinterpret_cast<CUdeviceptr>(words.data()), words.size() * 8, stream_);
  GGAS_MPI_CUDA(cuStreamSynchronize, stream_);
  images_[l.number()] = {at, l.weak_from_this()};
  return {};
}

side_items places_side(const side& s, ggas_type& handle) {
  if (!s.of) return {s.at, 1, nullptr};
  handle = s.of->handle();
  handle.image = 0;  // `image` is where kernels find the segment
  return {s.at, s.count, &handle};
}

walk_side walked(const side& s) {
  if (!s.of) return {s.at, 1, true, nullptr, {}};
  const auto* const words = reinterpret_cast<const uint64_t*>(s.image + detail::image_header_bytes);
  return {s.at, s.count, false, words, s.of->handle()};
}

std::string gpu::move(const side& to, const side& from, uint64_t bytes) {
  if (to.dense() && from.dense()) {
    GGAS_MPI_CUDA(cuMemcpyAsync, reinterpret_cast<CUdeviceptr>(to.first()), reinterpret_cast<CUdeviceptr>(from.first()),
                  bytes, stream_);
    GGAS_MPI_CUDA(cuStreamSynchronize, stream_);
    return {};
  }
  ggas_type handles[2];
  const side_items target = places_side(to, handles[0]), source = places_side(from, handles[1]);
  const unsigned unit = detail::widest_unit_of(target, source, 0, bytes);
  const auto bytes_of = [](const side& s) { return s.of ? s.of->size() * s.count : 0; };
  const uint64_t most = std::max(bytes_of(to), bytes_of(from));
  if (detail::has_places(target) && detail::has_places(source) && most / unit <= detail::most_units) {
    const auto segment = [](const side& s) { return reinterpret_cast<const char*>(s.image); };
    detail::place_move m{};
    m.to = detail::places_of(target, unit, segment(to));
    m.from = detail::places_of(source, unit, segment(from));
    m.units = static_cast<uint32_t>(bytes / unit);
    return launch(places_[std::countr_zero(unit)], &m, bytes / unit);
  }
  walk_move m{walked(to), walked(from), bytes};
  return launch(walk_, &m, bytes / unit);
}

std::string gpu::launch(CUfunction f, void* parameter, uint64_t pieces) {
  void* parameters[] = {parameter};
  constexpr uint64_t of_block = threads * 4;
  const auto blocks = static_cast<unsigned>(std::min<uint64_t>(blocks_, (pieces + of_block - 1) / of_block));
  GGAS_MPI_CUDA(cuLaunchKernel, f, blocks, 1, 1, threads, 1, 1, 0, stream_, parameters, nullptr);
  GGAS_MPI_CUDA(cuStreamSynchronize, stream_);
  return {};
}

// One for each context that memory of messages was made in. Never destroyed: the driver may be gone before.
struct all_gpus {
  std::mutex lock;
  std::map<CUcontext, gpu*> known;

  static all_gpus& here() {
    static all_gpus* const one = new all_gpus;
    return *one;
  }

  memory* of(const driver& d, CUcontext context) {
    thread_local std::pair<CUcontext, gpu*> last{};
    if (!last.first || last.first != context) last = {context, found(d, context)};
    return last.second;
  }

 private:
  gpu* found(const driver& d, CUcontext context) {
    const std::lock_guard one_at_a_time(lock);
    if (const auto k = known.find(context); k != known.end()) return k->second;
    auto made = std::make_unique<gpu>(d, context);
    const std::string wrong = made->begin();
    if (!wrong.empty()) std::fprintf(stderr, "libggas_mpi_types: a GPU is left to the MPI: %s\n", wrong.c_str());
    return known[context] = wrong.empty() ? made.release() : nullptr;
  }
};

// A copy from the host has ended for the program before it is in the GPU's memory: our stream or another process may
// not see it yet. Once for each allocation this function waits for copies that have begun, and makes later copies
// synchronous.
void see_copies(const driver& d, CUcontext context, const void* at) {
  unsigned on = 1;
  d.cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, reinterpret_cast<CUdeviceptr>(at));
  if (d.cuCtxPushCurrent(context) != CUDA_SUCCESS) return;
  for (const CUstream s : {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) d.cuStreamSynchronize(s);
  d.cuCtxPopCurrent(nullptr);
}

}  // namespace

bool has_gpu_driver() { return driver::get() != nullptr; }

memory* gpu_memory(const void* at) {
  const driver* const d = driver::get();
  if (!d) return nullptr;
  unsigned kind = 0, managed = 0;
  int device = 0;
  CUcontext context = nullptr;
  uint64_t copies_seen = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_SYNC_MEMOPS};
  void* values[] = {&kind, &managed, &context, &device, &copies_seen};
  if (d->cuPointerGetAttributes(5, which, values, reinterpret_cast<CUdeviceptr>(at)) != CUDA_SUCCESS) return nullptr;
  // The processor reaches managed memory, and so does the MPI below.
  if (kind != CU_MEMORYTYPE_DEVICE || managed) return nullptr;
  // Memory that was mapped belongs to no context: the device's own, which the runtime uses, reaches it.
  if (!context && d->cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS) return nullptr;
  if (!copies_seen) see_copies(*d, context, at);
  return all_gpus::here().of(*d, context);
}

}  // namespace ggas::mpi
