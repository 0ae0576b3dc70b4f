// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/report_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace ggas::bench {

namespace {

using row = std::vector<std::string>;

std::string param_text(const nlohmann::ordered_json& v) {
  if (v.is_string()) return v.get<std::string>();
  return v.dump();
}

bool has_bound(const record& r) { return r.limit && !r.limit->goal; }
bool has_goal(const record& r) { return r.limit && r.limit->goal; }

std::string limit_text(const record& r) {
  return fmt::format("{} {}", r.limit->at_most ? "≤" : "≥", human(r.limit->value, r.unit));
}

std::string goal_text(const record& r) {
  const double share = r.value / r.limit->value;
  if (r.limit->at_most ? share <= 1 : share >= 1) return "met";
  return fmt::format("missed by {:.1f} %", 100 * std::abs(share - 1));
}

std::string share_text(const record& r) {
  const double share = r.value / r.limit->value;
  // How many times the least time reads better than a share.
  return r.unit == "ns" && !r.limit->at_most ? fmt::format("{:.2f} ×", share) : fmt::format("{:.1f} %", 100 * share);
}

std::string deviation_text(const record& r) {
  if (!r.reference) return "";
  const double deviation = 100 * (r.value - r.reference->value) / r.reference->value;
  return deviation == 0 ? "exact" : fmt::format("{:+.1f} %", deviation);
}

// The spread of the seeds around the median.
std::string spread_text(const record& r) {
  if (!r.seeds || r.value == 0) return "";
  return fmt::format("{:+.1f} … {:+.1f} %", 100 * (r.seeds->least / r.value - 1), 100 * (r.seeds->most / r.value - 1));
}

std::string seeds_text(const record& r) {
  return r.seeds ? fmt::format("medians of {} seeds from {}", r.seeds->count, r.seed) : fmt::format("seed {}", r.seed);
}

struct columns_used {
  std::vector<std::string> params;
  bool metric = false, median = false, p99 = false, spread = false, reference = false, bound = false, goal = false;
};

columns_used find_columns(const std::vector<record>& records) {
  columns_used used;
  std::set<std::string> metrics;
  for (const record& r : records) {
    for (const auto& [key, value] : r.params.items()) {
      if (std::find(used.params.begin(), used.params.end(), key) == used.params.end()) used.params.push_back(key);
    }
    metrics.insert(r.metric);
    used.median |= r.p50.has_value() && *r.p50 != r.value;
    used.p99 |= r.p99.has_value();
    used.spread |= r.seeds.has_value();
    used.reference |= r.reference.has_value();
    used.bound |= has_bound(r);
    used.goal |= has_goal(r);
  }
  used.metric = metrics.size() > 1;
  return used;
}

row heading(const columns_used& used, const record& first) {
  row out{"variant"};
  out.insert(out.end(), used.params.begin(), used.params.end());
  if (used.metric) out.push_back("metric");
  out.push_back(used.metric ? "value" : first.metric);
  if (used.spread) out.push_back("spread");
  if (used.median) out.push_back("p50");
  if (used.p99) out.push_back("p99");
  if (used.reference) out.insert(out.end(), {"published", "deviation"});
  if (used.bound) out.insert(out.end(), {"bound", "of bound"});
  if (used.goal) out.insert(out.end(), {"goal", "is"});
  return out;
}

row line(const columns_used& used, const record& r) {
  row out{r.variant};
  for (const std::string& key : used.params) out.push_back(r.params.contains(key) ? param_text(r.params[key]) : "");
  if (used.metric) out.push_back(r.metric);
  out.push_back(human(r.value, r.unit));
  if (used.spread) out.push_back(spread_text(r));
  if (used.median) out.push_back(r.p50 ? human(*r.p50, r.unit) : "");
  if (used.p99) out.push_back(r.p99 ? human(*r.p99, r.unit) : "");
  if (used.reference) {
    out.push_back(r.reference ? fmt::format("{} ({})", human(r.reference->value, r.unit, 2), r.reference->source) : "");
    out.push_back(deviation_text(r));
  }
  if (used.bound) out.insert(out.end(), {has_bound(r) ? limit_text(r) : "", has_bound(r) ? share_text(r) : ""});
  if (used.goal) out.insert(out.end(), {has_goal(r) ? limit_text(r) : "", has_goal(r) ? goal_text(r) : ""});
  return out;
}

// The part of what is possible, 1 at the bound.
double nearness(const record& r) { return r.limit->at_most ? r.value / r.limit->value : r.limit->value / r.value; }

std::string bar(double share) {
  constexpr int width = 20;
  const int filled = static_cast<int>(std::lround(width * std::clamp(share, 0.0, 1.0)));
  std::string out;
  for (int i = 0; i < width; ++i) out += i < filled ? "█" : "░";
  return out;
}

std::string layout(const std::vector<row>& rows) {
  std::vector<size_t> width(rows.front().size(), 0);
  for (const row& r : rows) {
    for (size_t i = 0; i < r.size(); ++i) width[i] = std::max(width[i], columns(r[i]));
  }
  std::string out;
  for (const row& r : rows) {
    std::string text = "  ";
    for (size_t i = 0; i < r.size(); ++i) {
      const std::string pad(width[i] - columns(r[i]), ' ');
      text += i == 0 ? r[i] + pad : "   " + pad + r[i];
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + '\n';
  }
  return out;
}

}  // namespace

size_t columns(const std::string& s) {
  return static_cast<size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string table(const description& b, const std::vector<record>& records) {
  if (records.empty()) return {};
  const record& first = records.front();
  const columns_used used = find_columns(records);
  std::vector<row> rows{heading(used, first)};
  for (const record& r : records) rows.push_back(line(used, r));
  std::string where = first.provider == "shm" ? "measured, provider shm"
                      : first.provider != "sim"
                          ? fmt::format("measured, provider {}, {}", first.provider, first.platform)
                      : first.platform == "none"
                          ? fmt::format("simulated, provider sim, NIC alone ({})", first.nic)
                          : fmt::format("simulated, provider sim, platform {}, nic {}", first.platform, first.nic);
  std::string out = fmt::format("{}: {}\n  {}, nodes {}, {}\n", b.name, b.text, where, first.nodes, seeds_text(first));
  if (const std::string changed = first.run.overrides_text(); !changed.empty())
    out += fmt::format("  overridden: {}\n", changed);
  out += fmt::format("  run: {}; ", first.run.command);
  for (const auto& [path, digest] : first.run.files) out += fmt::format("{} {}; ", path, digest);
  out += fmt::format("{}, {}\n", commit, compiler);
  out += layout(rows);
  std::set<std::string> sources;
  for (const record& r : records) {
    if (r.limit) sources.insert(fmt::format("{}: {}", r.limit->goal ? "goal" : "bound", r.limit->source));
  }
  for (const std::string& s : sources) out += fmt::format("  {}\n", s);
  return out;
}

std::string overview(const std::vector<record>& records) {
  using way = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<way, const record*> best;
  std::vector<way> order;
  for (const record& r : records) {
    if (!has_bound(r) || r.value <= 0) continue;
    const way w{r.benchmark, r.variant, r.metric, r.params.contains("method") ? param_text(r.params["method"]) : ""};
    const record*& kept = best[w];
    if (!kept) order.push_back(w);
    if (!kept || nearness(r) > nearness(*kept)) kept = &r;
  }
  if (order.empty()) return {};
  std::vector<row> rows{{"benchmark", "variant", "at", "value", "bound", "of what is possible"}};
  for (const way& w : order) {
    const record& r = *best[w];
    std::string at;
    for (const char* key : {"method", "elements", "bytes", "blocks"}) {
      if (r.params.contains(key)) at += fmt::format("{}{} {}", at.empty() ? "" : ", ", key, param_text(r.params[key]));
    }
    rows.push_back({r.benchmark, r.variant, at, human(r.value, r.unit), human(r.limit->value, r.unit),
                    fmt::format("{} {:3.0f} %", bar(nearness(r)), 100 * nearness(r))});
  }
  return "how near to the bounds, each at its best point\n" + layout(rows);
}

progress::progress(size_t benchmarks)
    : terminal_(isatty(STDERR_FILENO) != 0), total_(benchmarks), begin_(std::chrono::steady_clock::now()) {}

progress::~progress() { clear(); }

void progress::show(const std::string& what, uint64_t sim_ns) {
  using namespace std::chrono;
  const auto now = steady_clock::now();
  if (!terminal_ || (shown_ && now - last_ < milliseconds(100))) return;
  last_ = now;
  shown_ = true;
  const double wall = duration<double>(now - begin_).count();
  const double share = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
  const double slowdown = sim_ns == 0 ? 0 : wall * 1e9 / static_cast<double>(sim_ns);
  const std::string simulated =
      sim_ns == 0 ? "" : fmt::format("{} simulated in ", human(static_cast<double>(sim_ns), "ns"));
  fmt::print(stderr, "\r\033[K{} {}/{}  {}  {}{:.0f} s{}", bar(share), done_, total_, what, simulated, wall,
             sim_ns == 0 ? "" : fmt::format(", 1 s = {:.0f} s", slowdown));
  std::fflush(stderr);
}

void progress::clear() {
  if (!shown_) return;
  shown_ = false;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace ggas::bench
