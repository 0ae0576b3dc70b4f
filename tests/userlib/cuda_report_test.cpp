// SPDX-License-Identifier: Apache-2.0
// The report of a cuda_cluster on its kernels, without a GPU: records of waits and the trace of calls, as kernels write
// them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ggas/detail/platform/layout.hpp"
#include "ggas/status.hpp"
#include "tests/userlib/cuda_rig.hpp"

namespace ggas::test {
namespace {

// Node `waits` says that `missing` did not come to its barrier.
void leave_record(cluster& c, int waits, int missing) {
  const context& k = c.device_context(waits);
  const layout l = layout::of(static_cast<uint64_t>(k.nodes), k.reserved);
  auto* const r = reinterpret_cast<wait_record*>(k.local + l.wait_record_at(5));
  r->who = uint64_t{3} << 32 | 7 << 1 | 1;
  r->number = *reinterpret_cast<uint64_t*>(k.local + l.failed_waits()) = 6;
  r->call = static_cast<uint32_t>(call_id::ggas_barrier);
  r->status = 1;
  r->kind = static_cast<uint32_t>(waited_for::members);
  r->size = 3;
  r->stride = 1;
  r->counted = layout::barrier_epoch(0);
  r->expected = 9;
  r->missing_count = 1;
  r->missing[0] = wait_record::missing_one(missing);
}

// Each process reports its own nodes, until the reset.
std::string report_of(int rank, cluster& c) {
  for (const int node : c.local_nodes())
    if (node != 2) leave_record(c, node, 2);
  const auto now = c.report();
  if (!now) return now.error().text;
  const std::string text = now->text();
  const std::string line =
      ", block 3, thread 7: ggas_barrier timed out: node 2 did not arrive at number 9 of the team\n";
  for (const int node : c.local_nodes())
    if (has(text, "node " + std::to_string(node) + line) != (node != 2))
      return "rank " + std::to_string(rank) + ": " + text;
  const bool waited = text != "no wait failed\n";
  if (waited && !has(text, "look at node 2: waited for, and waiting for no member\n")) return text;
  if (std::string wrong = text_of(c.reset(0)); !wrong.empty()) return wrong;
  return c.report()->empty() ? "ok" : "a reset leaves records";
}

TEST(cuda_report, names_who_was_missing_in_one_process) {
  EXPECT_EQ(run_one(with(4 * mebi, 3), -1,
                    [](int rank, cluster* c, const std::string& why) { return c ? report_of(rank, *c) : why; }),
            "ok");
}

TEST(cuda_report, names_who_was_missing_in_every_process) {
  processes all;
  start(all, 3, small, as_it_is,
        [](int rank, cluster* c, const std::string& why) { return c ? report_of(rank, *c) : why; });
  expect_each(all, 3, "ok");
}

// A lost GPU is an error, not an empty report.
TEST(cuda_report, says_why_there_is_none) {
  const std::string said = run_one(with(4 * mebi, 2), -1, [](int, cluster* c, const std::string& why) {
    if (!c) return why;
    fake_cuda::here().fails_at = 2;
    const auto r = c->report();
    fake_cuda::here().failed.clear();  // tests after this one begin with what this process has seen
    return r ? "a report" : r.error().text;
  });
  EXPECT_TRUE(has(said, "report of node 0: cudaMemcpyAsync")) << said;
}

TEST(cuda_report, writes_the_calls_that_kernels_traced) {
  const auto folder = std::filesystem::temp_directory_path() / ("ggas_cuda_trace." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  setenv("GGAS_TRACE", (folder / "calls.json").c_str(), 1);
  const std::string said = run_one(with(4 * mebi, 2), -1, [](int, cluster* c, const std::string& why) {
    if (!c) return why;
    const call_trace& t = c->device_context(1).trace;
    const auto call = static_cast<uint32_t>(call_id::ggas_allreduce);
    t.at[3] = {{5000, 7500}, {2, 0, call, ggas_ok}};
    t.at[t.places] = {{8000, 9000}, {2, 0, call, ggas_ok}};
    return std::string("ok");
  });
  unsetenv("GGAS_TRACE");
  EXPECT_EQ(said, "ok");
  std::ifstream in(folder / "calls.json");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(
      has(text, R"("ph":"X","name":"ggas_allreduce","pid":1,"tid":1,"ts":0.000,"dur":2.500,"args":{"status":"ok"})"))
      << text;
  EXPECT_TRUE(has(text, R"("ts":3.000,"dur":1.000)")) << text;
  EXPECT_TRUE(has(text, R"("name":"block 2 thread 0")")) << text;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ggas::test
