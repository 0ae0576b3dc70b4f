// SPDX-License-Identifier: Apache-2.0
#include "userlib/src/report/call_trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>

#include "ggas/report.hpp"
#include "ggas/status.hpp"

namespace ggas::userlib {
namespace {

struct decoded {
  uint64_t at_ns;
  bool ends;
  call_id call;
  ggas_status status;
  uint64_t block, thread;
  explicit decoded(const call_event& e)
      : at_ns(e.at_ns),
        ends((e.what >> 62 & 1) != 0),
        call(static_cast<call_id>(e.what >> 56 & 63)),
        status(static_cast<ggas_status>(e.what >> 48 & 255)),
        block(e.what >> 16 & 0xffffffff),
        thread(e.what & 0xffff) {}
};

// In the order of their places in the ring; those that a kernel was stopped in the middle of are left out.
std::vector<decoded> events_of(const traced_node& n) {
  std::vector<decoded> all;
  const uint64_t room = n.ring.size();
  for (uint64_t i = n.events > room ? n.events - room : 0; i < n.events; ++i) {
    const call_event& e = n.ring[i % room];
    if (e.what >> 63) all.emplace_back(e);
  }
  return all;
}

// Microseconds with all nanoseconds.
std::string us(uint64_t ns) {
  std::string rest = std::to_string(ns % 1000);
  return std::to_string(ns / 1000) + "." + std::string(3 - rest.size(), '0') + rest;
}

class json {
 public:
  explicit json(const std::filesystem::path& file) : out_(file) {
    out_ << R"({"displayTimeUnit":"ns","traceEvents":[)";
  }
  void add(const std::string& event) {
    out_ << (first_ ? "\n" : ",\n") << event;
    first_ = false;
  }
  bool finish() {
    out_ << "\n]}\n";
    out_.close();
    return !out_.fail();
  }

 private:
  std::ofstream out_;
  bool first_ = true;
};

// A track for each thread that called; a call inside another one, as a test may make it, lies in its slice.
class node_slices {
 public:
  node_slices(json& out, const traced_node& n, uint64_t from_ns)
      : out_(out), node_(std::to_string(n.node)), from_(from_ns) {
    out_.add(R"({"ph":"M","name":"process_name","pid":)" + node_ + R"(,"args":{"name":"node )" + node_ + "\"}}");
    uint64_t last = from_ns;
    for (const decoded& e : events_of(n)) {
      last = std::max(last, e.at_ns);
      e.ends ? end(e) : begin(e);
    }
    for (const auto& [who, open] : open_)
      for (const decoded& e : open) slice(e, last, "not ended");
  }

 private:
  using caller = std::pair<uint64_t, uint64_t>;
  void begin(const decoded& e) {
    const auto [at, fresh] = tracks_.try_emplace({e.block, e.thread}, tracks_.size() + 1);
    if (fresh)
      out_.add(R"({"ph":"M","name":"thread_name","pid":)" + node_ + R"(,"tid":)" + std::to_string(at->second) +
               R"(,"args":{"name":"block )" + std::to_string(e.block) + " thread " + std::to_string(e.thread) + "\"}}");
    open_[at->first].push_back(e);
  }
  void end(const decoded& e) {
    const auto at = open_.find({e.block, e.thread});
    if (at == open_.end() || at->second.empty() || at->second.back().call != e.call) return;  // its beginning is gone
    slice(at->second.back(), e.at_ns, ggas_status_text(e.status));
    at->second.pop_back();
  }
  void slice(const decoded& e, uint64_t end_ns, const char* status) {
    out_.add(R"({"ph":"X","name":")" + std::string(name_of(e.call)) + R"(","pid":)" + node_ + R"(,"tid":)" +
             std::to_string(tracks_.at({e.block, e.thread})) + R"(,"ts":)" + us(e.at_ns - from_) + R"(,"dur":)" +
             us(end_ns - std::min(end_ns, e.at_ns)) + R"(,"args":{"status":")" + status + "\"}}");
  }

  json& out_;
  const std::string node_;
  const uint64_t from_;
  std::map<caller, uint64_t> tracks_;
  std::map<caller, std::vector<decoded>> open_;
};

}  // namespace

std::filesystem::path next_trace_file(int rank) {
  static std::atomic<unsigned> clusters = 0;
  const char* const name = std::getenv("GGAS_TRACE");
  if (!name || !*name) return {};
  std::filesystem::path file = name;
  std::string end;
  if (rank >= 0) end.append(".rank").append(std::to_string(rank));
  if (const unsigned number = ++clusters; number > 1) end.append(1, '.').append(std::to_string(number));
  end += file.extension().string();
  return file.replace_extension(end);
}

std::string write_call_trace(const std::filesystem::path& file, const std::vector<traced_node>& nodes) {
  uint64_t from = ~uint64_t{0};
  for (const traced_node& n : nodes)
    for (const decoded& e : events_of(n)) from = std::min(from, e.at_ns);
  json out(file);
  for (const traced_node& n : nodes) node_slices(out, n, from);
  return out.finish() ? "" : "trace '" + file.string() + "' cannot be written";
}

}  // namespace ggas::userlib
