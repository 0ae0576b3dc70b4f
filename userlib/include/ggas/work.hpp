// SPDX-License-Identifier: Apache-2.0
// Requests of work (docs/work.md): an object hands a kernel with its data to any GPU and goes on; a callback comes when
// all is done. C++20, any compiler; kernels as host programs know them (ggas/kernel.hpp).
//
//   GGAS_KERNEL(scale, float* x, const float* y, uint64_t n);
//   auto work = ggas::dispatcher::create(*rt, {});
//   ggas::request r(node, 16, 256, scale, ggas::out(x), ggas::in(y), n);
//   r.after(other).then([](const ggas::result<>& end) { ... });
//   auto ok = (*work)->enqueue(r);
#pragma once

#include <ranges>

#include "ggas/detail/work/request_state.hpp"
#include "ggas/runtime.hpp"
#include "ggas/work_table.hpp"

namespace ggas {

// Memory of a GPU that requests share: a request finds the data that an earlier one left there. Copies are the same
// memory; it is freed with the last one, or by free().
class gpu_memory {
 public:
  gpu_memory() = default;
  explicit gpu_memory(std::shared_ptr<detail::gpu_block> b) : block_(std::move(b)) {}
  explicit operator bool() const { return block_ && !block_->freed; }
  int node() const { return block_ ? block_->node : -1; }
  size_t bytes() const { return block_ ? block_->bytes : 0; }
  void* address() const { return block_ ? block_->address : nullptr; }
  // No request in flight may use it. Later requests that use it are refused.
  void free() {
    if (block_) block_->free();
  }
  const std::shared_ptr<detail::gpu_block>& block() const { return block_; }

 private:
  std::shared_ptr<detail::gpu_block> block_;
};

// A buffer of a request, for a kernel's pointer parameter: the kernel gets its address on the GPU. The host's memory
// must exist until the request has ended; pinned memory (cluster::host_memory) is copied directly. Length 0 is allowed.
template <class T>
struct buffer {
  detail::request_buffer what;
  // Keeps the data in memory of the GPU, of at least as many bytes.
  buffer in_memory(const gpu_memory& m) && {
    what.kept = m.block() ? m.block() : std::make_shared<detail::gpu_block>();
    return std::move(*this);
  }
};
namespace detail {
template <class T>
inline constexpr bool is_buffer = false;
template <class T>
inline constexpr bool is_buffer<buffer<T>> = true;

template <class Range>
auto buffer_over(Range&& range, bool in, bool out) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  auto* const host = const_cast<std::remove_const_t<T>*>(std::ranges::data(range));
  return buffer<T>{{in, out, reinterpret_cast<std::byte*>(host), std::ranges::size(range) * sizeof(T), nullptr}};
}
}  // namespace detail
// Copied in before the kernel; copied out after it; both.
template <std::ranges::contiguous_range Range>
auto in(const Range& range) {
  return detail::buffer_over(range, true, false);
}
template <std::ranges::contiguous_range Range>
auto out(Range&& range) {
  return detail::buffer_over(range, false, true);
}
template <std::ranges::contiguous_range Range>
auto both(Range&& range) {
  return detail::buffer_over(range, true, true);
}
// Copied neither in nor out: it stays on the GPU.
template <class T>
buffer<T> kept(const gpu_memory& m) {
  return buffer<T>{{false, false, nullptr, m.bytes(), nullptr}}.in_memory(m);
}

