// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include "sim/fabric/graph/readers.hpp"

namespace ggas::fabric {

namespace {

constexpr unsigned usual_cycles = 1, most_cycles = 1'000'000;

class anynet {
 public:
  // Empty, or what is wrong with the line.
  std::string line(const std::string& text) {
    std::istringstream words(text);
    std::string word;
    if (!(words >> word)) return "";
    if (!is_kind(word)) return fmt::format("'{}': a line begins with router or node", word);
    unsigned head = 0;
    const bool router = word == "router";
    if (std::string wrong = number(words, word, head); !wrong.empty()) return wrong;
    if (router) routers_ = std::max(routers_, head + 1);
    while (words >> word) {
      if (!is_kind(word)) return fmt::format("'{}': expected router or node", word);
      const bool to_router = word == "router";
      unsigned body = 0, cycles = usual_cycles;
      if (std::string wrong = number(words, word, body); !wrong.empty()) return wrong;
      if (std::string wrong = latency(words, cycles); !wrong.empty()) return wrong;
      if (std::string wrong = channel(router, head, to_router, body, cycles); !wrong.empty()) return wrong;
    }
    return "";
  }
  made_graph end(std::string_view file) const {
    unsigned next = 0;
    for (const auto& [node, home] : homes_)
      if (node != next++)
        return std::unexpected(fmt::format("{}: node {} is missing: they are numbered from 0", file, next - 1));
    if (homes_.size() + routers_ > graph::most_vertices)
      return std::unexpected(fmt::format("{}: more than {} nodes and routers", file, graph::most_vertices));
    graph g(unsigned(homes_.size()), routers_);
    const auto with = [](unsigned cycles) { return cable{.latency_flits = cycles}; };
    for (const auto& [node, home] : homes_)
      g.connect(g.nics() + home.router, node, with(home.cycles), with(home.cycles));
    for (const auto& [ends, cycles] : channels_) {
      const auto back = channels_.find({ends.second, ends.first});
      const unsigned of_back = back == channels_.end() ? usual_cycles : back->second;
      if (back == channels_.end() || ends.first < ends.second)
        g.connect(g.nics() + ends.first, g.nics() + ends.second, with(cycles), with(of_back));
    }
    return g;
  }

 private:
  struct home {
    unsigned router, cycles;
  };
  static bool is_kind(const std::string& word) { return word == "router" || word == "node"; }
  static bool whole(const std::string& word, unsigned& out) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    return error == std::errc{} && end == word.data() + word.size();
  }
  static std::string number(std::istringstream& words, const std::string& kind, unsigned& out) {
    std::string word;
    if (!(words >> word)) return fmt::format("{} without a number", kind);
    if (whole(word, out) && out < graph::most_vertices) return "";
    return fmt::format("{} '{}': must be a number below {}", kind, word, graph::most_vertices);
  }
  // May be missing.
  static std::string latency(std::istringstream& words, unsigned& out) {
    const auto before = words.tellg();
    std::string word;
    if (!(words >> word)) return "";
    if (is_kind(word)) {
      words.seekg(before);
      return "";
    }
    if (whole(word, out) && out >= 1 && out <= most_cycles) return "";
    return fmt::format("latency '{}': must be 1 to {} cycles", word, most_cycles);
  }
  std::string channel(bool router, unsigned head, bool to_router, unsigned body, unsigned cycles) {
    if (!router && !to_router) return fmt::format("node {} is connected to node {}: it needs a router", head, body);
    if (router && to_router) {
      if (head == body) return fmt::format("router {} is connected to itself", head);
      routers_ = std::max(routers_, body + 1);
      if (!channels_.emplace(std::pair{head, body}, cycles).second)
        return fmt::format("router {} has a second channel to router {}: BookSim has one", head, body);
      return "";
    }
    const unsigned node = router ? body : head, at = router ? head : body;
    routers_ = std::max(routers_, at + 1);
    const auto [known, fresh] = homes_.emplace(node, home{at, cycles});
    if (!fresh && known->second.router != at)
      return fmt::format("node {} is at router {} already, and cannot be at router {}", node, known->second.router, at);
    if (cycles != usual_cycles) known->second.cycles = cycles;
    return "";
  }

  unsigned routers_ = 0;
  std::map<unsigned, home> homes_;                              // by node
  std::map<std::pair<unsigned, unsigned>, unsigned> channels_;  // cycles by routers, from and to
};

}  // namespace

made_graph read_anynet(std::string_view text, std::string_view file) {
  anynet net;
  std::istringstream lines{std::string(text)};
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (std::string wrong = net.line(line); !wrong.empty())
      return std::unexpected(fmt::format("{}:{}: {}", file, number, wrong));
  }
  return net.end(file);
}

}  // namespace ggas::fabric
