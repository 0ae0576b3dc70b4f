// SPDX-License-Identifier: Apache-2.0
// Datatypes on streams of real GPUs: random ones against the plain list, also in graphs, to memory of the host, by the
// copy engine.
#include "ggas/typed_on_stream.cuh"
#include "typed_rig.hpp"

namespace ggas::gpu_test {
namespace {

// Packs, puts and gets on streams, by every path that the datatypes have, a graph now and then.
class typed_on_stream : public typed_rig {
 protected:
  static constexpr int counted = 128;  // bytes after places::base: the status word; the signal is at base

  stream_report report(int node) {
    return {timeout_ns, reinterpret_cast<uint64_t*>(segment(node) + at.base + counted)};
  }
  static int next(int n) { return (n + 1) % nodes(); }
  char* here(int node, area a, int64_t offset) { return segment(node) + place(a, offset); }
  global_ptr<char> far(int node, area a, int64_t offset) const { return {node, place(a, offset)}; }

  // Queues it on every node, at once or as a graph that runs twice.
  template <class F>
  void queued(bool graph, const std::string& what, F call) {
    for (int n = 0; n < nodes(); ++n) {
      ok(cudaSetDevice(machine().device(n)), "device");
      cudaStream_t const s = machine().cuda_stream(n);
      cudaGraph_t made{};
      cudaGraphExec_t run{};
      if (graph) ok(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "capture");
      const auto r = call(n);
      ASSERT_TRUE(r) << what << ": " << text_of(r);
      if (!graph) continue;
      ok(cudaStreamEndCapture(s, &made), "capture");
      ok(cudaGraphInstantiate(&run, made, 0), "graph");
      for (int i = 0; i < 2; ++i) ok(cudaGraphLaunch(run, s), "graph");
      ok(cudaGraphDestroy(made), "graph");
      graphs_.push_back(run);
    }
  }
  void finish(const std::string& what) {
    run(what);
    for (cudaGraphExec_t g : graphs_) ok(cudaGraphExecDestroy(g), "graph");
    graphs_.clear();
    for (int n = 0; n < nodes(); ++n)
      ASSERT_EQ(read<uint64_t>(n, at.base + counted, 1)[0], ggas_ok) << what << ": node " << n;
  }
  stream_shape any_shape(cases& make, bool records_too = true) {
    const auto k = make.make.below(3);
    return {static_cast<unsigned>(make.make.below(4)), static_cast<unsigned>(make.make.below(3)) * 64, ggas_auto,
            k == 0 && records_too ? typed_path::records : typed_path::automatic};
  }