// A handle: copies are the same request. A request that has ended may be enqueued again. Only one thread may change it,
// and only while it is not in flight.
class request {
 public:
  // Arguments are values or buffers. A grid or block that the GPU refuses is reported by the callback.
  template <class... P, class... A>
  request(int node, extent grid, block_shape block, const kernel<void(P...)>& k, A&&... arguments)
      : request(k.name, node) {
    static_assert(sizeof...(P) == sizeof...(A), "an argument for each parameter of the kernel");
    using bound_arguments = std::tuple<detail::bound_argument<P>...>;
    const auto bound = std::make_shared<const bound_arguments>(bind<P>(std::forward<A>(arguments))...);
    state_->launch = [grid, block, &k, bound](cluster& c, const stream& s, std::span<void* const> device) {
      return std::apply([&](const auto&... a) { return ggas::launch(c, s, grid, block, k, a.get(device)...); }, *bound);
    };
    state_->form = {&k, grid, block, [bound](std::span<void* const> device, std::vector<uint64_t>& words) {
                      std::apply([&](const auto&... a) { (detail::append_argument(words, a.get(device)), ...); },
                                 *bound);
                    }};
  }
  // A function `launch` that queues any work on that stream, or, with in_own_stream(), on the node's own. It gets the
  // addresses of the buffers that were added.
  using launcher = std::function<result<>(cluster&, const stream&, std::span<void* const> device)>;
  request(std::string name, int node, launcher launch) : request(std::move(name), node) {
    state_->launch = std::move(launch);
  }
  template <class T>
  request& add(const buffer<T>& b) {
    state_->buffers.push_back(b.what);
    return *this;
  }

  // The request begins after `other` has ended: a request, enqueued or not yet; an event of the cluster; or a word of
  // pinned memory, when it is at least `least`. If a request fails, those after it fail.
  request& after(const request& before) {
    state_->after.push_back(before.state_);
    return *this;
  }
  request& after(const event& e) {
    state_->events.push_back(e);
    return *this;
  }
  request& after(const uint64_t* word, uint64_t least) {
    state_->signals.push_back({word, least});
    return *this;
  }
  // Requests with a higher priority begin first; 0 is the default.
  request& priority(int p) {
    state_->priority = p;
    return *this;
  }
  // Uses the node's own stream, as kernels launched by <<<...>>> do.
  request& in_own_stream() {
    state_->in_own_stream = true;
    return *this;
  }
  // The callback, called as a message each time the request has ended, on the processor that enqueued it (if a thread
  // of the program did: on processor 0). The outputs have arrived by then. An error names the request and contains the
  // report of its node.
  request& then(detail::request_end callback) {
    state_->then = std::move(callback);
    return *this;
  }
  request& named(std::string name) {
    state_->name = std::move(name);
    return *this;
  }
  const std::shared_ptr<detail::request_state>& state() const { return state_; }

 private:
  request(std::string name, int node) : state_(std::make_shared<detail::request_state>()) {
    state_->name = std::move(name);
    state_->node = node;
  }
  template <class P, class T>
  detail::bound_argument<P> bind(const buffer<T>& b) {
    static_assert(std::is_pointer_v<P> && std::is_convertible_v<std::remove_const_t<T>*, P>,
                  "a buffer is passed to a parameter that points to its elements");
    state_->buffers.push_back(b.what);
    return {nullptr, static_cast<int>(state_->buffers.size()) - 1};
  }
  template <class P, class V>
  requires(!detail::is_buffer<std::decay_t<V>>) detail::bound_argument<P> bind(V&& value) {
    return {static_cast<P>(std::forward<V>(value)), -1};
  }

  std::shared_ptr<detail::request_state> state_;
};

enum class executor {
  fifo,      // a queue for each processor, whose head alone is under way; its processor looks at it
  streams,   // several under way on each node, by any processor's progress
  blocking,  // enqueue() returns when the request has ended, the processor waits
  by_hand,   // as streams, but only poll() goes on with it
  graph,     // as streams; a request and those after it on its node are one graph, which is recorded once
  workers    // by blocks that never leave the GPU; several under way on each node
};

