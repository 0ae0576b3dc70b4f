// SPDX-License-Identifier: Apache-2.0
// UPC programs of the processor: a UPC thread is a program on a node (cluster::launch_host), on shm and sim. They share
// data with kernels, in the segments (docs/upc.md#programs-of-the-processor). C++20.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ggas/cluster.hpp"
#include "ggas/detail/ranks/handle.hpp"
#include "ggas/heap.hpp"
#include "ggas/upc.hpp"

namespace ggas::upc {

// What a call of a thread throws: a time-out, an address that no segment has, an error of the NIC, a bad argument.
struct failure : std::runtime_error {
  using runtime_error::runtime_error;
};

struct program_config {
  uint64_t timeout_ns = 10'000'000'000;  // of each wait
  unsigned channel = 0;  // with a NIC: the context of the processor; the next free one where another program has it
};

// What a thread has done so far: operations on memory of other threads, and barriers.
struct thread_counts {
  uint64_t gets, puts, barriers;
};

class thread;

// The resources that the threads of a program share as long as it exists: words in the heap for their barrier and, with
// a NIC, a context on every node with `pinned_bytes` of its host_memory, from channel() * pinned_bytes on.
class program {
 public:
  static constexpr size_t pinned_bytes = 64 << 10;

  // Null: `why`. Both outlive it. Not for jobs of several processes.
  static std::unique_ptr<program> create(cluster& c, heap& memory, std::string& why, const program_config& cfg = {});
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  // Queues `body` on every node, with a barrier after it as in UPC; cluster::run runs it. If `body` throws, the
  // exception is the error of the run.
  result<> launch(std::function<void(thread&)> body, const std::string& name = "upc");

  unsigned channel() const { return channel_; }
  // A thread's counts at the end of its last launch.
  const thread_counts& counts(int node) const { return state_[static_cast<size_t>(node)].counts; }

 private:
  friend thread;
  struct kept {  // of a thread, from launch to launch
    uint64_t barriers = 0;
    thread_counts counts{};
  };
  program(cluster& c, heap& memory, const program_config& cfg) : cluster_(c), heap_(memory), cfg_(cfg) {}
  std::string take_channel();

  cluster& cluster_;
  heap& heap_;
  program_config cfg_;
  unsigned channel_ = 0;
  uint64_t words_ = 0;  // in every segment: one for each round of the barrier
  std::shared_ptr<void> kept_words_;
  std::vector<std::shared_ptr<void>> kept_pinned_;  // by node
  std::vector<kept> state_;
};

template <class T, uint64_t B>
class host_ref;

// The program of a UPC thread. A wait that takes too long, and an address that no thread has, is a `failure`.
class thread {
 public:
  thread(host& h, program& p);

  uint64_t threads() const { return threads_; }    // THREADS
  uint64_t mythread() const { return mythread_; }  // MYTHREAD
  host& processor() { return host_; }

  // t[p] is *p: t[a + i] = t[b + j].
  template <class T, uint64_t B>
  host_ref<T, B> operator[](const shared_ptr<T, B>& p) {
    return {*this, p};
  }
  // p + n and p - q.
  template <class T, uint64_t B>
  shared_ptr<T, B> plus(const shared_ptr<T, B>& p, int64_t n) const {
    return p.advance(n, threads_);
  }
  template <class T, uint64_t B>
  int64_t minus(const shared_ptr<T, B>& p, const shared_ptr<T, B>& q) const {
    return p.distance(q, threads_);
  }

  // upc_forall (i = begin; i < end; ++i; affinity) body(i). The affinity is that of the number i, of an element of an
  // array, or of the result of affinity(i).
  template <class F>
  void forall(uint64_t begin, uint64_t end, F body) {
    for (uint64_t i = begin; i < end; ++i)
      if (i % threads_ == mythread_) body(i);
  }
  template <class T, uint64_t B, class F>
  void forall(uint64_t begin, uint64_t end, const shared_array<T, B>& a, F body) {
    for (uint64_t i = begin; i < end; ++i)
      if (a.thread_of(i) == mythread_) body(i);
  }
  template <class A, class F>
  requires std::is_invocable_v<A, uint64_t>
  void forall(uint64_t begin, uint64_t end, A affinity, F body) {
    for (uint64_t i = begin; i < end; ++i)
      if (is_mine(affinity(i))) body(i);
  }

  // Complete on return: what was put is there for threads that have met the caller in a barrier.
  void memget(void* to, const shared_const_void& from, size_t n);  // upc_memget
  void memput(const shared_void& to, const void* from, size_t n);  // upc_memput
  void memcpy(const shared_void& to, const shared_const_void& from, size_t n);
  void memset(const shared_void& to, int value, size_t n);

