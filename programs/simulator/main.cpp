// SPDX-License-Identifier: Apache-2.0
// ggas-simulator: simulates the nodes of a job whose ranks are processes of this computer (docs/libggas.md). Started by
// ggas-run --sim. It serves one job after the other, because a program may begin and end several, until it is ended.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <thread>

#include "programs/simulator/nodes.hpp"
#include "programs/simulator/rank.hpp"
#include "userlib/start/bootstrap.hpp"

namespace ggas::simulator {
namespace {

using userlib::attempt;
using userlib::bootstrap;

constexpr const char* examples = R"(
examples (the job's launcher takes these options from GGAS_SIMULATOR_OPTIONS):
  GGAS_SIMULATOR_OPTIONS='--platform modern' ggas-run -n 4 --sim ./program
  GGAS_SIMULATOR_OPTIONS='--topology leaf-spine:2x2x4' ggas-run -n 8 --sim ./program
  GGAS_SIMULATOR_OPTIONS='--topology fat-tree:4x2,forward_ns=200' ggas-run -n 16 --sim ./program
  GGAS_SIMULATOR_OPTIONS='--topology cluster.toml' ggas-run -n 12 --sim ./program
)";

struct options {
  node_options nodes;
  unsigned ranks = 0;
  unsigned timeout_s = 600;
  bool report = false;
};

// A rank's memory, mapped here.
class mapping {
 public:
  mapping() = default;
  mapping(mapping&& o) noexcept : bytes_(std::exchange(o.bytes_, {})) {}
  ~mapping() {
    if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  }
  // No process may shrink it: an access after its end would end this process.
  attempt<> map(const userlib::file& f, uint64_t bytes) {
    struct stat s {};
    if (!f || fstat(f.fd(), &s) != 0 || uint64_t(s.st_size) != bytes) return std::unexpected("is of another size");
    if (const int seals = fcntl(f.fd(), F_GET_SEALS); seals < 0 || !(seals & F_SEAL_SHRINK))
      return std::unexpected("may shrink");
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f.fd(), 0);
    if (at == MAP_FAILED) return std::unexpected("cannot be mapped (ulimit -v)");
    bytes_ = {static_cast<std::byte*>(at), bytes};
    return {};
  }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// Delays a request to end this process until the running job is over: its ranks have ended by then, or soon will.
class undisturbed {
 public:
  undisturbed() {
    sigemptyset(&term_);
    sigaddset(&term_, SIGTERM);
    sigprocmask(SIG_BLOCK, &term_, nullptr);
  }
  ~undisturbed() { sigprocmask(SIG_UNBLOCK, &term_, nullptr); }

