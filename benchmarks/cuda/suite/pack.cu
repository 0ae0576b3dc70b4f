// SPDX-License-Identifier: Apache-2.0
// pack on real GPUs: packs of one GPU by the library, by hand and by the copy engine, in GPU memory and to the host.
#include "benchmarks/cuda/rigs/typed_rig.cuh"

namespace ggas::bench {

namespace {

class pack_bench {
 public:
  pack_bench(gpu_session& s, typed_memory& m) : s_(s), m_(m), report_{s.wait_ns(), nullptr} {}

  // What a copy moves in a second, both directions counted: the unit of the bound.
  fault measure_copy() {
    constexpr uint64_t bytes = typed_memory::most_bytes;
    std::vector<double> ns;
    GGAS_GPU_TRY(time_calls(
        s_, 0, bytes, "copy",
        [&] { return cudaMemcpyAsync(m_.at(0, m_.target), m_.at(0, m_.items), bytes, cudaMemcpyDefault, stream()); },
        ns));
    copy_bytes_per_s_ = 2.0 * bytes * 1e9 / median_of(ns);
    s_.note("copies in GPU memory move " + std::to_string(static_cast<uint64_t>(copy_bytes_per_s_ / 1e9)) +
            " GB/s, both directions counted: the bounds are sectors at that rate");
    return {};
  }

  fault point(const typed_pattern& p) {
    const std::string what = "pack " + p.name + ", " + std::to_string(p.bytes) + " bytes";
    const int64_t* const places = m_.places_of(p);
    ggas_type t, records;
    GGAS_GPU_TRY(m_.commit(p.type, t));
    GGAS_GPU_TRY(m_.commit(p.type, records, type_form::records));
    const limit bound{static_cast<double>(p.bytes) * copy_bytes_per_s_ / static_cast<double>(p.touched + p.bytes), true,
                      "GPU memory: 32-byte sectors touched, at the bandwidth of a copy"};
    char *const out = m_.at(0, m_.packed), *const wanted = m_.at(0, m_.wanted), *const items = m_.at(0, m_.items);
    std::vector<double> hand;
    GGAS_GPU_TRY(time_calls(
        s_, 0, p.bytes, what + " by hand",
        [&] { return queue_pack_by_hand(s_.machine(), 0, wanted, items, places, p); }, hand));
    emit_bandwidth(s_, p, "hand", hand, bound);
    const double compared = median_of(hand);
    const auto pack = [&](const char* method, const ggas_type& type, typed_path path, char* to, bool in_gpu) -> fault {
      s_.fill(0, m_.packed, p.bytes, 0);
      std::vector<double> ns;
      const stream_shape shape{0, 0, ggas_auto, path};
      GGAS_GPU_TRY(time_calls(
          s_, 0, p.bytes, what + " " + method,
          [&] { return pack_on_stream(s_.machine(), 0, to, items, p.count, type, report_, {}, shape); }, ns));
      GGAS_GPU_TRY(m_.expect_equal(0, to, wanted, p.bytes, what + " " + method));
      emit_bandwidth(s_, p, method, ns, in_gpu ? std::optional(bound) : std::nullopt);
      if (in_gpu) emit_ratio(s_, p, method, ns, compared);
      return {};
    };
    GGAS_GPU_TRY(pack("auto", t, typed_path::automatic, out, true));
    GGAS_GPU_TRY(pack("records", records, typed_path::records, out, true));
    if (p.kind == layout_kind::rows) GGAS_GPU_TRY(pack("engine", t, typed_path::engine, out, true));
    GGAS_GPU_TRY(pack("auto_to_host", t, typed_path::automatic, m_.host, false));
    if (p.kind == layout_kind::rows && p.bytes <= (2u << 20))
      GGAS_GPU_TRY(pack("engine_to_host", t, typed_path::engine, m_.host, false));
    GGAS_GPU_TRY(copy_to_host(p, what));
    GGAS_GPU_TRY(unpack(p, t, bound, what));
    if (p.bytes >= (16u << 20)) GGAS_GPU_TRY(cold(p, t, places, bound, what));
    m_.free(t);
    m_.free(records);
    return {};
  }

 private:
  cudaStream_t stream() { return s_.machine().cuda_stream(0); }