  void notify();    // upc_notify
  void wait();      // upc_wait
  void barrier() {  // upc_barrier
    notify();
    wait();
  }
  // upc_fence: returns when all accesses of the caller are complete, to memory of others as well as to its own. A
  // notify contains a fence.
  void fence();

  // The collectives of the language. Each part has n bytes. The default mode is `all` for both halves. `mine` has the
  // effect of `all`, and `none` has no barrier.
  void all_broadcast(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode = all);
  void all_scatter(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode = all);
  void all_gather(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode = all);
  void all_gather_all(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode = all);
  void all_exchange(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode = all);
  void all_permute(const shared_void& dst, const shared_const_void& src, const shared_ptr<int>& perm, size_t n,
                   ggas_sync_mode mode = all);

  // upc_all_reduceT, upc_all_prefix_reduceT: of src, shared [block] T[n], to one element, or to dst of the same layout.
  // Elements are combined in the order of their index. `func` is for UPC_FUNC and UPC_NONCOMM_FUNC.
  template <class T>
  using function = T (*)(T, T);
  template <class T>
  void all_reduce(const shared_void& dst, const shared_const_void& src, upc_op_t op, size_t n, size_t block,
                  function<std::type_identity_t<T>> func = nullptr, ggas_sync_mode mode = all);
  template <class T>
  void all_prefix_reduce(const shared_void& dst, const shared_const_void& src, upc_op_t op, size_t n, size_t block,
                         function<std::type_identity_t<T>> func = nullptr, ggas_sync_mode mode = all);

 private:
  static constexpr ggas_sync_mode all = ggas_in_all | ggas_out_all;
  // Pieces of blocks that are copied at once.
  static constexpr size_t chunk = program::pinned_bytes / 2;

  bool is_mine(uint64_t i) const { return i % threads_ == mythread_; }
  template <class T, uint64_t B>
  bool is_mine(const shared_ptr<T, B>& p) const {
    return p.thread() == mythread_;
  }
  void check(const char* call, const shared_const_void& p, uint64_t bytes) const;
  std::byte* own(uint64_t offset) const;
  void get_piece(void* to, const shared_const_void& from, size_t n);
  void put_piece(const shared_void& to, const void* from, size_t n);
  void post(const ggas_rma_desc& d);
  ggas_rma_peer peer(uint64_t thread) const;
  uint64_t nla(const shared_const_void& p) const;
  void enter(ggas_sync_mode mode);
  void leave(ggas_sync_mode mode);
  void check_collective(const char* call, bool good, size_t n, ggas_sync_mode mode) const;
  void check_reduction(const char* call, bool good, const shared_const_void& dst, const shared_const_void& src,
                       size_t n) const;
  shared_void part(const shared_const_void& p, uint64_t thread, uint64_t offset) const {
    return {thread, 0, p.offset() + offset};
  }

  host& host_;
  program& program_;
  program::kept& state_;
  uint64_t threads_, mythread_;
  ggas_rma_context* queue_ = nullptr;       // with a NIC
  bool notified_ = false, stored_ = false;  // stored_: to the own segment since the last fence
};

// *p of a host program.
template <class T, uint64_t B>
class host_ref {
 public:
  host_ref(thread& t, const shared_ptr<T, B>& p) : thread_(t), p_(p) {}
  host_ref(const host_ref&) = default;
  operator T() const {
    T v;
    thread_.memget(&v, p_, sizeof v);
    return v;
  }
  T operator=(const T& v) const {
    thread_.memput(p_, &v, sizeof v);
    return v;
  }
  T operator=(const host_ref& other) const { return *this = static_cast<T>(other); }
  T operator+=(const T& v) const { return *this = static_cast<T>(static_cast<T>(*this) + v); }

