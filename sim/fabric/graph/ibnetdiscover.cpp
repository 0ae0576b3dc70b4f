// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

#include "sim/fabric/graph/readers.hpp"

namespace ggas::fabric {

namespace {

// Data rate of a lane in Gbit/s, without the line code.
const std::map<std::string, double, std::less<>> lane_rates{
    {"SDR", 2},  {"DDR", 4},  {"QDR", 8},   {"FDR10", 10}, {"FDR", 14e9 * 64 / 66 / 1e9},
    {"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};

struct remote {
  std::string id;
  unsigned port, line;
  double bits_per_second;  // 0: not said
};
struct record {
  bool is_switch;
  unsigned ports, line;
  std::string id, text;  // text: what people call it
  std::map<unsigned, remote> at;
};

class dump_reader {
 public:
  explicit dump_reader(std::string_view file) : file_(file) {}

  made_graph read(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; wrong_.empty() && std::getline(lines, line);) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      take(line);
    }
    if (wrong_.empty()) check_ends();
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return build();
  }

 private:
  void wrong(unsigned line, std::string_view what) {
    if (wrong_.empty()) wrong_ = fmt::format("{}:{}: {}", file_, line, what);
  }

  void take(const std::string& line) {
    static const std::regex head(R"re(^(Switch|Ca|Hca|Rt)\s+(\d+)\s*"([^"]+)"\s*(?:#?\s*"([^"]*)")?.*)re");
    static const std::regex port(R"re(^\[(\d+)\](?:\([^)]*\))?\s*"([^"]+)"(?:\[(\d+)\])?(.*))re");
    static const std::regex ignored(R"re(^\s*(#.*)?$|^\s*\w+\s*[=+].*|^DR path.*)re");
    std::smatch m;
    if (std::regex_match(line, m, head))
      begin(m[1], m[2], m[3], m[4]);
    else if (std::regex_match(line, m, port))
      connect(m[1], m[2], m[3].matched ? m[3].str() : "1", m[4]);
    else if (!std::regex_match(line, ignored))
      wrong(line_, fmt::format("'{}': expected Switch, Ca or a port, as in [1] \"S-1\"[2]", line));
  }
  void begin(const std::string& kind, const std::string& ports, const std::string& id, const std::string& text) {
    if (kind == "Rt") return wrong(line_, fmt::format("\"{}\": routers of InfiniBand are not simulated", id));
    if (number_of_.contains(id)) return wrong(line_, fmt::format("\"{}\" is described twice", id));
    const unsigned n = number(ports, 255);
    number_of_[id] = records_.size();
    records_.push_back({kind == "Switch", n, line_, id, text, {}});
  }
  unsigned number(const std::string& digits, unsigned most) {
    const unsigned long value = digits.size() < 9 ? std::stoul(digits) : ~0ul;
    if (value < 1 || value > most) wrong(line_, fmt::format("port or ports '{}': must be 1 to {}", digits, most));
    return unsigned(value);
  }
  void connect(const std::string& port, const std::string& id, const std::string& there, const std::string& rest) {
    if (records_.empty()) return wrong(line_, "a port before the first Switch or Ca");
    record& r = records_.back();
    const unsigned at = number(port, r.ports), far = number(there, 255);
    if (!r.at.emplace(at, remote{id, far, line_, rate(rest)}).second)
      wrong(line_, fmt::format("port {} of \"{}\" is connected twice", at, r.id));
  }
  // "4xEDR" in the comment.
  double rate(const std::string& text) {
    static const std::regex form(R"re((\d+)x(\w+)\s*$)re");
    std::smatch m;
    if (!std::regex_search(text, m, form)) return 0;
    const auto lane = lane_rates.find(m[2].str());
    if (lane != lane_rates.end()) return number(m[1], 12) * lane->second * 1e9;
    wrong(line_, fmt::format("rate '{}': lanes are SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR", m.str()));
    return 0;
  }

  const record* find(const std::string& id) const {
    const auto found = number_of_.find(id);
    return found == number_of_.end() ? nullptr : &records_[found->second];
  }
  // Both ends may name a cable, or one of them alone.
  void check_ends() {
    std::map<std::pair<std::string, unsigned>, std::pair<std::string, unsigned>> far;
    for (const record& r : records_)
      for (const auto& [port, to] : r.at) {
        const record* there = find(to.id);
        if (!there) return wrong(to.line, fmt::format("\"{}\" is described nowhere", to.id));
        if (to.port > there->ports)
          return wrong(to.line, fmt::format("port {}: \"{}\" has {}", to.port, to.id, there->ports));
        const std::pair here{r.id, port}, other{to.id, to.port};
        for (const auto& [a, b] : {std::pair{here, other}, std::pair{other, here}})
          if (const auto known = far.emplace(a, b).first; known->second != b)
            return wrong(to.line, fmt::format("port {} of \"{}\" is connected twice: to \"{}\" and \"{}\"", a.second,
                                              a.first, known->second.first, b.first));
      }
  }
  // Aggregation nodes are units in switches, which ibnetdiscover lists as channel adapters.
  static bool left_out(const record& r) { return !r.is_switch && r.text.find("Aggregation Node") != r.text.npos; }

  made_graph build() const {
    std::map<std::string, unsigned, std::less<>> vertex;
    unsigned nics = 0, all = 0;
    for (const bool switches : {false, true}) {
      for (const record& r : records_)
        if (r.is_switch == switches && !left_out(r)) vertex[r.id] = all++;
      if (!switches) nics = all;
    }
    graph g(nics, all - nics);
    for (const record& r : records_) {
      if (left_out(r)) continue;
      g.name(vertex[r.id], r.text.empty() ? r.id : r.text);
      for (const auto& [port, to] : r.at) {
        const record& there = *find(to.id);
        const auto back = there.at.find(to.port);
        const bool named_twice = back != there.at.end();
        if (left_out(there) || (named_twice && std::pair(to.id, to.port) < std::pair(r.id, port))) continue;
        const double rate = to.bits_per_second != 0 || !named_twice ? to.bits_per_second : back->second.bits_per_second;
        g.connect(vertex[r.id], vertex[to.id], {.bits_per_second = rate}, {.bits_per_second = rate});
      }
    }
    return g;
  }

  std::string_view file_;
  unsigned line_ = 0;
  std::string wrong_;
  std::vector<record> records_;
  std::map<std::string, size_t, std::less<>> number_of_;
};

}  // namespace

made_graph read_ibnetdiscover(std::string_view text, std::string_view file) { return dump_reader(file).read(text); }

}  // namespace ggas::fabric
