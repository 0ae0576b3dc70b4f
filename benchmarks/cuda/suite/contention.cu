// SPDX-License-Identifier: Apache-2.0
// A pack into memory of the host next to a kernel that fills the GPU: by kernel and copy engine, in both orders, by
// priority, and on multiprocessors that the kernel does not have.
#include <chrono>
#include <cstring>

#include "benchmarks/cuda/rigs/typed_rig.cuh"

namespace ggas::bench {

namespace {

constexpr unsigned busy_threads = 512, reserved_multiprocessors = 16;
constexpr unsigned group = 8;  // the driver gives multiprocessors by eights
constexpr uint64_t pack_bytes = 16u << 20, added_words = (32u << 20) / sizeof(double);

// The sum of two vectors, again and again. `begun` is a word of the host, which then queues the pack.
__global__ void __launch_bounds__(busy_threads) add_vectors(double* to, const double* a, const double* b,
                                                            uint64_t words, unsigned passes, volatile uint64_t* begun) {
  if (global_thread() == 0) *begun = 1;
  for (unsigned pass = 0; pass < passes; ++pass)
    for (uint64_t i = global_thread(); i < words; i += global_threads()) to[i] = a[i] + b[i] * pass;
}

// Times of a sample, ns: each from its place in its stream to its end, and from the first begin to the last end.
struct contention_times {
  double pack = 0, kernel = 0, total = 0;
};

class contention_bench {
 public:
  contention_bench(gpu_session& s, typed_memory& m) : s_(s), m_(m), report_{s.wait_ns(), nullptr} {}
  ~contention_bench() {
    for (cudaEvent_t e : {pack_.begin, pack_.end, kernel_.begin, kernel_.end})
      if (e) cudaEventDestroy(e);
    if (begun_) cudaFreeHost(begun_);
  }
  contention_bench(const contention_bench&) = delete;
  contention_bench& operator=(const contention_bench&) = delete;

  fault run() {
    // Rows of 128 bytes with gaps: dense data would not be packed.
    const pattern p = rows();
    GGAS_GPU_TRY(m_.commit(p.type, type_));
    auto& c = s_.machine();
    s_.keep(cudaSetDevice(c.device(0)), "device");
    for (cudaEvent_t* e : {&pack_.begin, &pack_.end, &kernel_.begin, &kernel_.end})
      s_.keep(cudaEventCreate(e), "event");
    s_.keep(cudaMallocHost(&begun_, sizeof *begun_), "pinned memory");
    s_.keep(queue_pack_by_hand(c, 0, m_.at(0, m_.wanted), m_.at(0, m_.items), nullptr, p), "pack");
    GGAS_GPU_TRY(s_.run("contention"));
    const auto usual = c.make_stream(0), other = c.make_stream(0), urgent = c.make_stream(0, 100);
    if (!usual || !other || !urgent) return {"contention: streams cannot be made"};
    GGAS_GPU_TRY(all_orders("idle", *usual, std::nullopt, false));
    GGAS_GPU_TRY(all_orders("after", *usual, *other, false));
    GGAS_GPU_TRY(all_orders("before", *usual, *other, true));
    GGAS_GPU_TRY(all_orders("urgent", *urgent, *other, false));
    const auto few = c.make_stream_on(0, reserved_multiprocessors);
    const int all = s_.limits().multiprocessors;
    const unsigned left = few ? static_cast<unsigned>(all) - c.multiprocessors(*few) : 0;
    // A part of the GPU has some over that make no group.
    auto rest = few;
    for (unsigned count = left / group * group; few && count > 0; count -= group)
      if (rest = c.make_stream_on(0, count); rest) break;
    if (!few || !rest) {
      s_.note("reserved: " + (few ? rest : few).error().text);
      return {};
    }
    return all_orders("reserved", *few, *rest, false);
  }

 private:
  using pattern = typed_pattern;
  struct span_of_stream {
    cudaEvent_t begin{}, end{};
  };

  static pattern rows() {
    const std::vector<pattern> all = typed_patterns(pack_bytes, uint64_t{1} << 30, 1);
    return *std::ranges::find_if(all, [](const pattern& p) { return p.name == "vector_128"; });
  }
  char* target() { return m_.host; }
  cudaStream_t of(const stream& s) { return s_.machine().cuda_stream(s); }

