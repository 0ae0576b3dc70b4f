// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/job/meet.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/base/module.hpp"
#include "userlib/start/blobs.hpp"
#include "userlib/start/secret.hpp"
#include "userlib/start/words.hpp"

namespace ggas::library::start {

namespace {

constexpr size_t most_letters = 255;  // of a computer's id and name

std::string value(const char* variable) {
  const char* const v = std::getenv(variable);
  return v ? v : "";
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char c : bytes) (text += "0123456789abcdef"[c / 16]) += "0123456789abcdef"[c % 16];
  return text;
}

// Abstract socket names are valid in one network namespace.
std::string network() {
  char text[PATH_MAX];
  const ssize_t n = readlink("/proc/self/ns/net", text, sizeof text);
  return {text, n > 0 ? static_cast<size_t>(n) : 0};
}

ggas_rc from_launcher(uint64_t timeout_ns, job& j) {
  std::string why;
  j = job::from_environment(why);
  if (!why.empty()) return fail_with(GGAS_ERR_SYSTEM, why);
  if (j.alone()) j = {.rank = 0, .size = 1, .name = "alone"};
  j.timeout_ns = timeout_ns;
  return GGAS_OK;
}

// Rank 0 names the job, and gives it a secret where the launcher has not.
std::string name_and_secret() {
  const std::string secret = value("GGAS_SECRET");
  return "met." + hex(userlib::nonce()) + (secret.empty() ? ' ' + hex(userlib::nonce()) : "");
}

attempt<> take_job(const std::string& reported, job& j) {
  const size_t space = reported.find(' ');
  j.name = reported.substr(0, space);
  j.secret = space == reported.npos ? value("GGAS_SECRET") : reported.substr(space + 1);
  if (j.name.empty() || j.name.size() > 64 || j.secret.empty() || !userlib::secret::read(j.secret))
    return std::unexpected("rank 0 gave the job no name or no secret");
  return {};
}

// All are where rank 0 is, or a text that says who is not.
attempt<> all_here(blobs& b, deadline until) {
  std::string first, elsewhere;
  std::vector<int> others;
  for (int r = 0; r < b.size(); ++r) {
    const auto reported = b.get(r, "computer", until);
    if (!reported) return std::unexpected(reported.error());
    if (r == 0) first = *reported;
    if (reported->substr(0, reported->find('\n')) == first.substr(0, first.find('\n'))) continue;
    if (others.empty()) elsewhere = reported->substr(reported->find('\n') + 1, most_letters);
    others.push_back(r);
  }
  if (others.empty()) return {};
  return std::unexpected("no way to other computers: " + userlib::words::ranks(others) +
                         (others.size() == 1 ? " is" : " are") + " not where rank 0 is ('" + elsewhere + "', '" +
                         first.substr(first.find('\n') + 1, most_letters) +
                         "'); transport shm reaches one computer, and there is no NIC (GGAS_TRANSPORT=hw)");
}

attempt<> meet(blobs& b, deadline until, bool have_nics, job& j) {
  const computer here = this_computer();
  attempt<> done = b.put("computer", here.id + "\n" + here.name);
  if (done && b.rank() == 0) done = b.put("job", name_and_secret());
  if (done) done = b.fence(until);
  if (done && !have_nics) done = all_here(b, until);
  if (!done) return done;
  const auto reported = b.get(0, "job", until);
  if (!reported) return std::unexpected(reported.error());
  j.rank = b.rank();
  j.size = b.size();
  return take_job(*reported, j);
}

uint64_t rest_of(uint64_t timeout_ns, deadline until) {
  const auto left = std::chrono::nanoseconds(until - std::chrono::steady_clock::now()).count();
  return timeout_ns == GGAS_BLOCK ? timeout_ns : static_cast<uint64_t>(std::max<int64_t>(left, 0));
}

ggas_rc from_module(const std::string& way, const void* communicator, uint64_t timeout_ns, job& j,
                    std::unique_ptr<blobs>& met_by) {
  const std::string transport = value("GGAS_TRANSPORT");
  const bool have_nics = transport == "hw";
  if (!transport.empty() && transport != "shm" && !have_nics)
    return fail(GGAS_ERR_ARGUMENT, "start by '", way, "' with GGAS_TRANSPORT = '", transport, "': must be shm or hw");
  const deadline until = userlib::after(timeout_ns);
  const auto failed = [&](const std::string& why) {
    const bool late = std::chrono::steady_clock::now() >= until;
    return fail(late ? GGAS_TIMEOUT : GGAS_ERR_SYSTEM, "start by '", way, "': ", why);
  };
  std::string why;
  const auto make = reinterpret_cast<maker>(library::from_module("start", way, maker_name, why));
  std::unique_ptr<blobs> b(make ? make(communicator, until, why) : nullptr);
  if (!b) return failed(why);
  if (const auto met = meet(*b, until, have_nics, j); !met) return failed(met.error());
  j.timeout_ns = rest_of(timeout_ns, until);
  if (have_nics) met_by = std::move(b);
  return GGAS_OK;
}

}  // namespace

computer this_computer() {
  std::string id = value("GGAS_COMPUTER");
  if (id.empty()) {
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    id += ' ' + network();
  }
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  for (char& c : id)
    if (c == '\n') c = ' ';
  return {id.substr(0, most_letters), std::string(name).substr(0, most_letters)};
}

ggas_rc find_job(const char* way, const void* communicator, uint64_t timeout_ns, job& j, std::unique_ptr<blobs>& met) {
  const std::string asked = way ? way : value("GGAS_BOOTSTRAP");
  if (communicator && asked != "mpi")
    return fail(GGAS_ERR_ARGUMENT, "communicator: must be null, bootstrap is '", asked.substr(0, 64), "'");
  if (asked == "unix" || asked.empty()) return from_launcher(timeout_ns, j);
  if (asked != "tcp" && asked != "mpi" && asked != "pmix")
    return fail(GGAS_ERR_ARGUMENT, way ? "bootstrap '" : "GGAS_BOOTSTRAP = '", asked.substr(0, 64),
                "': must be unix, tcp, mpi or pmix");
  return from_module(asked, communicator, timeout_ns, j, met);
}

}  // namespace ggas::library::start