// executor::workers: on each node `groups` x `blocks` blocks stay resident; a free group takes the next request.
struct workers_config {
  const work_table* table = nullptr;  // the functions that they know (GGAS_WORKERS)
  unsigned groups = 1;
  unsigned blocks = 1;               // of a group, which run a request together
  block_shape threads = {32};        // of a block, and shared bytes: a request asks for at most as many
  uint32_t longest_pause_ns = 1000;  // between two looks for requests of a group that has none; 0: it does not pause
  // Blocks of a group wait at most this time for each other. After that the request ends with an error, and the group
  // takes no other one until all of its blocks have come.
  uint64_t timeout_ns = 10'000'000'000;
};

struct dispatcher_config {
  executor how = executor::streams;
  int in_flight = 8;  // streams, by_hand, graph, workers: under way on a node, 1 ... 64
  // streams, by_hand: a request is queued on the stream of one that it waits for, before that one has ended, if the GPU
  // alone can keep the order; at most so many after each other. 0 ... 64.
  int ahead = 8;
  // streams: if every stream is busy, requests of the same kernel and priority that may begin share streams: at most so
  // many back to back, with one event at their end, so their callbacks come together. 1 ... 256.
  int most_in_run = 1;
  uint64_t by_hand = 0, pinned_by_hand = 0;  // bytes of segments and of host_memory that the program lays out itself
  uint64_t timeout_ns = 10'000'000'000;      // blocking: of a request; stop(): until what is under way is aborted
  workers_config workers = {};
  // streams: requests that are ready at the same time, of the same kernel, grid and block, are one launch, if this
  // table has their kernel. At most `most_merged` of them.
  const work_table* merged = nullptr;
  int most_merged = 256;
};

struct dispatcher_statistics {
  uint64_t enqueued = 0, ended = 0, failed = 0;
  uint64_t launches = 0, copies = 0;  // queued on streams
  uint64_t allocations = 0;           // out of the pools
  uint64_t pool_bytes = 0;            // of them in use now, on all nodes
  uint64_t merged = 0;                // requests that shared the launch of another one
  uint64_t graphs = 0;                // recorded
  uint64_t graph_bytes = 0;           // of pool_bytes, kept for graphs that may be launched again
};

// Executes requests on the cluster of a runtime. A runtime has one at a time. Its pools are the segments after
// `by_hand` bytes and the pinned memory after `pinned_by_hand` bytes. Calls may be made by any thread unless their
// comment says otherwise.
class dispatcher {
 public:
  // Called by a thread of the program, while nothing runs on the cluster.
  static result<std::unique_ptr<dispatcher>> create(runtime& rt, const dispatcher_config& cfg = {});
  // Calls stop(). Called by a thread of the program, before the runtime ends.
  ~dispatcher();

  // Memory that is kept on a local node's GPU; its contents are undefined. Not called by a function that launches.
  result<gpu_memory> allocate(int node, size_t bytes);
  // Pinned memory of a local node's host, given back with its last owner.
  result<std::shared_ptr<std::byte>> allocate_pinned(int node, size_t bytes);
  // Returns at once, except with executor::blocking. Errors of the request itself are returned here, without a
  // callback; all others are passed to the callback. `after`: more requests that it waits for, this time only.
  result<> enqueue(const request& r, std::span<const request> after = {});
  // Continues requests in flight; returns whether there are any. Processors do that automatically, except with by_hand.
  // On shm and sim kernels run in it: it must always be called by the same thread, and with the other executors on
  // processor 0.
  bool poll();
  // Pending requests fail. Requests in flight end, or are aborted after the time-out. Later ones are refused.
  void stop();
  dispatcher_statistics statistics() const;
  runtime& of() const;

  // executor::workers, for kernels that give orders to workers (ggas_enqueue_work): the workers, and the number of a
  // kernel's function. Without workers the results are workers of no node, and -1.
  ggas_workers workers() const;
  template <class Function>
  int function(const kernel<Function>& k) const {
    return number_of(&k);
  }

 private:
  struct parts;
  int number_of(const void* kernel) const;
  explicit dispatcher(std::unique_ptr<parts> p);
  std::unique_ptr<parts> parts_;
};

}  // namespace ggas
