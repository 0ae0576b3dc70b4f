// SPDX-License-Identifier: Apache-2.0
// The [gpu] table: both platforms are read, and what is wrong is named.
#include "sim/gpu/config.hpp"

#include <gtest/gtest.h>

#include "sim/platform/platform.hpp"

namespace ggas::gpu {
namespace {

std::string error_of(std::vector<std::string> overrides) {
  const auto p = sim::load_platform("galibier-k20", overrides);
  if (!p) return p.error();
  const auto g = parse_gpu(p->gpu, "platform");
  return g ? "" : g.error();
}

TEST(gpu_config, platforms_are_complete) {
  for (const char* name : {"galibier-k20", "modern"}) {
    const auto p = sim::load_platform(name);
    ASSERT_TRUE(p) << p.error();
    const auto g = parse_gpu(p->gpu, name);
    ASSERT_TRUE(g) << g.error();
  }
}

TEST(gpu_config, values_arrive) {
  const std::vector<std::string> o = {"gpu.outstanding_reads=7"};
  const auto g = parse_gpu(sim::load_platform("galibier-k20", o)->gpu, "k20");
  ASSERT_TRUE(g);
  EXPECT_EQ(g->outstanding_reads, 7u);
  EXPECT_EQ(g->sms, 13u);
  EXPECT_EQ(g->coalesce_bytes, 64u);
}

TEST(gpu_config, wrong_input_is_named) {
  EXPECT_NE(error_of({"gpu.outstanding_reads=0"}).find("gpu.outstanding_reads"), std::string::npos);
  EXPECT_NE(error_of({"gpu.sms=\"many\""}).find("gpu.sms"), std::string::npos);
  EXPECT_NE(error_of({"gpu.coalesce_bytes=48"}).find("gpu.coalesce_bytes"), std::string::npos);
  EXPECT_NE(error_of({"gpu.sync_stream_ns=1"}).find("gpu.sync_stream_ns"), std::string::npos);
  EXPECT_NE(error_of({"gpu.sync_event_ns=1"}).find("gpu.sync_event_ns"), std::string::npos);
  EXPECT_NE(error_of({"gpu.launch_call_ns=6000"}).find("gpu.launch_ns"), std::string::npos);
  EXPECT_NE(error_of({"gpu.registers_per_thread=1024", "gpu.registers_per_sm=1024"}).find("gpu.registers_per_thread"),
            std::string::npos);
  EXPECT_NE(error_of({"gpu.no_such_key=1"}).find("no_such_key"), std::string::npos);
}

TEST(gpu_config, a_missing_key_is_named) {
  toml::table t = sim::load_platform("galibier-k20")->gpu;
  t.erase("egress_ns");
  const auto g = parse_gpu(t, "k20");
  ASSERT_FALSE(g);
  EXPECT_NE(g.error().find("gpu.egress_ns"), std::string::npos) << g.error();
}

}  // namespace
}  // namespace ggas::gpu
