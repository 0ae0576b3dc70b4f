// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/sim/programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace ggas::userlib {

namespace {

class sim_host final : public host {
 public:
  sim_host(cpu::core& c, host_view& v, driven_gpu& gpus, int node)
      : host(v.queues), core_(c), view_(v), gpus_(gpus), node_(node) {}
  int node() const override { return node_; }
  uint64_t now_ns() const override { return pcie::now_ps() / 1000; }
  void sleep(uint64_t ns) override { core_.sleep(ps_of(ns)); }
  void library_call() override { core_.call(); }
  void read(void* to, const void* from, size_t bytes) override {
    core_.read(view_.bus(from, bytes), {static_cast<std::byte*>(to), bytes});
  }
  void write(void* to, const void* from, size_t bytes) override {
    core_.write(view_.bus(to, bytes), {static_cast<const std::byte*>(from), bytes});
  }
  bool wait_until(const std::function<bool()>& done, uint64_t timeout_ns) override {
    return core_.wait_until(done, ps_of(timeout_ns));
  }
  void start() override { core_.work(gpus_.start_streams_ps(node_)); }
  bool synchronise(const event& e, host_sync how, uint64_t timeout_ns) override {
    const auto [meanwhile, learns_ps] = gpus_.waiting_for(node_, how);
    const auto last = gpus_.last_record(e);
    if (last && !await(*last, meanwhile, ps_of(timeout_ns))) return false;
    core_.work(learns_ps);
    return true;
  }

 private:
  // A mark may be reached when the program is gone.
  bool await(gpu::mark& m, cpu::doing meanwhile, uint64_t timeout_ps) {
    struct interest {
      std::shared_ptr<bool> wanted = std::make_shared<bool>(true);
      ~interest() { *wanted = false; }
    } mine;
    const uint64_t now = pcie::now_ps(), end = timeout_ps > ~now ? ~uint64_t{0} : now + timeout_ps;
    m.waiters.push_back([this, wanted = mine.wanted] {
      if (*wanted) core_.runner().wake(pcie::now_ps());
    });
    while (!m.reached && pcie::now_ps() < end) core_.await_wake(meanwhile, end);
    return m.reached;
  }

  cpu::core& core_;
  const host_view& view_;
  driven_gpu& gpus_;
  int node_;
};

}  // namespace

uint64_t host_view::bus(const void* at, size_t bytes) const {
  const auto* const p = static_cast<const std::byte*>(at);
  for (const range& r : ranges)
    if (p >= r.base && bytes <= r.bytes && size_t(p - r.base) <= r.bytes - bytes) return r.bus + uint64_t(p - r.base);
  throw std::out_of_range(fmt::format(
      "access of {} bytes at {}: neither pinned host memory, nor the own segment, nor the NIC", bytes, fmt::ptr(at)));
}

ggas_rma_context started(const rma_queue& q) {
  const auto bytes = [](auto* p) { return reinterpret_cast<unsigned char*>(const_cast<char*>(p)); };
  const ggas_rma_io direct = ggas_rma_direct();
  ggas_rma_context c{};
  c.io = &direct;
  c.page = bytes(q.page);
  c.descriptors = bytes(q.descriptors);
  c.status = bytes(q.status);
  c.notifications = bytes(q.notifications);
  c.mailbox = bytes(q.mailbox);
  c.work_queue = bytes(q.slots);
  c.notify_log2 = q.notify_log2;
  c.mailbox_log2 = q.mailbox_log2;
  c.queue_log2 = q.slots_log2;
  if (!ggas_rma_start(&c)) throw std::logic_error(fmt::format("context {} was not enabled again", q.vpid));
  c.io = nullptr;  // a program brings its own
  return c;
}

struct host_programs::runner {
  program what;
  std::unique_ptr<cpu::core> core;
};

host_programs::host_programs(driven_gpu& gpus) : gpus_(gpus) {}
host_programs::~host_programs() = default;

bool host_programs::start(sim::system& s, const std::function<host_view&(int)>& view,
                          const std::function<unsigned(int)>& processor) {
  bool good = true;
  for (program& p : std::exchange(queued_, {})) {
    auto r = std::make_unique<runner>(std::move(p));
    r->what.processor = processor(r->what.node);
    r->core = s.make_program(r->what.processor,
                             [this, body = r->what.body, &v = view(r->what.node), node = r->what.node](cpu::core& c) {
                               sim_host h(c, v, gpus_, node);
                               body(h);
                             });
    r->core->runner().on_end = [&k = s.sim()] { k.stop(); };
    good = r->core->runner().start() && good;
    running_.push_back(std::move(r));
  }
  return good;
}

bool host_programs::idle() const {
  return std::ranges::all_of(running_, [](const auto& r) { return r->core->runner().ended(); });
}

bool host_programs::failed() const {
  return std::ranges::any_of(running_, [](const auto& r) { return !r->core->runner().fault().empty(); });
}

std::string host_programs::describe(bool failed) const {
  std::string out;
  for (const auto& r : running_) {
    const cpu::thread& t = r->core->runner();
    if (failed ? t.fault().empty() : t.ended()) continue;
    out += fmt::format("{}node {}: program '{}' {}", out.empty() ? "" : "; ", r->what.node, r->what.name,
                       failed ? t.fault() : "still runs");
  }
  return out;
}

void host_programs::end_on(unsigned processor) {
  for (const auto& r : running_)
    if (r->what.processor == processor) r->core->runner().kill();
}

void host_programs::reset(sim::system& s) {
  for (const auto& r : running_) {
    r->core->runner().kill();
    s.processor(r->what.processor).agenda().clear();
  }
  running_.clear();
}

}  // namespace ggas::userlib
