// SPDX-License-Identifier: Apache-2.0
// Bare CUDA on the GPUs of this computer: the limits that the figures of GGAS, NVSHMEM and NCCL are checked by. One
// process drives all GPUs. Prints a record a line, variant `raw`.
//
//   compare_raw [GPUs]      0 or nothing: all of them
#include "benchmarks/compare/raw/raw.cuh"

#include "benchmarks/compare/raw/rig.cuh"

namespace ggas::compare {

namespace {

constexpr int log2_words = 27;  // of a GPU's table: all of its data

// Half a round trip through the flags at a place, in ns.
template <bool ordered>
double pingpong(rig& r, int place, uint64_t rounds) {
  const uint64_t base = r.next_base(rounds + 1);
  r.time(2, [&](int i) {
    const peers p = r.seen_by(i);
    uint64_t *mine = p.flags[i] + flag_step * place, *theirs = p.flags[1 - i] + flag_step * place;
    raw_pingpong<ordered><<<1, 1, 0, r.at(i).stream>>>(mine, theirs, i == 0, rounds, base, r.at(i).found);
  });
  return r.found(2, "ping-pong") / (2 * static_cast<double>(rounds));
}

// The time depends on which part of the L2 cache holds the flag, so the fastest of 32 places is measured too.
int fastest_place(rig& r) {
  std::vector<double> times;
  for (int place = 0; place < flag_places; ++place) times.push_back(pingpong<false>(r, place, 200));
  return static_cast<int>(std::min_element(times.begin(), times.end()) - times.begin());
}

template <bool ordered>
void pingpongs(rig& r, int place, const char* method) {
  print(r.from(), {"store_latency",
                   "raw",
                   "half_round_trip",
                   "ns",
                   {{"blocks", 1}, {"threads", 1}, {"bytes", 8}, {"method", 0, method}},
                   repeat([&] { return pingpong<ordered>(r, place, 2000); })});
}

template <fencing fence>
void exchange(rig& r, unsigned threads, const char* method) {
  constexpr uint64_t rounds = 2000;
  auto once = [&] {
    const uint64_t base = r.next_base(rounds + 1);
    r.time(r.count(), [&](int i) {
      raw_exchange<fence><<<1, threads, 0, r.at(i).stream>>>(r.seen_by(i), rounds, base, r.at(i).found);
    });
    return r.found(r.count(), "flag exchange") / rounds;
  };
  print(
      r.from(),
      {"barrier", "raw", "latency", "ns", {{"blocks", 1}, {"threads", threads}, {"method", 0, method}}, repeat(once)});
}

int multiprocessors() {
  int sms = 0;
  COMPARE_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  return sms;
}

using copy = std::function<void(int from, int to, uint64_t offset, uint64_t bytes)>;

// Bandwidth of a GPU that sends: GPU 0 to GPU 1, and every GPU to all others, a part each.
void bandwidth(rig& r, int64_t blocks, int64_t threads, const char* method, const copy& start) {
  auto pair = [&] { return 1e9 * data_bytes / r.time(1, [&](int) { start(0, 1, 0, data_bytes); }); };
  const uint64_t part = data_bytes / static_cast<uint64_t>(r.count()) / bulk_bytes * bulk_bytes;
  auto every = [&] {
    const double ns = r.time(r.count(), [&](int i) {
      for (int k = 1; k < r.count(); ++k) start(i, (i + k) % r.count(), static_cast<uint64_t>(i) * part, part);
    });
    return 1e9 * static_cast<double>(part) * (r.count() - 1) / ns;
  };
  for (const bool all : {false, true}) {
    print(r.from(), {"put_bandwidth",
                     "raw",
                     "bandwidth",
                     "B/s",
                     {{"bytes", data_bytes},
                      {"blocks", blocks},
                      {"threads", threads},
                      {"connections", all ? r.count() * (r.count() - 1) : 1},
                      {"method", 0, method}},
                     all ? repeat(every) : repeat(pair)});
  }
}

void bandwidths(rig& r) {
  auto target = [&](int to, uint64_t offset) { return r.seen_by(0).data[to] + offset; };
  for (const int blocks : {8, 12, 16, 32, 64, multiprocessors()}) {
    const auto grid = static_cast<unsigned>(blocks);
    bandwidth(r, blocks, 1024, "stores", [&](int from, int to, uint64_t offset, uint64_t bytes) {
      raw_copy<<<grid, 1024, 0, r.at(from).stream>>>(reinterpret_cast<const uint4*>(r.at(from).source + offset),
                                                     reinterpret_cast<uint4*>(target(to, offset)), bytes / 16);
    });
    bandwidth(r, blocks, 128, "bulk", [&](int from, int to, uint64_t offset, uint64_t bytes) {
      raw_bulk<<<grid, 128, bulk_bytes, r.at(from).stream>>>(target(to, offset), bytes);
    });
  }
  bandwidth(r, 0, 0, "copy_engine", [&](int from, int to, uint64_t offset, uint64_t bytes) {
    COMPARE_CUDA(cudaMemcpyAsync(target(to, offset), r.at(from).source + offset, bytes, cudaMemcpyDeviceToDevice,
                                 r.at(from).stream));
  });
}

// GPU 0 loads from GPU 1.
void loads(rig& r) {
  for (const int blocks : {8, 12, 16, 32, 64, multiprocessors()}) {
    auto once = [&] {
      const double ns = r.time(1, [&](int) {
        raw_copy<<<static_cast<unsigned>(blocks), 1024, 0, r.at(0).stream>>>(
            reinterpret_cast<const uint4*>(r.seen_by(0).data[1]), reinterpret_cast<uint4*>(r.at(0).source),
            data_bytes / 16);
      });
      return 1e9 * data_bytes / ns;
    };
    print(r.from(), {"get_bandwidth",
                     "raw",
                     "bandwidth",
                     "B/s",
                     {{"bytes", data_bytes}, {"blocks", blocks}, {"threads", 1024}, {"method", 0, "loads"}},
                     repeat(once)});
  }
}

// Messages a second from GPU 0 to GPU 1: words of threads far apart; 64 bytes of a warp that has one such put under
// way, and of any threads, four for a put, with eight loads of each under way.
void message_rates(rig& r, unsigned threads) {
  const auto to = [&] { return r.seen_by(0).data[1]; };
  for (const int blocks : {1, multiprocessors()}) {
    const auto grid = static_cast<unsigned>(blocks);
    const auto emit = [&](int64_t bytes, const char* method, double messages, const std::function<void()>& start,
                          const char* metric = "messages") {
      auto once = [&] { return 1e9 * messages / r.time(1, [&](int) { start(); }); };
      print(r.from(), {"message_rate",
                       "raw",
                       metric,
                       "1/s",
                       {{"bytes", bytes}, {"blocks", blocks}, {"threads", threads}, {"method", 0, method}},
                       repeat(once)});
    };
    const message_plan words(grid * threads, value_bytes_apart), of_warps(grid * threads / 32, put_bytes),
        of_threads(grid * threads, put_bytes);
    auto* const source = reinterpret_cast<const uint4*>(r.at(0).source);
    auto* const target = reinterpret_cast<uint4*>(to());
    emit(value_bytes_apart, "value", static_cast<double>(words.messages()), [&] {
      raw_values<<<grid, threads, 0, r.at(0).stream>>>(reinterpret_cast<uint64_t*>(to()), words.each,
                                                       value_bytes_apart / sizeof(uint64_t));
    });
    const auto add = [&] {
      raw_float_adds<<<grid, threads, 0, r.at(0).stream>>>(reinterpret_cast<float*>(to()), words.each,
                                                           value_bytes_apart / sizeof(float));
    };
    emit(value_bytes_apart, "float_add", static_cast<double>(words.messages()), add, "atomics");
    emit(put_bytes, "put_warp", static_cast<double>(of_warps.messages()),
         [&] { raw_warp_puts<<<grid, threads, 0, r.at(0).stream>>>(source, target, of_warps.each); });
    emit(put_bytes, "put_thread", static_cast<double>(of_threads.messages()), [&] {
      raw_copy<<<grid, threads, 0, r.at(0).stream>>>(source, target, of_threads.messages() * put_bytes / 16);
    });
  }
}

// Updates a second of all GPUs together. Local: every GPU on its own table.
template <bool system>
void updates(rig& r, bool local, const char* method, const shape& s) {
  constexpr uint64_t each = uint64_t{1} << 27;
  auto once = [&] {
    const double ns = r.time(r.count(), [&](int i) {
      raw_updates<system><<<s.blocks, s.threads, 0, r.at(i).stream>>>(r.seen_by(i), local ? i : 0,
                                                                      local ? 1 : r.count(), log2_words, each);
    });
    const uint64_t senders = s.blocks * s.threads, done = each / senders * senders;
    return 1e9 * static_cast<double>(done) * r.count() / ns;
  };
  print(r.from(), {"random_access",
                   "raw",
                   "updates",
                   "1/s",
                   {{"elements", r.count() * (int64_t{1} << log2_words)},
                    {"blocks", s.blocks},
                    {"threads", s.threads},
                    {"method", 0, method}},
                   repeat(once)});
}

}  // namespace

}  // namespace ggas::compare

