// SPDX-License-Identifier: Apache-2.0
// pi by programs of MPI in kernels, and by two kernels of one node.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/kernels/pi.cuh"
#include "benchmarks/plans/pi_plan.hpp"

namespace ggas::bench {

namespace {

class pi_job {
 public:
  explicit pi_job(session& s) : s_(s) {}

  // Kernels of all nodes, or of node 0 alone, one after the other; pi must be right.
  result<> run(const char* variant, const pi_shape& shape, int intervals, bool alone,
               std::initializer_list<pi_launch> kernels) {
    const std::string what = fmt::format("{} with {} intervals", variant, intervals);
    layout_plan room(s_.data_offset());
    const pi_places p = place_pi(room, s_.nodes(), shape, intervals);
    for (int node = 0; node < s_.nodes(); ++node) {
      std::memset(at_offset<char>(s_, node, p.begin), 0, room.place<char>(0) - p.begin);
      std::memcpy(at_offset<char>(s_, node, p.handle), &p.world, sizeof p.world);
      *at_offset<uint64_t>(s_, node, layout::messages) = p.handle;
    }
    uint64_t outcomes = p.args.outcomes;
    std::vector<double> samples;
    for (unsigned i = 0; i < s_.opts().sized(3u, 5u, 10u); ++i) {
      for (const pi_launch& k : kernels) {
        pi_args a = p.args;
        a.outcomes = outcomes;
        outcomes += size_t{k.blocks} * k.threads * sizeof(outcome);
        const auto body = [run = k.run, a] { run(a); };
        if (alone) {
          GGAS_TRY(s_.machine().launch(0, {k.blocks}, {k.threads}, body));
        } else {
          GGAS_TRY(s_.launch_together(
              {k.blocks}, {k.threads}, [&](int) { return body; }, what));
        }
      }
      GGAS_TRY(s_.run(what));
      const size_t count = (outcomes - p.args.outcomes) / sizeof(outcome);
      outcomes = p.args.outcomes;
      const auto o = join_outcomes(s_, 0, outcomes, count, what);
      if (!o) return o.error();
      samples.push_back(static_cast<double>(o->end_ns - o->begin_ns));
    }
    const float pi = *at_offset<float>(s_, 0, p.args.result);
    if (std::abs(pi - std::numbers::pi_v<float>) > 1e-4f)
      return failed(errc::device_fault, fmt::format("{}: the sum is {}", what, pi));
    record r = s_.begin(variant, "time", "ns");
    r.params = {{"ranks", p.args.ranks}, {"threads", shape.threads}, {"intervals", intervals}};
    summarise(r, samples);
    s_.emit(std::move(r));
    return {};
  }

 private:
  session& s_;
};

}  // namespace

result<> run_pi(session& s) {
  GGAS_TRY(s.start(32u << 20));
  pi_job job(s);
  const pi_shape shape{2, 32};
  const unsigned ranks = static_cast<unsigned>(s.nodes()) * shape.blocks * shape.threads,
                 blocks = ranks / shape.threads;
  for (const int intervals :
       s.opts().sized(std::vector<int>{16}, std::vector<int>{2, 32, 128}, std::vector<int>{2, 8, 32, 64, 128})) {
    GGAS_TRY(job.run("send", shape, intervals, false, {{shape.blocks, shape.threads, pi_send}}));
    GGAS_TRY(job.run("reduce", shape, intervals, false, {{shape.blocks, shape.threads, pi_reduce}}));
    GGAS_TRY(job.run("two_kernels_in_order", shape, intervals, true,
                     {{blocks, shape.threads, pi_parts}, {1, 1, pi_sum_in_order}}));
    GGAS_TRY(job.run("two_kernels", shape, intervals, true,
                     {{blocks, shape.threads, pi_block_parts},
                      {1, shape.threads, [blocks](const pi_args& a) { pi_sum_blocks(a, blocks); }}}));
  }
  return {};
}

}  // namespace ggas::bench