 private:
  sigset_t term_;
};

// What the processes of a job have given.
struct parts {
  std::vector<mapping> memories;
  std::vector<bootstrap::part> links, ends;
};

attempt<parts> take_parts(bootstrap& b, const options& o, const memory_sizes& sizes) {
  const library::sim::plan plan{library::sim::version, o.ranks, sizes.host, sizes.gpu, address_of_memory()};
  const std::string_view announced(reinterpret_cast<const char*>(&plan), sizeof plan);
  if (auto ok = b.gather("plan of the simulator", announced); !ok) return std::unexpected(ok.error());
  auto memories = b.gather("memory of ranks", "");
  if (!memories) return std::unexpected(memories.error());
  auto links = b.gather("links of ranks", "");
  if (!links) return std::unexpected(links.error());
  const userlib::file self = userlib::end_of(getpid());
  auto ends = b.gather("processes of ranks", "", self.fd());
  if (!ends) return std::unexpected(ends.error());
  if (auto ok = b.gather("controls of ranks", ""); !ok) return std::unexpected(ok.error());
  parts p{std::vector<mapping>(o.ranks), std::move(*links), std::move(*ends)};
  for (unsigned r = 0; r < o.ranks; ++r)
    if (auto ok = p.memories[r].map((*memories)[r + 1].handle, sizes.both()); !ok)
      return std::unexpected(fmt::format("memory of rank {} {}", r, ok.error()));
  return p;
}

// Until the last rank has ended, or a NIC does what it cannot: why, else nothing.
std::string simulate(sim::system& s, job_of_ranks& job) {
  s.sim().enter();
  for (unsigned r = 0; r < job.all.size(); ++r) {
    rank& one = *job.all[r];
    one.core = s.make_program(r, [&one](cpu::core& c) { one.run(c); });
    one.core->runner().on_end = [&k = s.sim()] { k.stop(); };
  }
  for (const auto& r : job.all) r->core->runner().start();
  uint64_t last_ps = 0;
  std::string fault;
  const auto over = [&] {  // asked for each microsecond that goes by
    if (s.now_ps() != std::exchange(last_ps, s.now_ps())) job.show_life();
    for (unsigned n = 0; n < s.nodes() && fault.empty(); ++n)
      if (!s.nic_fault(n).empty()) fault = fmt::format("node {}: {}", n, s.nic_fault(n));
    return !fault.empty() || job.ended == job.all.size();
  };
  s.run_until(over, ~uint64_t{0});
  for (unsigned r = 0; r < job.all.size(); ++r) {
    if (const std::string& fault = job.all[r]->core->runner().fault(); !fault.empty())
      fmt::print(stderr, "ggas-simulator: rank {}: {}\n", r, fault);
    s.processor(r).agenda().clear();
  }
  return fault;
}

rank::node node_of(sim::system& s, unsigned n) { return {&s.memory(n), static_cast<node_gpu*>(s.gpu(n))}; }

// One job, from the arrival of its ranks until the last one has left or ended. An error of a NIC ends the program.
attempt<std::string> serve(const job& j, const options& o, const memory_sizes& sizes) {
  auto b = bootstrap::join(j);
  if (!b) return std::unexpected(b.error());
  const undisturbed until_it_is_over;
  auto p = take_parts(**b, o, sizes);
  std::vector<std::span<std::byte>> memories;
  if (p)
    for (const mapping& m : p->memories) memories.push_back(m.bytes());
  auto built = p ? build(o.nodes, memories) : std::unexpected(p.error());
  const auto all = (*b)->agree("simulation", built ? attempt<>() : std::unexpected(built.error()));
  if (!all) return std::unexpected(all.error());
  b->reset();
  job_of_ranks ranks{.all = {},
                     .ended = 0,
                     .begin_ps = (*built)->now_ps(),
                     .end_ps = 0,
                     .timeout = std::chrono::seconds(o.timeout_s),
                     .signs = 0};
  for (unsigned r = 0; r < o.ranks; ++r)
    ranks.all.push_back(
        std::make_unique<rank>(ranks, r,
                               rank::process{memories[r].first(sizes.host), sizes.gpu, node_of(**built, r),
                                             std::move(p->links[r + 1].handle), std::move(p->ends[r + 1].handle)}));
  const std::string fault = simulate(**built, ranks);
  if (o.report)
    fmt::print(stderr, "ggas-simulator: {} ranks, platform {}, nic {}, seed {}: {} ps simulated\n", o.ranks,
               o.nodes.platform, o.nodes.nic, o.nodes.seed, ranks.end_ps - ranks.begin_ps);
  ranks.all.clear();  // their cores before the system
  return fault;
}

int run(const options& o, job j) {
  const auto sizes = memory_of_a_rank(o.nodes);
  if (!sizes) {
    fmt::print(stderr, "ggas-simulator: {}\n", sizes.error());
    return 2;
  }
  j.rank = 0;
  ++j.size;
  j.name += ".sim";
  j.timeout_ns = ~uint64_t{0};  // as long as the launcher lives
  for (std::string said;;) {
    const auto served = serve(j, o, *sizes);
    if (served && served->empty()) continue;
    const std::string& why = served ? *served : served.error();
    if (why != said) fmt::print(stderr, "ggas-simulator: {}\n", why);  // once for all ranks that are still to come
    said = why;
    if (served) return 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace
}  // namespace ggas::simulator

int main(int argc, char** argv) {
  using namespace ggas::simulator;
  options o;
  CLI::App app("Simulates the nodes of a job whose ranks are processes of this computer. Started by ggas-run --sim.");
  app.add_option("--platform", o.nodes.platform, "name in sim/platforms, or path of a .toml");
  app.add_option("--set", o.nodes.settings, "table.key=value over the platform's file; repeatable")
      ->allow_extra_args(false);
  app.add_option("--nic", o.nodes.nic, "model, or rtl (64 ranks at most)");
  app.add_option("--topology", o.nodes.topology,
                 "who is joined to whom: auto, full, ring, mesh:, torus: (docs/network.md); with switches fat-tree:, "
                 "leaf-spine:, dragonfly: or a file (docs/open-networks.md)")
      ->capture_default_str();
  app.footer(examples);
  app.add_option("--seed", o.nodes.seed, "of what is random");
  app.add_option("--fault", o.nodes.faults, "what a wire or node does, and when (docs/simulator.md); repeatable")
      ->allow_extra_args(false);
  app.add_option("--timeout", o.timeout_s, "seconds that a rank may run without a call of the library")
      ->check(CLI::Range(1u, 1'000'000u));
  app.add_flag("--report", o.report, "say how long the simulated time was");
  CLI11_PARSE(app, argc, argv);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // it ends with its launcher
  if (getppid() == 1) return 0;
  std::string why;
  const ggas::job j = ggas::job::from_environment(why);
  if (!why.empty() || j.alone() || j.size > 1023) {
    fmt::print(stderr, "ggas-simulator: {}\n", !why.empty() ? why : "the environment names no job of 1 to 1023 ranks");
    return 2;
  }
  o.ranks = unsigned(j.size);
  return run(o, j);
}
