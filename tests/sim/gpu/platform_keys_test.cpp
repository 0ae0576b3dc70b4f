// SPDX-License-Identifier: Apache-2.0
// Every key of a platform file has an effect: another value changes a result. Compared are times to the nanosecond,
// counters, joules, registers and errors of small runs with the reference model as NIC.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "ggas/launch.hpp"
#include "sim/gpu/config.hpp"
#include "tests/sim/system_fixture.hpp"
#include "userlib/cluster/providers/sim/sim_cluster.hpp"

namespace ggas::test {
namespace {

using values = std::vector<std::string>;
constexpr uint64_t ms = 1'000'000;

// ---------------------------------------------------------------------------------------------- keys

struct key {
  std::string path;
  values others;  // to try, one after the other, until one is allowed and acts
};

values others_of(const toml::node& n) {
  if (const auto* b = n.as_boolean()) return {b->get() ? "false" : "true"};
  if (const auto* i = n.as_integer()) {
    const int64_t v = i->get();
    values out = {std::to_string(v / 2), std::to_string(2 * v), std::to_string(4 * v)};
    // Least and greatest that some keys take: room for one of something, packets, memories, generations, widths.
    for (const int64_t any : {1, 2, 3, 64, 128, 256, 1000, 1 << 20, 1 << 24}) out.push_back(std::to_string(any));
    return out;
  }
  if (const auto* f = n.as_floating_point()) {
    values out;
    for (const double v : {f->get() / 2, f->get() * 2, 1e6, 1.0}) out.push_back(fmt::format("{:.1f}", v));
    return out;
  }
  return {};
}

void collect(const toml::table& t, const std::string& path, std::vector<key>& out) {
  for (const auto& [name, node] : t) {
    const std::string at = path.empty() ? std::string(name.str()) : path + "." + std::string(name.str());
    if (const auto* inner = node.as_table()) {
      collect(*inner, at, out);
    } else if (!node.is_string()) {  // names are for people
      out.push_back({at, others_of(node)});
    }
  }
}

std::vector<key> keys_of(const std::string& platform) {
  const auto parsed = toml::parse_file((sim::platform_folder() / (platform + ".toml")).string());
  std::vector<key> out;
  if (parsed) collect(parsed.table(), "", out);
  return out;
}

bool allowed(const values& overrides) {
  const auto p = sim::load_platform("galibier-k20", overrides);
  return p && gpu::parse_gpu(p->gpu, p->file);
}

// ---------------------------------------------------------------------------------------------- kernels and programs

// Offsets of data in a segment, after what the library keeps.
struct places {
  uint64_t data;
  uint64_t far(uint64_t i) const { return data + 64 * 1024 + i * 72; }  // not side by side
};

// Loads, stores and atomics here and there by many warps; lanes that leave a loop one after the other.
void busy_kernel(places p) {
  const uint64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const int peer = 1 - ggas_node();
  uint64_t* const own = ggas_pointer_of_node<uint64_t>(ggas_node(), p.data);
  ggas_store(ggas_pointer_of_node<uint64_t>(peer, p.far(i % 3000)), i);
  ggas_store(ggas_pointer_of_node<uint64_t>(peer, p.data + 8192 + 8 * i), i);  // whole lines
  if (i % 8 == 0) ggas_store(own + i % 512, ggas_load(ggas_pointer_of_node<uint64_t>(peer, p.data + 8 * (i % 512))));
  if (i < 64) {
    detail::add_gpu(own + 600, 1);
    GGAS_COMPUTE(4096, 16384);
    for (uint64_t turn = 0; turn < 1 + i % 32; ++turn) (void)ggas_load(own + 601);
    ggas_fence();
    (void)ggas_quiet();
  }
}

// Many small blocks, few of which fit on a multiprocessor at a time.
void short_kernel(places p) {
  uint64_t* const own = ggas_pointer_of_node<uint64_t>(ggas_node(), p.data);
  (void)ggas_load(own + 64 * (blockIdx.x % 8));
  GGAS_COMPUTE(8192, 64);
}

// Nothing but the GPU's own memory: what its schedulers issue and its second-level cache moves takes all of the time.
void local_kernel(places p) {
  const uint64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t* const own = ggas_pointer_of_node<uint64_t>(ggas_node(), p.data);
  for (uint64_t turn = 0; turn < 16; ++turn) (void)ggas_load(own + (i * 16 + turn * 64) % 32768);
}

void transfer_kernel(places p) {
  const int peer = 1 - ggas_node();
  auto* const here = ggas_pointer_of_node<char>(ggas_node(), p.data);
  auto* const there = ggas_pointer_of_node<char>(peer, p.data + 512 * 1024);
  (void)ggas_put_block(there, here, 20'000, 50 * ms);
  (void)ggas_get_block(here, there, 3000, 50 * ms);
}

// Polls, talks to the GPU's memory in both directions at once, puts from host memory, sleeps.
void busy_program(host& h, std::byte* pinned, std::byte* segment, uint64_t host_nla, ggas_rma_peer peer) {
  std::array<std::byte, 4000> bytes{};
  h.write(segment, bytes.data(), 500);
  h.read(bytes.data(), segment, 200);
  ggas_rma_context& q = h.queue(0);
  const ggas_rma_desc d =
      ggas_rma_put(peer, host_nla + 104, host_nla + 8192, 6000, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1);
  (void)ggas_rma_post(&q, &d);
  h.write(segment, bytes.data(), bytes.size());
  ggas_rma_note note{};
  (void)h.wait_until([&] { return ggas_rma_next_note(&q, &note) != 0; }, 5 * ms);
  h.read(bytes.data(), pinned + 8192, bytes.size());
  h.library_call();
  h.sleep(1000);
}

// Loads from the GPU's memory while another program stores to it; several of them fill the bus.
void reading_program(host& h, const std::byte* segment) {
  std::array<std::byte, 8> word{};
  for (int i = 0; i < 30; ++i) h.read(word.data(), segment + 8 * i, word.size());
}

// ---------------------------------------------------------------------------------------------- runs

class observed {
 public:
  void add(uint64_t v) { text_ += std::to_string(v) + ";"; }
  void add(const std::string& s) { text_ += s + ";"; }
  void add(const std::map<std::string, uint64_t>& m) {
    for (const auto& [name, v] : m) add(v);
  }
  template <class T>
  bool add(const result<T>& r) {
    if (!r) add(r.error().text);
    return bool(r);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A cluster with everything going on at once, stopped by each way of synchronising.
std::string traffic_on(const values& base, const values& overrides, std::vector<host_config> computers = {}) {
  cluster_config cfg;
  cfg.hosts = std::move(computers);
  cfg.segment_bytes = 2 << 20;
  cfg.host_bytes = 1 << 20;
  cfg.overrides = base;
  cfg.overrides.insert(cfg.overrides.end(), overrides.begin(), overrides.end());
  observed seen;
  auto made = userlib::make_sim_cluster(cfg, [](unsigned width, const nic::host_config& h, const char*) {
    return std::make_unique<model_core>(width, h);
  });
  if (!seen.add(made)) return seen.text();
  cluster& c = **made;
  const places p{c.device_context(0).reserved};
  for (const host_sync how : {host_sync::stream, host_sync::device, host_sync::event, host_sync::event_blocking}) {
    for (int n = 0; n < 2; ++n) {
      if (how == host_sync::stream) {
        seen.add(ggas::launch(c, n, 5, 1024, busy_kernel, p));
        seen.add(ggas::launch(c, n, 40, 32, short_kernel, p));
        seen.add(ggas::launch(c, n, 1, 32, transfer_kernel, p));
        for (int i = 0; i < 20; ++i)
          seen.add(c.launch_host(n, [at = c.segment(n) + p.data](host& h) { reading_program(h, at); }));
        seen.add(c.launch_host(n, [&, n](host& h) {
          const host_region r = c.host_memory(n);
          const nic_place* const shared = c.device_context(n).places;
          const auto peer = uint16_t(shared ? shared[1 - n].nic : 1 - n);
          busy_program(h, r.base, c.segment(n) + p.data, r.nla, {.node = peer, .vpid = 128});
        }));
      } else {
        if (how == host_sync::device) seen.add(ggas::launch(c, n, 4, 1024, local_kernel, p));
        for (int i = 0; i < 3; ++i) seen.add(c.launch(n, 1, 1, [] {}));
      }
    }
    const auto r = c.run(100 * ms, how);
    seen.add(r);
    seen.add(c.now_ns());
  }
  for (int n = 0; n < 2; ++n) seen.add(c.counters(n));
  for (const energy_part& p : c.energy()) seen.add(uint64_t((p.idle_j + p.above_j) * 1e15));
  return seen.text();
}

// Few multiprocessors, so that they are full, and packets that MPS and MRRS can cut.
std::string traffic(const values& overrides) { return traffic_on({"gpu.sms=2", "rma.mtu_bytes=256"}, overrides); }

// The same on buses so narrow and long that acknowledgements and credits count, with completions in parts.
std::string crowded(const values& overrides) {
  values base = {"gpu.sms=2", "rma.mtu_bytes=256", "root_complex.mps=128", "pcie.nic.latency_ns=5000.0",
                 "pcie.gpu.latency_ns=5000.0"};
  for (const char* const bus : {"pcie.nic.", "pcie.gpu.", "cpu.link."})
    for (const char* const slow : {"lanes=1", "generation=1"}) base.push_back(bus + std::string(slow));
  return traffic_on(base, overrides);
}

// Two GPUs of one computer, below a switch whose links and buffers are just large enough.
std::string behind_a_switch(const values& overrides) {
  values base = {"gpu.sms=2", "rma.mtu_bytes=256", "pcie.gpu.latency_ns=5000.0", "pcie.switch.latency_ns=5000.0"};
  for (const char* const bus : {"pcie.gpu.", "pcie.switch."})
    for (const char* const slow : {"lanes=2", "generation=1"}) base.push_back(bus + std::string(slow));
  return traffic_on(base, overrides, {{.gpus = 2}});
}

// What the processor writes into the NIC at the start.
std::string registers(const values& overrides) {
  observed seen;
  auto s = sim::system::create(config("galibier-k20", false, overrides));
  if (!s) return s.error();
  for (const uint16_t at : {GGAS_REG_SMFU_TIMEOUT, GGAS_REG_LINK_CTRL, GGAS_REG_RMA_CTRL, GGAS_REG_RMA_TIMEOUT})
    seen.add((*s)->read_register(0, at).value_or(~uint64_t{0}));
  return seen.text();
}

// Takes reads and never answers.
class mute_endpoint final : public memory_endpoint {
 public:
  explicit mute_endpoint(const sim::endpoint_slot& s) : memory_endpoint(s) {
    link.on_receive = [this](pcie::tlp& t) {
      if (t.non_posted()) came_ns.push_back(pcie::now_ps() / 1000);
      if (t.completion()) requester.complete(t);
      return true;
    };
  }
  std::vector<uint64_t> came_ns;
};

// Reads that no one answers: who gives up when. The NICs wait longest; one read at a time passes the root complex.
std::string silence(const values& overrides) {
  values all = {"nic.load_timeout_ticks=65535", "nic.host_timeout_ticks=65535",
                "root_complex.gpu_to_nic.reads_outstanding=1", "root_complex.nic_to_gpu.reads_outstanding=1"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  auto cfg = config("galibier-k20", false, all);
  cfg.gpu = [](const sim::endpoint_slot& s) { return std::make_unique<mute_endpoint>(s); };
  observed seen;
  auto made = sim::system::create(std::move(cfg));
  if (!made) return made.error();
  sim::system& s = **made;
  const auto before = s.now_ps();
  seen.add(uint64_t(s.load(0, sim::endpoint_base, 8).has_value()));
  seen.add((s.now_ps() - before) / 1000);
  s.sim().enter();
  auto& near = static_cast<mute_endpoint&>(gpu(s, 0));
  for (uint64_t i = 0; i < 2; ++i)
    near.requester.read(pcie::memory_read(near.window(1, 64 * i), 8, 0, 0), [](pcie::read_result&&) {});
  for (int part = 0; part < 4; ++part) {
    s.run_for(30 * ms * 1000);
    seen.add(s.nic(0).port().stats().rx_tlps[1]);
  }
  for (const uint64_t at : static_cast<mute_endpoint&>(gpu(s, 1)).came_ns) seen.add(at);
  return seen.text();
}

TEST(platform_keys, each_of_them_acts) {
  using run = std::string (*)(const values&);
  const std::pair<run, std::string> runs[] = {{traffic, traffic({})},
                                              {registers, registers({})},
                                              {silence, silence({})},
                                              {crowded, crowded({})},
                                              {behind_a_switch, behind_a_switch({})}};
  for (const auto& [again, usual] : runs) ASSERT_EQ(again({}), usual) << "a run repeats itself";
  const values original = {"software=original"};
  const std::string with_original = traffic(original);
  EXPECT_NE(with_original, runs[0].second);
  const auto acts = [&](const key& k) {
    for (const std::string& v : k.others) {
      const values changed = {k.path + "=" + v};
      if (!allowed(changed)) continue;
      if (k.path.starts_with("original.") && traffic({original[0], changed[0]}) != with_original) return true;
      for (const auto& [again, usual] : runs)
        if (again(changed) != usual) return !k.path.starts_with("original.");
    }
    return false;
  };
  const auto keys = keys_of("galibier-k20");
  ASSERT_GT(keys.size(), 100u);
  for (const key& k : keys) EXPECT_TRUE(acts(k)) << "galibier-k20.toml: " << k.path << ": nothing depends on it";
}

// A file over another one has only some of them, which the parser compares.
bool has_base(const std::string& platform) {
  const auto parsed = toml::parse_file((sim::platform_folder() / (platform + ".toml")).string());
  return parsed && parsed.table().contains("base");
}

TEST(platform_keys, are_the_same_in_every_file) {
  std::set<std::string> first;
  for (const std::string& name : sim::platform_names()) {
    if (has_base(name)) continue;
    std::set<std::string> here;
    for (const key& k : keys_of(name)) here.insert(k.path);
    if (first.empty()) first = here;
    EXPECT_EQ(here, first) << name;
  }
}

}  // namespace
}  // namespace ggas::test
