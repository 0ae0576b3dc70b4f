// SPDX-License-Identifier: Apache-2.0
// Puts with a flag and collectives by one block of each GPU, by hand: what the hardware needs at least for them.
#include "benchmarks/compare/raw_block.cuh"

#include "benchmarks/compare/raw_rig.cuh"

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

template <class W>
double put_with_signal(rig& r, uint64_t bytes, unsigned threads, uint64_t run) {
  const uint64_t rounds = bytes > 65536 ? 300 : 1000, base = r.next_base(rounds + 1);
  for (int i = 0; i < 2; ++i) {
    COMPARE_CUDA(cudaSetDevice(i));
    give_words<<<check_blocks, check_threads, 0, r.at(i).stream>>>(key_of(run, i), words(r.at(i).source), bytes / 8);
  }
  r.time(2, [&](int i) {
    const peers p = r.seen_by(i);
    raw_put_signal<W><<<1, threads, 0, r.at(i).stream>>>(
        reinterpret_cast<const W*>(r.at(i).source), reinterpret_cast<W*>(p.data[1 - i]), bytes / sizeof(W), p.flags[i],
        p.flags[1 - i], i == 0, rounds, base, r.at(i).found);
  });
  const double ns = r.found(2, "put with signal") / (2 * static_cast<double>(rounds));
  for (int i = 0; i < 2; ++i) {
    check(r, i, "put with signal", [&](outcome* found) {
      check_words<<<check_blocks, check_threads, 0, r.at(i).stream>>>(key_of(run, 1 - i), words(r.seen_by(i).data[i]),
                                                                      bytes / 8, found);
    });
  }
  return ns;
}

using block_kernel = void (*)(peers, block_call);

double collective(rig& r, moved what, block_kernel kernel, unsigned threads, size_t elements, uint64_t run) {
  const uint64_t rounds = elements > 4096 ? 50 : 200, base = r.next_base(rounds + 1);
  const auto seen = [&](int i) { return vectors{what, i, r.count(), elements, run}; };
  const auto out = [&](int i) { return reinterpret_cast<float*>(r.seen_by(i).data[i]); };
  const auto in = [&](int i) { return reinterpret_cast<float*>(r.at(i).source); };
  for (int i = 0; i < r.count(); ++i) {
    COMPARE_CUDA(cudaSetDevice(i));
    give_vectors<<<check_blocks, check_threads, 0, r.at(i).stream>>>(seen(i), in(i), out(i));
  }
  r.time(r.count(), [&](int i) {
    kernel<<<1, threads, 0, r.at(i).stream>>>(r.seen_by(i), {in(i), elements, rounds, base, r.at(i).found});
  });
  const double ns = r.found(r.count(), name_of(what)) / static_cast<double>(rounds);
  for (int i = 0; i < r.count(); ++i) {
    check(r, i, name_of(what), [&](outcome* found) {
      check_vectors<<<check_blocks, check_threads, 0, r.at(i).stream>>>(seen(i), out(i), found);
    });
  }
  return ns;
}

void collective_point(rig& r, moved what, const char* way, block_kernel kernel, size_t elements) {
  for (const unsigned threads : {256u, 512u, 1024u}) {
    uint64_t run = 0;
    print(
        r.from(),
        {name_of(what),
         "raw",
         "time",
         "ns",
         {{"elements", static_cast<int64_t>(elements)}, {"threads", threads}, {"method", 0, "block"}, {"way", 0, way}},
         repeat([&] { return collective(r, what, kernel, threads, elements, run++); })});
  }
}

}  // namespace

void measure_puts_with_signal(rig& r) {
  for (const uint64_t bytes : {8u, 4096u, 262144u}) {
    for (const unsigned threads : {32u, 256u, 512u, 1024u}) {
      uint64_t run = 0;
      print(r.from(), {"put_latency",
                       "raw",
                       "half_round_trip",
                       "ns",
                       {{"bytes", static_cast<int64_t>(bytes)}, {"threads", threads}},
                       repeat([&] {
                         return bytes == 8 ? put_with_signal<uint64_t>(r, bytes, threads, run++)
                                           : put_with_signal<uint4>(r, bytes, threads, run++);
                       })});
    }
  }
}

void measure_block_collectives(rig& r) {
  for (const size_t elements : {size_t{1}, size_t{64}, size_t{1} << 10, size_t{1} << 14, size_t{1} << 16}) {
    collective_point(r, moved::alltoall, "direct", raw_direct<moved::alltoall>, elements);
    collective_point(r, moved::broadcast, "direct", raw_direct<moved::broadcast>, elements);
    collective_point(r, moved::allgather, "direct", raw_direct<moved::allgather>, elements);
    if (elements > 2 * most_lines) continue;
    collective_point(r, moved::alltoall, "lines", raw_lines<moved::alltoall>, elements);
    collective_point(r, moved::broadcast, "lines", raw_lines<moved::broadcast>, elements);
    collective_point(r, moved::allgather, "lines", raw_lines<moved::allgather>, elements);
    collective_point(r, moved::allreduce, "lines", raw_lines<moved::allreduce>, elements);
  }
}

}  // namespace ggas::compare
