// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ggas::device {

namespace {

constexpr uint64_t soon_ps = 1'000'000;          // what happens within a microsecond is work; ticks are further apart
constexpr uint64_t slice_ps = 500'000;           // of work between two looks at the sockets
constexpr uint64_t catch_up_ps = 1'000'000'000;  // of waiting between two looks
constexpr int64_t ns_per_s = 1'000'000'000;

std::unexpected<std::string> system_error(const std::string& what) {
  return std::unexpected(fmt::format("{}: {}", what, std::strerror(errno)));
}

std::expected<file, std::string> listen_at(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path)
    return std::unexpected(
        fmt::format("{}: a socket's path has at most {} characters", path.string(), sizeof address.sun_path - 1));
  std::ranges::copy(path.native(), address.sun_path);
  file s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!s) return system_error("socket");
  std::error_code ignored;
  if (std::filesystem::is_socket(path, ignored)) std::filesystem::remove(path, ignored);  // of a server before
  if (bind(s.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) || ::listen(s.get(), 4))
    return system_error(path.string());
  return s;
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) / double(ns_per_s);
}

void say(const std::string& text) { fmt::print(stderr, "ggas-device: {}\n", text); }

}  // namespace

std::expected<std::unique_ptr<server>, std::string> server::create(server_config cfg) {
  std::unique_ptr<server> s(new server);
  if (cfg.sockets.size() != cfg.rig.nodes)
    return std::unexpected(fmt::format("{} sockets for {} nodes", cfg.sockets.size(), cfg.rig.nodes));
  s->cfg_ = std::move(cfg);
  std::vector<guest*> guests;
  const bar_sizes bars = rig_bars(s->cfg_.rig);
  for (unsigned n = 0; n < s->cfg_.rig.nodes; ++n) {
    s->devices_.push_back(std::make_unique<device>(s->cfg_.rig.plat.mps(), bars));
    guests.push_back(s->devices_.back().get());
  }
  auto made = rig::create(s->cfg_.rig, guests);
  if (!made) return std::unexpected(made.error());
  s->rig_ = std::move(*made);
  if (!s->cfg_.log.empty()) {
    auto log = tlp_log::open(s->cfg_.log, s->cfg_.log_header, [r = s->rig_.get()] { return r->kernel().now_ps(); });
    if (!log) return std::unexpected(log.error());
    s->log_ = std::move(*log);
    s->rig_->record(*s->log_);
  }
  s->attach();
  if (auto r = s->listen(); !r) return std::unexpected(r.error());
  return s;
}

server::~server() {
  for (const auto& path : cfg_.sockets) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

void server::attach() {
  for (unsigned n = 0; n < devices_.size(); ++n)
    devices_[n]->attach({.port = &rig_->port(n),
                         .reset = [this, n] { rig_->reset(n); },
                         .bus_master = [this, n](bool on) { rig_->bus_master(n, on); },
                         .answered =
                             [this] {
                               answered_ = true;
                               rig_->kernel().stop();
                             },
                         .log = log_.get(),
                         .node = n});
}

std::expected<void, std::string> server::listen() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&signals, s);
  stop_ = file(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!stop_) return system_error("eventfd");
  signals_ = file(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) return system_error("signalfd");
  for (const auto& path : cfg_.sockets) {
    auto s = listen_at(path);
    if (!s) return std::unexpected(s.error());
    listeners_.push_back(std::move(*s));
  }
  return {};
}

void server::stop() {
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
}

