// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/report/call_trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

#include "ggas/report.hpp"
#include "ggas/status.hpp"

namespace ggas::userlib {
namespace {

// In the order of their beginnings: of two that begin at once the longer one, which has the other inside, comes first.
std::vector<call_record> calls_of(const traced_node& n) {
  std::vector<call_record> all;
  std::ranges::copy_if(n.records, std::back_inserter(all), [](const call_record& r) { return r.what.call != 0; });
  const auto key = [](const call_record& r) {
    return std::tuple(r.when.began, ~r.when.ended, r.what.block, r.what.thread);
  };
  std::ranges::sort(all, {}, key);
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
  node_slices(json& out, int node) : out_(out), node_(std::to_string(node)) {
    out_.add(R"({"ph":"M","name":"process_name","pid":)" + node_ + R"(,"args":{"name":"node )" + node_ + "\"}}");
  }
  void add(const call_record& c, uint64_t from_ns) {
    const auto [began, ended] = c.when;
    out_.add(R"({"ph":"X","name":")" + std::string(name_of(static_cast<call_id>(c.what.call))) + R"(","pid":)" + node_ +
             R"(,"tid":)" + std::to_string(track_of(c.what)) + R"(,"ts":)" + us(began - from_ns) + R"(,"dur":)" +
             us(ended - began) + R"(,"args":{"status":")" + ggas_status_text(static_cast<ggas_status>(c.what.status)) +
             "\"}}");
  }

 private:
  size_t track_of(const call_facts& c) {
    const auto [at, fresh] = tracks_.try_emplace({c.block, c.thread}, tracks_.size() + 1);
    if (fresh)
      out_.add(R"({"ph":"M","name":"thread_name","pid":)" + node_ + R"(,"tid":)" + std::to_string(at->second) +
               R"(,"args":{"name":"block )" + std::to_string(c.block) + " thread " + std::to_string(c.thread) + "\"}}");
    return at->second;
  }

  json& out_;
  const std::string node_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> tracks_;  // of block and thread
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
  std::vector<std::vector<call_record>> calls;
  uint64_t from = ~uint64_t{0};
  for (const traced_node& n : nodes) {
    calls.push_back(calls_of(n));
    if (!calls.back().empty()) from = std::min(from, calls.back().front().when.began);
  }
  if (from == ~uint64_t{0})
    std::fprintf(
        stderr,
        "ggas: GGAS_TRACE: no call is in '%s': no kernel made one that may wait, or they were compiled without "
        "-DGGAS_TRACED, which kernels for GPUs need (docs/tracing.md)\n",
        file.c_str());
  json out(file);
  for (size_t i = 0; i < nodes.size(); ++i) {
    node_slices slices(out, nodes[i].node);
    for (const call_record& c : calls[i]) slices.add(c, from);
  }
  return out.finish() ? "" : "trace '" + file.string() + "' cannot be written";
}

}  // namespace ggas::userlib