  // As many bytes in one piece.
  fault copy_to_host(const typed_pattern& p, const std::string& what) {
    std::vector<double> ns;
    GGAS_GPU_TRY(time_calls(
        s_, 0, p.bytes, what + " copy",
        [&] { return cudaMemcpyAsync(m_.host, m_.at(0, m_.wanted), p.bytes, cudaMemcpyDefault, stream()); }, ns));
    emit_bandwidth(s_, p, "copy_to_host", ns, {});
    return {};
  }

  // Packed again what was unpacked is what was packed.
  fault unpack(const typed_pattern& p, const ggas_type& t, const limit& bound, const std::string& what) {
    char *const out = m_.at(0, m_.packed), *const wanted = m_.at(0, m_.wanted), *const there = m_.at(0, m_.target);
    s_.fill(0, m_.target, p.extent, 0);
    s_.fill(0, m_.packed, p.bytes, 0);
    std::vector<double> ns;
    GGAS_GPU_TRY(time_calls(
        s_, 0, p.bytes, what + " unpack",
        [&] { return unpack_on_stream(s_.machine(), 0, there, p.count, t, wanted, report_); }, ns));
    s_.keep(pack_on_stream(s_.machine(), 0, out, there, p.count, t, report_), "pack");
    GGAS_GPU_TRY(m_.expect_equal(0, out, wanted, p.bytes, what + " unpack"));
    emit_bandwidth(s_, p, "unpack", ns, bound);
    return {};
  }

  // Each call of a graph packs other items to another place, so many that the L2 cache holds none of them when their
  // turn comes again. Fewer are left out.
  fault cold(const typed_pattern& p, const ggas_type& t, const int64_t* places, const limit& bound,
             const std::string& what) {
    constexpr uint64_t most = 16, larger_than_caches = 192u << 20, alignment = 256;
    const uint64_t step = (p.extent + alignment - 1) / alignment * alignment;
    const uint64_t copies = std::min(most, m_.room() / step), targets = typed_memory::most_bytes / p.bytes;
    if (copies * (p.touched + p.bytes) < larger_than_caches) return {};
    uint64_t call = 0;
    const auto items = [&] { return m_.at(0, m_.items) + call % copies * step; };
    const auto out = [&] { return m_.at(0, m_.packed) + call % copies % targets * p.bytes; };
    std::vector<double> hand, ns;
    GGAS_GPU_TRY(time_calls(
        s_, 0, p.bytes, what + " by hand, cold",
        [&] {
          auto ok = queue_pack_by_hand(s_.machine(), 0, out(), items(), places, p);
          ++call;
          return ok;
        },
        hand, most));
    emit_bandwidth(s_, p, "hand_cold", hand, bound);
    call = 0;
    s_.fill(0, m_.packed, typed_memory::most_bytes, 0);
    GGAS_GPU_TRY(time_calls(
        s_, 0, p.bytes, what + " cold",
        [&] {
          auto ok = pack_on_stream(s_.machine(), 0, out(), items(), p.count, t, report_);
          ++call;
          return ok;
        },
        ns, most));
    emit_bandwidth(s_, p, "auto_cold", ns, bound);
    emit_ratio(s_, p, "auto_cold", ns, median_of(hand));
    --call;  // the last one of the graph is what lies there
    s_.keep(queue_pack_by_hand(s_.machine(), 0, m_.at(0, m_.wanted), items(), places, p), "pack");
    return m_.expect_equal(0, out(), m_.at(0, m_.wanted), p.bytes, what + " cold");
  }

  gpu_session& s_;
  typed_memory& m_;
  stream_report report_;
  double copy_bytes_per_s_ = 0;
};

}  // namespace

fault run_pack(gpu_session& s) {
  typed_memory m(s);
  GGAS_GPU_TRY(m.make());
  pack_bench bench(s, m);
  GGAS_GPU_TRY(bench.measure_copy());
  const std::vector<uint64_t> sizes = s.opts().quick
                                          ? std::vector<uint64_t>{32u << 10, 512u << 10, 2u << 20, 16u << 20}
                                          : std::vector<uint64_t>{1u << 10,   8u << 10, 32u << 10, 128u << 10,
                                                                  512u << 10, 2u << 20, 16u << 20, 64u << 20};
  for (const uint64_t bytes : sizes)
    for (const typed_pattern& p : typed_patterns(bytes, m.room(), s.seed())) GGAS_GPU_TRY(bench.point(p));
  return {};
}

}  // namespace ggas::bench
