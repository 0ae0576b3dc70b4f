// SPDX-License-Identifier: Apache-2.0
// typed_put on real GPUs: from layout to layout on the next GPU, next to pack, put and unpack, dense puts, stores by
// hand, and with a signal.
#include "benchmarks/cuda/rigs/typed_rig.cuh"

namespace ggas::bench {

namespace {

constexpr unsigned put_grid = 132, put_threads_each = 512;

__global__ void GGAS_LAUNCH_BOUNDS(512)
    dense_put(global_ptr<char> to, const char* from, uint64_t bytes, uint64_t timeout_ns) {
  ggas_after_stream();
  static_cast<void>(ggas_put_nbi_grid(to.get(), from, bytes, timeout_ns));
}

class put_bench {
 public:
  put_bench(gpu_session& s, typed_memory& m) : s_(s), m_(m), report_{s.wait_ns(), nullptr} {}

  fault point(const typed_pattern& p) {
    const std::string what = "typed_put " + p.name + ", " + std::to_string(p.bytes) + " bytes";
    ggas_type t, dense;
    GGAS_GPU_TRY(m_.commit(p.type, t));
    // The same primitives without gaps.
    GGAS_GPU_TRY(m_.commit(p.kind == layout_kind::rows
                               ? datatype::contiguous(static_cast<int64_t>(p.bytes / 8), primitive::float64)
                               : p.type,
                           dense));
    auto& c = s_.machine();
    const char* const items = m_.at(0, m_.items);
    std::vector<double> ns;
    if (p.kind == layout_kind::rows) {
      GGAS_GPU_TRY(timed(p, "hand", [&] { return queue_rows_by_hand(c, 0, m_.at(1, m_.target), p.stride, items, p); }));
    }
    std::vector<double> chosen;
    constexpr std::pair<const char*, typed_path> methods[] = {
        {"auto", typed_path::automatic}, {"direct", typed_path::direct}, {"staged", typed_path::staged}};
    for (const auto& [method, path] : methods) {
      const stream_shape shape{0, 0, ggas_auto, path};
      s_.fill(1, m_.target, p.extent, 0);
      ns = {};
      GGAS_GPU_TRY(timed(
          p, method,
          [&] {
            return put_typed_on_stream(c, 0, {1, m_.target}, p.count, t, items, p.count, t, report_, shape);
          },
          &ns));
      GGAS_GPU_TRY(came(p, t, what + " " + method));
      if (path == typed_path::automatic) chosen = ns;
    }
    if (p.kind == layout_kind::rows) {
      GGAS_GPU_TRY(timed(p, "to_dense", [&] {
        return put_typed_on_stream(c, 0, {1, m_.packed}, 1, dense, items, p.count, t, report_);
      }));
      GGAS_GPU_TRY(timed(p, "dense_put", [&] {
        return launch_dependent(c, 0, put_grid, put_threads_each, dense_put, global_ptr<char>(1, m_.packed),
                                static_cast<const char*>(m_.at(0, m_.wanted)), p.bytes, s_.wait_ns());
      }));
    }
    GGAS_GPU_TRY(three_steps(p, t, what, chosen));
    if (p.bytes <= (64u << 10)) GGAS_GPU_TRY(signals(p, t));
    m_.free(t);
    m_.free(dense);
    return {};
  }

 private:
  template <class F>
  fault timed(const typed_pattern& p, const char* method, F queue, std::vector<double>* times = nullptr) {
    std::vector<double> ns;
    GGAS_GPU_TRY(time_calls(s_, 0, p.bytes, "typed_put " + p.name + " " + method, queue, ns));
    emit_bandwidth(s_, p, method, ns, s_.limits().link_ceiling());
    if (times) *times = ns;
    return {};
  }

  // The next GPU packs what has come; the own one what it has sent; it looks at both.
  fault came(const typed_pattern& p, const ggas_type& t, const std::string& what) {
    auto& c = s_.machine();
    s_.keep(pack_on_stream(c, 0, m_.at(0, m_.wanted), m_.at(0, m_.items), p.count, t, report_), "pack");
    s_.keep(pack_on_stream(c, 1, m_.at(1, m_.packed), m_.at(1, m_.target), p.count, t, report_), "pack");
    GGAS_GPU_TRY(s_.run(what));
    s_.keep(get_on_stream(c, 0, m_.at(0, m_.packed), global_ptr<char>(1, m_.packed), p.bytes, report_), "get");
    return m_.expect_equal(0, m_.at(0, m_.packed), m_.at(0, m_.wanted), p.bytes, what);
  }

  // Pack, put, and unpack there, in sequence: what a library does that only packs. `chosen`: times of the typed put.
  fault three_steps(const typed_pattern& p, const ggas_type& t, const std::string& what,
                    const std::vector<double>& chosen) {
    auto& c = s_.machine();
    std::vector<double> send, receive;
    GGAS_GPU_TRY(time_calls(
        s_, 0, p.bytes, what + " pack and put",
        [&] {
          auto ok = pack_on_stream(c, 0, m_.at(0, m_.packed), m_.at(0, m_.items), p.count, t, report_);
          return ok ? put_on_stream(c, 0, global_ptr<char>(1, m_.packed), static_cast<const char*>(m_.at(0, m_.packed)),
                                    p.bytes, report_)
                    : ok;
        },
        send));
    GGAS_GPU_TRY(time_calls(
        s_, 1, p.bytes, what + " unpack",
        [&] { return unpack_on_stream(c, 1, m_.at(1, m_.target), p.count, t, m_.at(1, m_.packed), report_); },
        receive));
    for (size_t i = 0; i < send.size(); ++i) send[i] += receive[i];
    emit_bandwidth(s_, p, "pack_put_unpack", send, s_.limits().link_ceiling());
    emit_ratio(s_, p, "auto", chosen, median_of(send), "time_over_steps");
    return {};
  }

  fault signals(const typed_pattern& p, const ggas_type& t) {
    auto& c = s_.machine();
    const global_ptr<uint64_t> word(1, m_.counter + 64);
    GGAS_GPU_TRY(timed(p, "auto_signal", [&] {
      return put_signal_typed_on_stream(c, 0, {1, m_.target}, p.count, t, m_.at(0, m_.items), p.count, t, word, 1,
                                        ggas_signal_add, report_);
    }));
    return timed(p, "dense_signal", [&] {
      return put_signal_on_stream(c, 0, global_ptr<char>(1, m_.packed), static_cast<const char*>(m_.at(0, m_.wanted)),
                                  p.bytes, word, 1, ggas_signal_add, report_);
    });
  }

  gpu_session& s_;
  typed_memory& m_;
  stream_report report_;
};

}  // namespace

fault run_typed_put(gpu_session& s) {
  typed_memory m(s);
  GGAS_GPU_TRY(m.make());
  put_bench bench(s, m);
  const std::vector<uint64_t> sizes = s.opts().quick
                                          ? std::vector<uint64_t>{4u << 10, 512u << 10, 16u << 20}
                                          : std::vector<uint64_t>{1u << 10,   4u << 10, 32u << 10, 256u << 10,
                                                                  512u << 10, 2u << 20, 16u << 20, 64u << 20};
  for (const uint64_t bytes : sizes)
    for (const typed_pattern& p : typed_patterns(bytes, m.room(), s.seed())) GGAS_GPU_TRY(bench.point(p));
  return {};
}

}  // namespace ggas::bench