int main(int argc, char** argv) {
  using namespace ggas::compare;
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // loading a kernel may wait for one that waits for it
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::fprintf(stderr, "no GPU here\n");
    return 77;
  }
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 0;
  if (wanted < 0 || wanted > gpus || gpus > most_gpus) {
    std::fprintf(stderr, "GPUs: 0 (all) ... %d, not %s\n", std::min(gpus, most_gpus), argv[1]);
    return 2;
  }
  rig r(wanted == 0 ? gpus : wanted);
  if (r.count() > 1) {
    pingpongs<false>(r, 0, "relaxed");
    pingpongs<false>(r, fastest_place(r), "relaxed_fastest_place");
    pingpongs<true>(r, 0, "ordered");
    for (const unsigned threads : thread_counts) {
      exchange<fencing::none>(r, threads, "sync");
      exchange<fencing::before>(r, threads, "barrier");
    }
    measure_puts_with_signal(r);
    measure_collectives(r);
    bandwidths(r);
    loads(r);
    for (const unsigned threads : {256u, 512u, 1024u}) message_rates(r, threads);
    for (const shape& s : update_grids) updates<true>(r, false, "atomic", s);
  }
  measure_packs(r);
  for (const shape& s : update_grids) updates<false>(r, true, "local_atomic", s);
  return 0;
}