// Until a socket has something or the time is over; below zero: for ever.
std::expected<void, std::string> server::wait(int64_t timeout_ns) {
  std::vector<pollfd> fds{{stop_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  for (unsigned n = 0; n < devices_.size(); ++n) {
    fds.push_back({listeners_[n].get(), POLLIN, 0});
    if (!devices_[n]->connected()) continue;
    connection& c = devices_[n]->client();
    const int wanted = (devices_[n]->held_back() ? 0 : POLLIN) | (c.unsent() ? POLLOUT : 0);
    fds.push_back({c.fd(), short(wanted), 0});
  }
  const timespec limit{timeout_ns / ns_per_s, timeout_ns % ns_per_s};
  if (ppoll(fds.data(), fds.size(), timeout_ns < 0 ? nullptr : &limit, nullptr) < 0 && errno != EINTR)
    return system_error("ppoll");
  if (fds[0].revents) stopped_ = true;
  if (fds[1].revents) take_signals();
  return {};
}

void server::take_signals() {
  signalfd_siginfo s;
  while (::read(signals_.get(), &s, sizeof s) == sizeof s) {
    if (s.ssi_signo == SIGUSR1)
      cable_wanted_ = !cable_wanted_;
    else
      stopped_ = true;
  }
}

void server::plug_cable() {
  if (std::exchange(cable_, cable_wanted_) == cable_wanted_) return;
  say(cable_ ? "the cable is plugged in" : "the cable is pulled out");
  if (log_) log_->cable(cable_);
  rig_->cable(cable_);
}

void server::accept(unsigned n) {
  file client(accept4(listeners_[n].get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) return;
  if (devices_[n]->connected()) {
    say(fmt::format("node {}: another client was turned away: there is one already", n));
    return;
  }
  say(fmt::format("node {}: client connected", n));
  devices_[n]->connect(std::move(client));
}

void server::end(unsigned n, const std::string& why) {
  say(fmt::format("node {}: connection ended: {}", n, why.empty() ? "the client left" : why));
  devices_[n]->disconnect();
}

void server::serve_clients() {
  // Everything of this moment has happened before something new comes: a repeated run sees the same order.
  rig_->kernel().run_until([] { return false; }, 1);
  plug_cable();
  for (unsigned n = 0; n < devices_.size(); ++n) {
    accept(n);
    device& d = *devices_[n];
    if (!d.connected()) continue;
    auto r = d.client().flush();
    if (r) r = d.serve();
    if (!r) end(n, r.error());
    d.expire(wall_clock::now());
  }
}

// Runs the simulation for a while. Returns for how long nothing is to be done, in ns; below zero: for ever.
int64_t server::simulate() {
  const auto now = wall_clock::now();
  const double begun = thread_seconds();
  answered_ = false;
  const uint64_t next = rig_->kernel().next_activity_ps();
  int64_t idle_ns = 0;
  if (next <= soon_ps) {
    rig_->kernel().run_until([this] { return answered_; }, slice_ps);
    paced_ps_ = rig_->kernel().now_ps();
    paced_at_ = wall_clock::now();
  } else {
    idle_ns = follow(next, now);
  }
  simulating_s_ += thread_seconds() - begun;
  return idle_ns;
}

// Simulated time follows the wall clock. One that is too far after does not catch up.
int64_t server::follow(uint64_t next_ps, wall_clock::time_point now) {
  const uint64_t here = rig_->kernel().now_ps();
  const auto passed = uint64_t(std::chrono::nanoseconds(now - paced_at_).count()) * 1000;
  const uint64_t due = paced_ps_ + passed;
  if (due > here) {
    const uint64_t step = std::min(due - here, catch_up_ps);
    rig_->kernel().run_until([this] { return answered_; }, next_ps > step ? step : std::max(next_ps, soon_ps));
    if (due - here > catch_up_ps && next_ps <= step) {
      paced_ps_ = rig_->kernel().now_ps();
      paced_at_ = wall_clock::now();
    }
    if (next_ps <= step) return 0;
  }
  const bool reads = std::ranges::any_of(devices_, [](const auto& d) { return d->waits(); });
  const uint64_t ahead = here + next_ps - std::max(here, due);
  const int64_t until_next = int64_t(std::min<uint64_t>(ahead / 1000, 3600 * uint64_t(ns_per_s)));
  return std::min(until_next, reads ? 10'000'000 : until_next);
}

std::expected<void, std::string> server::run() {
  int64_t idle_ns = 0;
  while (!stopped_) {
    if (auto r = wait(idle_ns); !r) return std::unexpected(r.error());
    serve_clients();
    idle_ns = simulate();
  }
  for (unsigned n = 0; n < devices_.size(); ++n)
    if (devices_[n]->connected()) end(n, "the server was stopped");
  return end_log();
}

// NICs go on after the last thing that came from outside, so a repeated run must know for how long.
std::expected<void, std::string> server::end_log() {
  if (!log_) return {};
  rig_->kernel().run_until([] { return false; }, 1);  // as in serve_clients
  log_->end();
  return log_->finish();
}

server_stats server::stats() const {
  server_stats s{.cycles = rig_->cycles(), .simulating_s = simulating_s_, .strays = 0, .expired = 0, .interrupts = 0};
  for (unsigned n = 0; n < devices_.size(); ++n) {
    s.strays += rig_->port(n).stats().strays;
    s.interrupts += rig_->port(n).stats().interrupts;
    s.expired += devices_[n]->expired();
  }
  return s;
}

}  // namespace ggas::device