 private:
  std::vector<cudaGraphExec_t> graphs_;
};

// Where the target is another GPU: staged, too.
stream_shape staged_now_and_then(cases& make, const stream_shape& shape, int nodes) {
  if (nodes < 2 || make.make.below(2)) return shape;
  return {shape.blocks, shape.threads, ggas_auto, typed_path::staged};
}

TEST_F(typed_on_stream, packs_and_unpacks_any_range) {
  cases make(seed + 2, most_primitives);
  for (unsigned i = 0, n = rounds_of(1500); i < n; ++i) {
    const laid_out l = make.any();
    const ggas_type t = commit(l);
    const std::vector<int64_t> where = l.places();
    const uint64_t all = where.size(), first = make.make.below(2) ? make.make.below(all + 1) : 0;
    const uint64_t bytes = make.make.below(2) ? all - first : make.make.below(all - first + 1);
    const int64_t skew = make.make.below(3) ? 64 : 61;
    const bool graph = make.make.below(8) == 0;
    const std::string what = "datatype " + std::to_string(i);
    fill();
    ASSERT_NO_FATAL_FAILURE(queued(graph, what, [&](int n) {
      return pack_on_stream(machine(), n, here(n, packed, skew), here(n, items, l.middle), l.count, t, report(n),
                            {first, bytes}, any_shape(make));
    }));
    ASSERT_NO_FATAL_FAILURE(queued(graph, what, [&](int n) {
      return unpack_on_stream(machine(), n, here(n, target, l.middle), l.count, t, here(n, packed, skew), report(n),
                              {first, bytes}, any_shape(make));
    }));
    ASSERT_NO_FATAL_FAILURE(finish(what));
    for (int node = 0; node < nodes(); ++node) {
      for (uint64_t b = 0; b < bytes; ++b) {
        const auto from = static_cast<size_t>(where[first + b]);
        was(node, packed)[static_cast<size_t>(skew) + b] = was(node, target)[from] = was(node, items)[from];
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    ASSERT_EQ(types_->free(t), "");
  }
}

TEST_F(typed_on_stream, puts_gets_and_signals_from_layout_to_layout) {
  cases make(seed + 3, most_primitives);
  uint64_t signals = 0;
  for (unsigned i = 0, n = rounds_of(1500); i < n; ++i) {
    const laid_out mine = make.any(), theirs = make.other(mine);
    const ggas_type th = commit(mine), tt = commit(theirs);
    const auto kind = make.make.below(3);
    const bool graph = make.make.below(8) == 0;
    const std::string what = "datatype " + std::to_string(i) + ", kind " + std::to_string(kind);
    const stream_shape any = any_shape(make), shape = kind == 1 ? any : staged_now_and_then(make, any, nodes());
    fill();
    ASSERT_NO_FATAL_FAILURE(queued(graph, what, [&](int n) {
      const char* const from = here(n, items, mine.middle);
      if (kind == 0)
        return put_typed_on_stream(machine(), n, far(next(n), target, theirs.middle), theirs.count, tt, from,
                                   mine.count, th, report(n), shape);
      if (kind == 1)
        return get_typed_on_stream(machine(), n, here(n, target, theirs.middle), theirs.count, tt,
                                   far(next(n), items, mine.middle), mine.count, th, report(n), shape);
      return put_signal_typed_on_stream(machine(), n, far(next(n), target, theirs.middle), theirs.count, tt, from,
                                        mine.count, th, {next(n), at.base}, 1, ggas_signal_add, report(n), shape);
    }));
    ASSERT_NO_FATAL_FAILURE(finish(what));
    signals += kind == 2 ? (graph ? 2 : 1) : 0;
    const std::vector<int64_t> sources = mine.places(), targets = theirs.places();
    for (int node = 0; node < nodes(); ++node) {
      const int source = (node + (kind == 1 ? 1 : nodes() - 1)) % nodes();
      for (size_t k = 0; k < sources.size(); ++k)
        was(node, target)[static_cast<size_t>(targets[k])] = was(source, items)[static_cast<size_t>(sources[k])];
      ASSERT_EQ(read<uint64_t>(node, at.base, 1)[0], signals) << what;
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    ASSERT_EQ(types_->free(th), "");
    ASSERT_EQ(types_->free(tt), "");
  }
}

// A graph whose datatype was freed, and committed again: it says so, and moves nothing. Thousand packs read one image.
TEST_F(typed_on_stream, a_graph_of_a_freed_list) {
  const int64_t places[] = {0, 24, 100, 148};
  const int64_t lengths[] = {8, 3, 5, 1};
  for (const datatype& d :
       {datatype::hindexed_block(2, places, primitive::int32), datatype::hindexed(lengths, places, primitive::int32)}) {
    std::string why;
    const ggas_type t = types_->commit(d, why);
    ASSERT_EQ(why, "");
    fill();
    ok(cudaSetDevice(machine().device(0)), "device");
    cudaStream_t const s = machine().cuda_stream(0);
    cudaGraph_t made{};
    cudaGraphExec_t graph{};
    ok(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < 1000; ++i)
      ASSERT_TRUE(pack_on_stream(machine(), 0, here(0, packed, 64), here(0, items, 4096), 2, t, report(0)));
    ok(cudaStreamEndCapture(s, &made), "capture");
    ok(cudaGraphInstantiate(&graph, made, 0), "graph");
    ok(cudaGraphLaunch(graph, s), "graph");
    ASSERT_NO_FATAL_FAILURE(finish("before"));
    const auto before = read<char>(0, place(packed, 64), 2 * t.size);
    ASSERT_EQ(types_->free(t), "");
    const ggas_type again = types_->commit(d, why);  // most likely at the same place
    std::vector<char> other(before.size(), 'x');
    write(0, place(packed, 64), other);
    ok(cudaGraphLaunch(graph, s), "graph");
    run("behind");
    EXPECT_EQ(read<uint64_t>(0, at.base + counted, 1)[0], ggas_bad_argument);
    EXPECT_EQ(read<char>(0, place(packed, 64), 2 * t.size), other);
    write(0, at.base + counted, std::vector<uint64_t>{ggas_ok});
    ok(cudaGraphExecDestroy(graph), "graph");
    ok(cudaGraphDestroy(made), "graph");
    ASSERT_EQ(types_->free(again), "");
  }
}

// Large rows by kernel and copy engine, into a buffer of cudaMalloc and into pinned memory; what is neither is refused.
TEST_F(typed_on_stream, other_memory_and_the_copy_engine) {
  constexpr uint64_t rows = 20000, width = 24, stride = 100;
  std::string why;
  const ggas_type t = types_->commit(datatype::vector(rows, width, stride, primitive::int64), why);
  ASSERT_EQ(why, "");
  std::vector<uint64_t> words(rows * stride);
  for (size_t i = 0; i < words.size(); ++i) words[i] = i * 0x9e3779b97f4a7c15;
  write(0, at.copy, words);
  ok(cudaSetDevice(machine().device(0)), "device");
  uint64_t *buffer = nullptr, *host = nullptr;
  ok(cudaMalloc(&buffer, rows * width * 8), "cudaMalloc");
  ok(cudaMallocHost(&host, rows * width * 8), "cudaMallocHost");
  const char* const items = segment(0) + at.copy;
  for (const typed_path path : {typed_path::automatic, typed_path::box, typed_path::engine, typed_path::records}) {
    const stream_shape shape{0, 0, ggas_auto, path};
    ok(cudaSetDevice(machine().device(0)), "device");
    ok(cudaMemset(buffer, 0, rows * width * 8), "memset");
    std::fill_n(host, rows * width, uint64_t{0});
    ok(pack_on_stream(machine(), 0, buffer, items, 1, t, report(0), {}, shape), "pack");
    ok(pack_on_stream(machine(), 0, host, items, 1, t, report(0), {}, shape), "pack to the host");
    ASSERT_NO_FATAL_FAILURE(finish("packs"));
    std::vector<uint64_t> got(rows * width);
    ok(cudaMemcpy(got.data(), buffer, got.size() * 8, cudaMemcpyDeviceToHost), "read");
    for (size_t i = 0; i < got.size(); ++i) {
      const uint64_t want = words[i / width * stride + i % width];
      ASSERT_TRUE(got[i] == want && host[i] == want) << "word " << i << ", path " << static_cast<int>(path);
    }
  }
  std::vector<uint64_t> pageable(rows * width);
  EXPECT_TRUE(refused(pack_on_stream(machine(), 0, pageable.data(), items, 1, t, report(0))));
  EXPECT_TRUE(refused(pack_on_stream(machine(), 0, buffer, items, 1, t, report(0), {1, rows * width * 8})));
  EXPECT_TRUE(
      refused(pack_on_stream(machine(), 0, buffer, items, 1, t, report(0), {}, {0, 0, ggas_auto, typed_path::runs})));
  ok(cudaFree(buffer), "free");
  ok(cudaFreeHost(host), "free");
}

// A staged put in several pieces, of rows and of structs, as a graph that runs twice; gaps stay as they are.
TEST_F(typed_on_stream, staged_puts_in_pieces) {
  if (nodes() < 2) GTEST_SKIP() << "needs two GPUs";
  constexpr uint64_t words = 2'000'000;
  const int64_t lengths[] = {1, 2, 1}, apart[] = {0, 16, 40};
  const datatype parts[] = {primitive::float64, primitive::int32, primitive::int8};
  const struct {
    datatype type;
    uint64_t count;
    std::vector<std::pair<uint64_t, uint64_t>> runs;  // of an item: place, bytes
    uint64_t extent;
  } all[] = {
      {datatype::resized(datatype::vector(2, 1, 3, primitive::float64), 0, 64), 200'000, {{0, 8}, {24, 8}}, 64},
      {datatype::resized(datatype::structure(lengths, apart, parts), 0, 48), 300'000, {{0, 8}, {16, 8}, {40, 1}}, 48}};
  for (const auto& [type, count, runs, extent] : all) {
    std::string why;
    const ggas_type t = types_->commit(type, why);
    ASSERT_EQ(why, "");
    std::vector<char> items(words * 8), there(words * 8, 'x');
    for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<char>(i * 2654435761u >> 13);
    write(0, at.copy, items);
    write(1, at.copy, there);
    const stream_shape staged{0, 0, ggas_auto, typed_path::staged};
    ASSERT_NO_FATAL_FAILURE(queued(true, "staged", [&](int n) {
      if (n != 0) return result<>();
      return put_typed_on_stream(machine(), 0, {1, at.copy}, count, t, segment(0) + at.copy, count, t, report(0),
                                 staged);
    }));
    ASSERT_NO_FATAL_FAILURE(finish("staged"));
    for (uint64_t i = 0; i < count; ++i)
      for (const auto& [place, bytes] : runs)
        std::copy_n(items.data() + i * extent + place, bytes, there.data() + i * extent + place);
    ASSERT_EQ(read<char>(1, at.copy, there.size()), there);
    ASSERT_EQ(types_->free(t), "");
  }
}

}  // namespace
}  // namespace ggas::gpu_test
