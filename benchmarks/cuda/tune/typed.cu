// SPDX-License-Identifier: Apache-2.0
// Measures packs on a stream by blocks and threads, and by kernel and copy engine for rows of growing width; and puts
// from layout to layout, directly and by way of packed data.
#include <cstdio>

#include "benchmarks/cuda/rigs/typed_rig.cuh"
#include "benchmarks/cuda/tune/tune.hpp"

namespace ggas::bench {

namespace {

// Rows of `width` bytes, four times that apart.
struct rows {
  uint64_t width, bytes;
  datatype type() const {
    const auto w = static_cast<int64_t>(width / 8);
    return datatype::vector(static_cast<int64_t>(bytes / width), w, 4 * w, primitive::float64);
  }
};

fault time_pack(gpu_session& s, typed_memory& m, const rows& r, char* to, const stream_shape& shape, double& ns) {
  ggas_type t;
  GGAS_GPU_TRY(m.commit(r.type(), t));
  std::vector<double> samples;
  const stream_report report{s.wait_ns(), nullptr};
  GGAS_GPU_TRY(time_calls(
      s, 0, r.bytes, "pack of " + std::to_string(r.bytes) + " bytes",
      [&] { return pack_on_stream(s.machine(), 0, to, m.at(0, m.items), 1, t, report, {}, shape); }, samples));
  m.free(t);
  ns = median_of(samples);
  return {};
}

fault tune_shapes(gpu_session& s, typed_memory& m, tuning::launches& out) {
  for (int i = 0; i < tuning::rows; ++i) {
    const uint64_t bytes = std::min<uint64_t>(uint64_t{4096} << (2 * i), 64u << 20);
    double least = 0;
    for (const unsigned blocks : {8u, 32u, 64u, 132u, 264u, 528u, 1024u}) {
      for (const unsigned threads : {128u, 256u, 512u}) {
        double ns = 0;
        GGAS_GPU_TRY(
            time_pack(s, m, {32, bytes}, m.at(0, m.packed), {blocks, threads, ggas_auto, typed_path::box}, ns));
        if (least > 0 && ns >= least) continue;
        least = ns;
        out.row[i] = {i + 1 == tuning::rows ? tuning::any : bytes, 0, blocks, threads};
      }
    }
    std::printf("  pack      %9llu bytes: %3u x %3u: %8.0f ns\n", static_cast<unsigned long long>(bytes),
                out.row[i].blocks, out.row[i].threads, least);
  }
  return {};
}

// The narrowest rows from which on the copy engine is no slower than the kernel.
fault tune_engine(gpu_session& s, typed_memory& m, char* to, const char* where, uint64_t& out) {
  constexpr uint64_t bytes = 4u << 20, widest = 64u << 10, narrowest = 256;
  out = tuning::any;
  for (uint64_t width = widest; width >= narrowest; width /= 2) {
    double kernel = 0, engine = 0;
    GGAS_GPU_TRY(time_pack(s, m, {width, bytes}, to, {0, 0, ggas_auto, typed_path::box}, kernel));
    GGAS_GPU_TRY(time_pack(s, m, {width, bytes}, to, {0, 0, ggas_auto, typed_path::engine}, engine));
    std::printf("  pack to %s, rows of %6llu bytes: kernel %8.0f, copy engine %8.0f ns\n", where,
                static_cast<unsigned long long>(width), kernel, engine);
    if (engine > kernel) break;
    out = width;
  }
  return {};
}

struct many {
  datatype type;
  uint64_t count, bytes;
};
many many_rows(uint64_t width, uint64_t bytes) { return {rows{width, bytes}.type(), 1, bytes}; }
// 17 bytes in 48.
many many_structs(uint64_t bytes) {
  const datatype fields[] = {primitive::float64, primitive::int32, primitive::int8};
  const int64_t lengths[] = {1, 2, 1}, places[] = {0, 16, 40};
  const datatype one = datatype::resized(datatype::structure(lengths, places, fields), 0, 48);
  const uint64_t count = bytes / one.size();
  return {one, count, count * one.size()};
}

// A put of items to such items of the next GPU.
fault time_put(gpu_session& s, typed_memory& m, const many& items, typed_path path, double& ns) {
  ggas_type t;
  GGAS_GPU_TRY(m.commit(items.type, t));
  std::vector<double> samples;
  const stream_report report{s.wait_ns(), nullptr};
  GGAS_GPU_TRY(time_calls(
      s, 0, items.bytes, "put of " + std::to_string(items.bytes) + " bytes",
      [&] {
        return put_typed_on_stream(s.machine(), 0, {1, m.target}, items.count, t, m.at(0, m.items), items.count, t,
                                   report, {0, 0, ggas_auto, path});
      },
      samples));
  m.free(t);
  ns = median_of(samples);
  return {};
}

// The least data from which on staged puts of items(bytes) are faster.
template <class Items>
fault tune_staged_items(gpu_session& s, typed_memory& m, const std::string& name, Items items, uint64_t& out) {
  constexpr uint64_t most = 64u << 20, least = 64u << 10;
  out = tuning::any;
  for (uint64_t bytes = most; bytes >= least; bytes /= 2) {
    double direct = 0, staged = 0;
    GGAS_GPU_TRY(time_put(s, m, items(bytes), typed_path::direct, direct));
    GGAS_GPU_TRY(time_put(s, m, items(bytes), typed_path::staged, staged));
    std::printf("  put, %s, %9llu bytes: direct %8.0f, staged %8.0f ns\n", name.c_str(),
                static_cast<unsigned long long>(bytes), direct, staged);
    if (staged > direct) break;
    out = bytes;
  }
  return {};
}

fault tune_staged(gpu_session& s, typed_memory& m, tuning::staged_puts& out) {
  for (int i = 0; i < tuning::staged_widths; ++i) {
    const uint64_t width = tuning::narrowest_staged << i;
    GGAS_GPU_TRY(tune_staged_items(
        s, m, "rows of " + std::to_string(width) + " bytes", [=](uint64_t bytes) { return many_rows(width, bytes); },
        out.least[i]));
  }
  return tune_staged_items(s, m, "structs", many_structs, out.structs);
}

}  // namespace

fault tune_typed(gpu_session& s, tuning& t) {
  typed_memory m(s);
  GGAS_GPU_TRY(m.make());
  GGAS_GPU_TRY(tune_shapes(s, m, t.typed));
  GGAS_GPU_TRY(tune_engine(s, m, m.host, "the host", t.engine.host));
  GGAS_GPU_TRY(tune_engine(s, m, m.at(0, m.packed), "the GPU", t.engine.gpu));
  return tune_staged(s, m, t.staged);
}

}  // namespace ggas::bench
