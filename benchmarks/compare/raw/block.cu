// SPDX-License-Identifier: Apache-2.0
// Puts with a flag by one block of each GPU and collectives by one block or a grid, by hand: what the hardware needs at
// least for them.
#include "benchmarks/compare/raw/block.cuh"

#include "benchmarks/compare/raw/rig.cuh"

namespace ggas::compare {

namespace {

uint64_t* words(char* p) { return reinterpret_cast<uint64_t*>(p); }

// Counts what is wrong on a GPU into its outcome; the process ends if there is anything.
template <class Launch>
void check(rig& r, int i, const char* what, Launch launch) {
  COMPARE_CUDA(cudaSetDevice(i));
  launch(r.at(i).found);
  COMPARE_CUDA(cudaGetLastError());
  COMPARE_CUDA(cudaStreamSynchronize(r.at(i).stream));
  if (r.at(i).found->failed == 0) return;
  std::fprintf(stderr, "%s: GPU %d found %llu wrong\n", what, i,
               static_cast<unsigned long long>(r.at(i).found->failed));
  std::exit(1);
}

template <class W, bool checked>
double put_with_signal(rig& r, uint64_t bytes, unsigned threads, uint64_t run) {
  const uint64_t rounds = checked ? 100 : bytes > 65536 ? 300 : 1000, base = r.next_base(rounds + 1);
  for (int i = 0; i < 2; ++i) {
    COMPARE_CUDA(cudaSetDevice(i));
    give_words<<<check_blocks, check_threads, 0, r.at(i).stream>>>(key_of(run, i), words(r.at(i).source), bytes / 8);
  }
  r.time(2, [&](int i) {
    const peers p = r.seen_by(i);
    const put_call c{words(r.at(i).source),
                     words(p.data[1 - i]),
                     words(p.data[i]),
                     bytes,
                     p.flags[i],
                     p.flags[1 - i],
                     i == 0,
                     rounds,
                     base,
                     key_of(run, i),
                     key_of(run, 1 - i)};
    raw_put_signal<W, checked><<<1, threads, 0, r.at(i).stream>>>(c, r.at(i).found);
  });
  const double ns = r.found(2, "put with signal") / (2 * static_cast<double>(rounds));
  for (int i = 0; i < 2 && !checked; ++i) {
    check(r, i, "put with signal", [&](outcome* found) {
      check_words<<<check_blocks, check_threads, 0, r.at(i).stream>>>(key_of(run, 1 - i), words(r.seen_by(i).data[i]),
                                                                      bytes / 8, found);
    });
  }
  return ns;
}

using block_kernel = void (*)(peers, block_call);
struct kernel_pair {
  block_kernel timed, checked;
};

double collective(rig& r, moved what, block_kernel kernel, bool checked, const shape& s, size_t elements,
                  uint64_t run) {
  const uint64_t rounds = elements > 4096 ? 50 : 200, base = r.next_base(rounds + 1);
  const auto seen = [&](int i) { return vectors{what, i, r.count(), elements / s.blocks, run}; };
  const auto out = [&](int i) { return reinterpret_cast<float*>(r.seen_by(i).data[i]); };
  const auto in = [&](int i) { return reinterpret_cast<float*>(r.at(i).source); };
  for (int i = 0; i < r.count() && !checked; ++i) {
    COMPARE_CUDA(cudaSetDevice(i));
    give_blocks<<<s.blocks, 512, 0, r.at(i).stream>>>(seen(i), in(i), out(i));
  }
  r.time(r.count(), [&](int i) {
    kernel<<<s.blocks, s.threads, 0, r.at(i).stream>>>(
        r.seen_by(i), {seen(i), in(i), elements / s.blocks, rounds, base, r.at(i).found, 0});
  });
  const double ns = r.found(r.count(), name_of(what)) / static_cast<double>(rounds);
  for (int i = 0; i < r.count() && !checked; ++i) {
    check(r, i, name_of(what), [&](outcome* found) {
      check_blocks_of<<<s.blocks, 512, 0, r.at(i).stream>>>(seen(i), in(i), out(i), found);
    });
  }
  return ns;
}

void collective_point(rig& r, moved what, const char* way, const kernel_pair& kernels, size_t elements,
                      const shape& s) {
  uint64_t run = 0;
  collective(r, what, kernels.checked, true, s, elements, 1000);
  print(r.from(), {name_of(what),
                   "raw",
                   "time",
                   "ns",
                   {{"elements", static_cast<int64_t>(elements)},
                    {"blocks", s.blocks},
                    {"threads", s.threads},
                    {"method", 0, s.blocks > 1 ? "grid" : "block"},
                    {"way", 0, way}},
                   repeat([&] { return collective(r, what, kernels.timed, false, s, elements, run++); })});
}

template <moved What>
constexpr kernel_pair direct() {
  return {raw_direct<What, false>, raw_direct<What, true>};
}
template <moved What>
constexpr kernel_pair lines() {
  return {raw_lines<What, false>, raw_lines<What, true>};
}

void collectives(rig& r, size_t elements, const shape& s) {
  collective_point(r, moved::alltoall, "direct", direct<moved::alltoall>(), elements, s);
  collective_point(r, moved::broadcast, "direct", direct<moved::broadcast>(), elements, s);
  collective_point(r, moved::allgather, "direct", direct<moved::allgather>(), elements, s);
  if (elements > 2 * most_lines) return;
  collective_point(r, moved::alltoall, "lines", lines<moved::alltoall>(), elements, s);
  collective_point(r, moved::broadcast, "lines", lines<moved::broadcast>(), elements, s);
  collective_point(r, moved::allgather, "lines", lines<moved::allgather>(), elements, s);
  collective_point(r, moved::allreduce, "lines", lines<moved::allreduce>(), elements, s);
}

}  // namespace

void measure_puts_with_signal(rig& r) {
  for (const uint64_t bytes : {8u, 4096u, 262144u}) {
    for (const unsigned threads : thread_counts) {
      const auto once = [&](uint64_t run) {
        return bytes == 8 ? put_with_signal<uint64_t, false>(r, bytes, threads, run)
                          : put_with_signal<uint4, false>(r, bytes, threads, run);
      };
      bytes == 8 ? put_with_signal<uint64_t, true>(r, bytes, threads, 1000)
                 : put_with_signal<uint4, true>(r, bytes, threads, 1000);
      uint64_t run = 0;
      print(r.from(), {"put_latency",
                       "raw",
                       "half_round_trip",
                       "ns",
                       {{"bytes", static_cast<int64_t>(bytes)}, {"blocks", 1}, {"threads", threads}},
                       repeat([&] { return once(run++); })});
    }
  }
}

void measure_collectives(rig& r) {
  for (const size_t elements : {size_t{1}, size_t{64}, size_t{1} << 10, size_t{1} << 14, size_t{1} << 16})
    for (const unsigned threads : thread_counts) collectives(r, elements, {1, threads});
  for (const size_t elements : {size_t{1} << 10, size_t{1} << 14, size_t{1} << 16, size_t{1} << 20})
    for (const shape& s : grids) collectives(r, elements, s);
}

}  // namespace ggas::compare
