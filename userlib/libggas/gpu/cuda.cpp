// SPDX-License-Identifier: Apache-2.0
// The module `cuda`: memory of this computer's GPUs by the driver's virtual memory management, shared between the
// processes as file descriptors, as in the provider cuda.
#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "userlib/cluster/providers/cuda/memory.hpp"
#include "userlib/libggas/gpu/device.hpp"
#include "userlib/libggas/gpu/words.hpp"

namespace ggas::library::gpu {

namespace {

using userlib::attempt;

std::string text_of(const attempt<>& a) { return a ? "" : a.error(); }

class cuda_device final : public device {
 public:
  explicit cuda_device(int gpu) : gpu_(gpu) {}

  ~cuda_device() override {
    static_cast<void>(here());
    for (int i = 0; i < 2; ++i) {
      if (streams_[i]) cudaStreamDestroy(streams_[i]);
      if (stages_[i]) cudaFreeHost(stages_[i]);
    }
    if (result_) cudaFreeHost(result_);
  }

  text begin() {
    attempt<> ok = here();
    for (auto& stream : streams_)
      // Next to kernels, also those of the default stream: one may wait for what this stream brings.
      if (ok) ok = GGAS_RUNTIME("a stream", cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
    if (ok) ok = GGAS_RUNTIME("pinned memory", cudaHostAlloc, reinterpret_cast<void**>(&result_), sizeof *result_, 0);
    return text_of(ok);
  }

  text map(const job& j, uint64_t bytes) override {
    auto b = userlib::bootstrap::join(j);
    if (!b) return b.error();
    return text_of((*b)->agree("memory of GPUs", map_all(**b, bytes)));
  }
  text map_own(unsigned rank, unsigned size, uint64_t bytes, userlib::file& memory) override {
    return text_of(export_own(rank, size, bytes, memory));
  }

  int number() const override { return gpu_; }
  std::byte* window() const override { return window_ ? reinterpret_cast<std::byte*>(window_->base()) : nullptr; }
  uint64_t stride() const override { return stride_; }

  bool is_gpu_memory(const void* at) const override {
    cudaPointerAttributes a{};
    if (!GGAS_RUNTIME("memory", cudaPointerGetAttributes, &a, at)) return false;
    return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged;
  }

  text copy(void* to, const void* from, uint64_t bytes) override {
    const std::lock_guard held(lock_);
    attempt<> ok = here();
    if (ok) ok = queue_copy(to, from, bytes, 0);
    if (ok) ok = wait(0);
    return text_of(ok);
  }

  // Two chunks in turn, each on a stream of its own: while one leaves the other one comes.
  text copy_staged(void* to, const void* from, uint64_t bytes, uint64_t chunk) override {
    const std::lock_guard held(lock_);
    attempt<> ok = here();
    if (ok) ok = make_stages(std::min(bytes, chunk));
    int turn = 0;
    for (uint64_t at = 0; ok && at < bytes; at += chunk, turn = 1 - turn) {
      const uint64_t n = std::min(bytes - at, chunk);
      // After what the stage held before, by the order of its stream.
      ok = queue_copy(stages_[turn], static_cast<const std::byte*>(from) + at, n, turn);
      if (ok) ok = queue_copy(static_cast<std::byte*>(to) + at, stages_[turn], n, turn);
    }
    for (int i = 0; i < 2; ++i)
      if (const attempt<> done = wait(i); ok) ok = done;
    return text_of(ok);
  }

  text zero(void* at, uint64_t bytes) override {
    const std::lock_guard held(lock_);
    attempt<> ok = here();
    if (ok) ok = GGAS_RUNTIME("zeros", cudaMemsetAsync, at, 0, bytes, streams_[0]);
    if (ok) ok = wait(0);
    return text_of(ok);
  }

  text fetch_add(void* word, uint64_t add, uint64_t& old) override {
    return atomic(old, "fetch-add",
                  [&] { return queue_fetch_add(static_cast<uint64_t*>(word), add, result_, streams_[0]); });
  }
  text compare_swap(void* word, uint64_t expected, uint64_t desired, uint64_t& old) override {
    return atomic(old, "compare-swap", [&] {
      return queue_compare_swap(static_cast<uint64_t*>(word), expected, desired, result_, streams_[0]);
    });
  }

  text reach(void* host, uint64_t bytes, void*& there) override {
    const std::lock_guard held(lock_);
    attempt<> ok = here();
    if (ok) ok = GGAS_RUNTIME("memory of the host", cudaHostRegister, host, bytes, cudaHostRegisterMapped);
    if (ok) ok = GGAS_RUNTIME("memory of the host", cudaHostGetDevicePointer, &there, host, 0);
    return text_of(ok);
  }
  void forget(void* host) override {
    const std::lock_guard held(lock_);
    if (here()) static_cast<void>(GGAS_RUNTIME("memory of the host", cudaHostUnregister, host));
  }

 private:
  // CUDA has a current GPU for each thread.
  attempt<> here() const { return GGAS_RUNTIME("GPU " + std::to_string(gpu_), cudaSetDevice, gpu_); }
  attempt<> queue_copy(void* to, const void* from, uint64_t bytes, int turn) {
    return GGAS_RUNTIME("a copy", cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, streams_[turn]);
  }
  attempt<> wait(int turn) { return GGAS_RUNTIME("a stream", cudaStreamSynchronize, streams_[turn]); }

  attempt<> make_stages(uint64_t bytes) {
    if (stage_bytes_ >= bytes) return {};
    stage_bytes_ = 0;
    for (auto& s : stages_) {
      if (s) cudaFreeHost(s);
      s = nullptr;
      if (auto ok = GGAS_RUNTIME("pinned memory", cudaHostAlloc, &s, bytes, 0); !ok) return ok;
    }
    stage_bytes_ = bytes;
    return {};
  }

  template <class Queue>
  text atomic(uint64_t& old, const char* what, Queue&& queue) {
    const std::lock_guard held(lock_);
    attempt<> ok = here();
    if (ok) ok = userlib::worked(what, "kernel launch", queue());
    if (ok) ok = wait(0);
    if (ok) old = *result_;
    return text_of(ok);
  }

  attempt<> map_all(userlib::bootstrap& b, uint64_t bytes) {
    // Whatever goes wrong here, all take part in what follows.
    auto made = make(bytes, userlib::reached_by::gpus);
    const userlib::passing how = made ? how_ : userlib::passing::none;
    if (auto ok = b.agree("memory of this GPU", made ? attempt<>() : std::unexpected(made.error())); !ok) return ok;
    if (auto ok = b.same("bytes of GPUs", std::to_string(piece_) + " " + std::to_string(int(how))); !ok) return ok;
    const auto ticket = b.size() > 1 ? made->pass_on(how) : attempt<userlib::gpu_memory::ticket>({});
    auto tickets = b.gather("handles of memory", ticket ? ticket->bytes : "", ticket ? ticket->handle.fd() : -1);
    if (!tickets) return std::unexpected(tickets.error());
    if (!ticket) return std::unexpected(ticket.error());
    return map_tickets(b, std::move(*made), *tickets);
  }

  attempt<userlib::gpu_memory> make(uint64_t bytes, userlib::reached_by by) {
    if (auto ok = here(); !ok) return std::unexpected(ok.error());
    const auto how = userlib::passing_of(gpu_);
    if (!how) return std::unexpected(how.error());
    how_ = *how;
    const auto unit = userlib::granularity_of(gpu_, how_);
    if (!unit) return std::unexpected(unit.error());
    unit_ = *unit;
    piece_ = (bytes + unit_ - 1) / unit_ * unit_;
    stride_ = std::bit_ceil(std::max<uint64_t>(piece_, unit_));
    return userlib::gpu_memory::make(gpu_, piece_, how_, by);
  }

  attempt<> map_tickets(const userlib::bootstrap& b, userlib::gpu_memory mine,
                        std::vector<userlib::bootstrap::part>& tickets) {
    if (auto ok = reserve(tickets.size()); !ok) return ok;
    std::optional<userlib::gpu_memory> own(std::move(mine));
    for (size_t r = 0; r < tickets.size(); ++r) {
      auto memory = static_cast<int>(r) == b.rank()
                        ? attempt<userlib::gpu_memory>(std::move(*own))
                        : userlib::gpu_memory::take_over({std::move(tickets[r].handle), tickets[r].bytes}, how_);
      if (!memory) return std::unexpected("rank " + std::to_string(r) + ": " + memory.error());
      if (auto ok = place(r, std::move(*memory)); !ok) return ok;
    }
    return clear(static_cast<size_t>(b.rank()));
  }

  attempt<> export_own(unsigned rank, unsigned size, uint64_t bytes, userlib::file& memory) {
    auto made = make(bytes, userlib::reached_by::nics);
    if (!made) return std::unexpected(made.error());
    attempt<> ok = reserve(size);
    if (ok) ok = place(rank, std::move(*made));
    if (ok) ok = clear(rank);
    int fd = -1;
    if (ok)
      ok = GGAS_DRIVER("memory of the GPU as a dma-buf", cuMemGetHandleForAddressRange, &fd, address(rank), piece_,
                       CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    memory = userlib::file(fd);
    return ok;
  }

  CUdeviceptr address(size_t rank) const { return window_->base() + stride_ * rank; }
  attempt<> reserve(size_t ranks) {
    auto range = userlib::address_range::reserve(stride_ * ranks, unit_);
    if (!range) return std::unexpected(range.error());
    window_.emplace(std::move(*range));
    return {};
  }
  attempt<> place(size_t rank, userlib::gpu_memory memory) {
    const int reached[] = {gpu_};
    auto m = userlib::mapping::map(std::move(memory), address(rank), piece_, reached);
    if (!m) return std::unexpected("rank " + std::to_string(rank) + ": " + m.error());
    mapped_.push_back(std::move(*m));
    return {};
  }
  attempt<> clear(size_t rank) {
    return GGAS_RUNTIME("zeros", cudaMemset, reinterpret_cast<void*>(address(rank)), 0, piece_);
  }

  const int gpu_;
  std::mutex lock_;  // of the streams, the stages, the result
  cudaStream_t streams_[2] = {};
  void* stages_[2] = {};
  uint64_t stage_bytes_ = 0;
  uint64_t* result_ = nullptr;
  userlib::passing how_ = userlib::passing::none;
  uint64_t unit_ = 0, piece_ = 0, stride_ = 0;
  std::optional<userlib::address_range> window_;
  std::vector<userlib::mapping> mapped_;  // before the range of addresses goes
};

}  // namespace

}  // namespace ggas::library::gpu

extern "C" ggas::library::gpu::device* ggas_gpu_device_3(int number, int rank, std::string& why) {
  using namespace ggas;
  int gpus = 0;
  if (auto ok = userlib::driver::load(); !ok) {
    why = ok.error();
    return nullptr;
  }
  cudaGetDeviceCount(&gpus);
  if (number >= gpus) {
    why = "number " + std::to_string(number) + ": this process sees " + std::to_string(gpus) + " GPUs";
    return nullptr;
  }
  auto made = std::make_unique<library::gpu::cuda_device>(number < 0 ? rank % gpus : number);
  why = made->begin();
  return why.empty() ? made.release() : nullptr;
}