 private:
  thread& thread_;
  shared_ptr<T, B> p_;
};

// The thread that has dst reads the elements, block by block.
template <class T>
void thread::all_reduce(const shared_void& dst, const shared_const_void& src, upc_op_t op, size_t n, size_t block,
                        function<std::type_identity_t<T>> func, ggas_sync_mode mode) {
  const bool callable = func != nullptr || op < UPC_FUNC;
  check_collective("all_reduce", detail::takes<T>(op) && callable, n, mode);
  check_reduction("all_reduce", true, dst, src, n);
  enter(mode);
  if (dst.thread() == mythread_) {
    T sum{};
    const size_t side = block == 0 ? n : block;
    std::vector<T> piece(std::min(side, n));
    for (size_t at = 0; at < n; at += side) {
      const size_t here = std::min(side, n - at);
      memget(piece.data(), element_place(src, block, at, sizeof(T), threads_), here * sizeof(T));
      for (size_t i = 0; i < here; ++i) sum = at + i == 0 ? piece[i] : detail::apply(op, sum, piece[i], func);
    }
    memput(dst, &sum, sizeof sum);
  }
  leave(mode);
}

// Each thread combines each of its blocks into the block's last element of dst. The thread that has the first element
// adds the preceding sums to these. Then each thread completes its blocks.
template <class T>
void thread::all_prefix_reduce(const shared_void& dst, const shared_const_void& src, upc_op_t op, size_t n,
                               size_t block, function<std::type_identity_t<T>> func, ggas_sync_mode mode) {
  const bool callable = func != nullptr || op < UPC_FUNC;
  check_collective("all_prefix_reduce", detail::takes<T>(op) && callable, n, mode);
  check_reduction("all_prefix_reduce", dst.thread() == src.thread() && dst.phase() == 0, dst, src, n);
  const size_t side = block == 0 ? n : block, blocks = (n + side - 1) / side;
  const auto length = [&](size_t k) { return std::min(side, n - k * side); };
  const auto last = [&](size_t k) { return element_place(dst, block, k * side + length(k) - 1, sizeof(T), threads_); };
  const auto each_own = [&](auto f) {
    std::vector<T> piece(std::min(side, n));
    for (size_t k = 0; k < blocks; ++k) {
      const shared_void from = element_place(src, block, k * side, sizeof(T), threads_);
      if (from.thread() != mythread_) continue;
      memget(piece.data(), from, length(k) * sizeof(T));
      f(k, piece);
    }
  };
  enter(mode);
  each_own([&](size_t k, const std::vector<T>& x) {
    T sum = x[0];
    for (size_t i = 1; i < length(k); ++i) sum = detail::apply(op, sum, x[i], func);
    memput(last(k), &sum, sizeof sum);
  });
  barrier();
  if (src.thread() == mythread_) {
    T sum = (*this)[last(0).template cast<T, 0>()];
    for (size_t k = 1; k < blocks; ++k) {
      sum = detail::apply(op, sum, static_cast<T>((*this)[last(k).template cast<T, 0>()]), func);
      memput(last(k), &sum, sizeof sum);
    }
  }
  barrier();
  each_own([&](size_t k, std::vector<T>& x) {
    if (length(k) == 1) return;
    if (k != 0) x[0] = detail::apply(op, static_cast<T>((*this)[last(k - 1).template cast<T, 0>()]), x[0], func);
    for (size_t i = 1; i + 1 < length(k); ++i) x[i] = detail::apply(op, x[i - 1], x[i], func);
    memput(element_place(dst, block, k * side, sizeof(T), threads_), x.data(), (length(k) - 1) * sizeof(T));
  });
  leave(mode);
}

}  // namespace ggas::upc

// UPC's names, for its types: upc_all_reduceI(t, dst, src, UPC_ADD, n, block).
#define GGAS_UPC_REDUCTIONS(suffix, type)                                                                            \
  inline void upc_all_reduce##suffix(                                                                                \
      ggas::upc::thread& t, const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src, upc_op_t op, \
      size_t n, size_t block, ggas::upc::thread::function<type> func = nullptr, ggas_sync_mode mode = ggas_in_all) { \
    t.all_reduce<type>(dst, src, op, n, block, func, mode);                                                          \
  }                                                                                                                  \
  inline void upc_all_prefix_reduce##suffix(                                                                         \
      ggas::upc::thread& t, const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src, upc_op_t op, \
      size_t n, size_t block, ggas::upc::thread::function<type> func = nullptr, ggas_sync_mode mode = ggas_in_all) { \
    t.all_prefix_reduce<type>(dst, src, op, n, block, func, mode);                                                   \
  }
GGAS_UPC_REDUCTIONS(C, signed char)
GGAS_UPC_REDUCTIONS(UC, unsigned char)
GGAS_UPC_REDUCTIONS(S, short)
GGAS_UPC_REDUCTIONS(US, unsigned short)
GGAS_UPC_REDUCTIONS(I, int)
GGAS_UPC_REDUCTIONS(UI, unsigned)
GGAS_UPC_REDUCTIONS(L, long)
GGAS_UPC_REDUCTIONS(UL, unsigned long)
GGAS_UPC_REDUCTIONS(F, float)
GGAS_UPC_REDUCTIONS(D, double)
GGAS_UPC_REDUCTIONS(LD, long double)
#undef GGAS_UPC_REDUCTIONS
