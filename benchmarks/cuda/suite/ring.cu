// SPDX-License-Identifier: Apache-2.0
// ring: floats go round all GPUs by puts with signal, in one persistent kernel of a block on each. Rounds with other
// data each are looked at before those that are timed.
#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/kernels/ring_data.cuh"

namespace ggas::bench {

namespace {

struct ring_args {
  uint64_t data, signal;
  uint64_t outcomes;  // of each thread
  uint64_t rounds;    // that are timed, after one that is not
  uint64_t timeout_ns;
};

__global__ void ring_clear(ring_args a) { *own<uint64_t>(a.signal) = 0; }

// Node 0 begins a round, and ends it when its data are back.
template <bool checked>
__global__ void __launch_bounds__(1024) ring_persistent(ring_args a) {
  float* const data = own<float>(a.data);
  const bool first = ggas_node() == 0;
  const int next = ggas_node() + 1 < ggas_nodes() ? ggas_node() + 1 : 0;
  const global_ptr<float> there(next, a.data);
  const global_ptr<uint64_t> signal(next, a.signal);
  const auto send = [&](uint64_t round) {
    return ggas_put_signal_nbi_block(there, data, ring_floats, signal, round, ggas_signal_set, a.timeout_ns);
  };
  uint64_t begin = 0, wrong = 0;
  ggas_status s = ggas_barrier_block(a.timeout_ns);
  for (uint64_t round = 1; round <= a.rounds + 1 && s == ggas_ok; ++round) {
    if (round == 2) begin = time_ns();
    if (checked && first) give_ring(data, round);
    if (first) s = send(round);
    if (s == ggas_ok) s = ggas_wait_until_block(own<uint64_t>(a.signal), ggas_ge, round, a.timeout_ns);
    if (checked) wrong += wrong_in_ring(data, round);
    if (!first && s == ggas_ok) s = send(round);
  }
  own<outcome>(a.outcomes)[threadIdx.x] = {begin, time_ns(), wrong, static_cast<uint64_t>(s)};
}

class ring_job {
 public:
  explicit ring_job(gpu_session& s) : s_(s) {
    layout_plan room(s.data_offset());
    a_.data = room.place<char>(ring_floats * sizeof(float));
    a_.signal = room.place<uint64_t>(1);
    a_.outcomes = room.place<outcome>(1024);
    a_.timeout_ns = s.wait_ns();
  }
  fault run(void (*kernel)(ring_args), unsigned threads, uint64_t rounds, std::vector<double>& ns) {
    a_.rounds = rounds;
    clear_outcomes(s_, a_.outcomes, threads);
    launch_all(s_, 1, 1, ring_clear, a_);
    GGAS_GPU_TRY(s_.run("ring"));
    launch_all(s_, 1, threads, kernel, a_);
    return run_loops(s_, a_.outcomes, threads, rounds, "ring", ns);
  }

 private:
  gpu_session& s_;
  ring_args a_{};
};

}  // namespace

fault run_ring(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 1u << 20));
  ring_job job(s);
  const uint64_t rounds = s.opts().quick ? 200 : 1000, bytes = ring_floats * sizeof(float);
  for (const unsigned threads : {128u, 256u, 512u, 1024u}) {
    std::vector<double> untimed, samples;
    GGAS_GPU_TRY(job.run(ring_persistent<true>, threads, 100, untimed));
    for (int i = 0; i <= s.runs(); ++i) {
      GGAS_GPU_TRY(job.run(ring_persistent<false>, threads, rounds, samples));
      if (i == 0) samples.clear();  // the first one warms up
    }
    s.emit({.variant = "put_signal",
            .params = {{"elements", ring_floats}, {"bytes", bytes}, {"blocks", 1}, {"threads", threads}},
            .metric = "time",
            .unit = "ns",
            .samples = samples,
            .limit = s.limits().link_floor(s.nodes(), bytes)});
  }
  return {};
}

}  // namespace ggas::bench