  result<> queue_pack(const stream& s, typed_path path) {
    s_.keep(cudaEventRecord(pack_.begin, of(s)), "event");
    auto ok =
        pack_on_stream(s_.machine(), s, target(), m_.at(0, m_.items), 1, type_, report_, {}, {0, 0, ggas_auto, path});
    s_.keep(cudaEventRecord(pack_.end, of(s)), "event");
    return ok;
  }
  // As many blocks as the stream's multiprocessors hold, about a millisecond.
  result<> queue_kernel(const stream& s) {
    constexpr unsigned passes = 20;
    auto& c = s_.machine();
    const auto blocks = ggas::blocks_at_once(c, s, busy_threads, add_vectors);
    if (!blocks) return blocks.error();
    auto* const words = reinterpret_cast<double*>(m_.at(0, m_.target));
    *begun_ = 0;
    s_.keep(cudaEventRecord(kernel_.begin, of(s)), "event");
    auto ok = ggas::launch(c, s, *blocks, busy_threads, add_vectors, words, words + added_words,
                           words + 2 * added_words, added_words, passes, begun_);
    s_.keep(cudaEventRecord(kernel_.end, of(s)), "event");
    return ok;
  }
  // The kernel runs; or it never begins, which run() reports.
  void await_kernel() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (*begun_ == 0 && std::chrono::steady_clock::now() < end) {
    }
  }
  double between(cudaEvent_t a, cudaEvent_t b) {
    float ms = 0;
    s_.keep(cudaEventElapsedTime(&ms, a, b), "event");
    return double{ms} * 1e6;
  }

  fault sample(const stream& packs, const std::optional<stream>& kernels, bool pack_first, typed_path path,
               contention_times& t) {
    if (pack_first) s_.keep(queue_pack(packs, path), "pack");
    if (kernels) s_.keep(queue_kernel(*kernels), "kernel");
    if (kernels && !pack_first) await_kernel();
    if (!pack_first) s_.keep(queue_pack(packs, path), "pack");
    GGAS_GPU_TRY(s_.run("contention"));
    t.pack = between(pack_.begin, pack_.end);
    t.total = t.pack;
    if (!kernels) return {};
    t.kernel = between(kernel_.begin, kernel_.end);
    const cudaEvent_t first = pack_first ? pack_.begin : kernel_.begin;
    t.total = std::max(between(first, pack_.end), between(first, kernel_.end));
    return {};
  }

  fault all_orders(const char* variant, const stream& packs, const std::optional<stream>& kernels, bool pack_first) {
    for (const auto& [method, path] : {std::pair{"kernel", typed_path::box}, std::pair{"engine", typed_path::engine}}) {
      std::vector<double> pack, kernel, total;
      for (int i = 0; i <= s_.runs(); ++i) {
        contention_times t;
        std::memset(target(), 0, pack_bytes);
        GGAS_GPU_TRY(sample(packs, kernels, pack_first, path, t));
        if (i == 0) {
          GGAS_GPU_TRY(
              m_.expect_equal(0, target(), m_.at(0, m_.wanted), pack_bytes, std::string("contention ") + method));
          continue;
        }
        pack.push_back(t.pack), kernel.push_back(t.kernel), total.push_back(t.total);
      }
      emit(variant, method, "pack", pack);
      if (kernels) emit(variant, method, "kernel", kernel);
      if (kernels) emit(variant, method, "total", total);
    }
    return {};
  }
  void emit(const char* variant, const char* method, const char* metric, const std::vector<double>& ns) {
    s_.emit({.variant = variant,
             .params = {{"bytes", pack_bytes}, {"method", method}},
             .metric = metric,
             .unit = "ns",
             .samples = ns});
  }

  gpu_session& s_;
  typed_memory& m_;
  stream_report report_;
  ggas_type type_{};
  span_of_stream pack_, kernel_;
  uint64_t* begun_ = nullptr;
};

}  // namespace

fault run_contention(gpu_session& s) {
  typed_memory m(s);
  GGAS_GPU_TRY(m.make());
  return contention_bench(s, m).run();
}

}  // namespace ggas::bench
