// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace/chakra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include "benchmarks/trace/collectives.hpp"

namespace ggas::bench {

namespace {

constexpr uint64_t most_micros = most_calc_ns / 1000, most_tag = INT32_MAX;
constexpr uint32_t no_cpu = 0;  // what takes no time waits for no computation

// The k-th collective of a group is the same on all its ranks.
struct group {
  std::vector<uint32_t> ranks;
  std::vector<const chakra_node*> collectives;  // as the first rank has them
  std::vector<uint32_t> tags;
};

class planner {
 public:
  planner(const std::vector<std::vector<chakra_node>>& ranks, const std::vector<std::string>& names)
      : ranks_(ranks), names_(names) {
    out_.ranks.resize(ranks.size());
  }

  schedule plan() {
    for (rank_ = 0; rank_ < ranks_.size(); ++rank_)
      for (const chakra_node& n : ranks_[rank_]) check(n);
    find_groups();
    for (rank_ = 0; rank_ < ranks_.size(); ++rank_) {
      add_nodes();
      add_dependencies();
    }
    if (const auto fault = check_schedule(out_)) {
      const uint64_t place = out_.ranks[fault->rank][fault->op].place;
      const auto& nodes = ranks_[fault->rank];
      throw bad_schedule{
          chakra_wrong(names_[fault->rank], *std::ranges::find(nodes, place, &chakra_node::place), fault->rule)};
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const chakra_node& n, std::string_view rule) const {
    throw bad_schedule{chakra_wrong(names_[rank_], n, rule)};
  }
  void check(const chakra_node& n) const {
    if (n.type == chakra_type::invalid || n.type > chakra_type::collective)
      fail(n, fmt::format("unknown type {}", uint32_t(n.type)));
    if (n.micros > most_micros) fail(n, fmt::format("duration_micros {}: at most {}", n.micros, most_micros));
    const bool works =
        n.type == chakra_type::comp || n.type == chakra_type::mem_load || n.type == chakra_type::mem_store;
    if (works && n.micros == 0 && (n.num_ops != 0 || (n.type != chakra_type::comp && n.tensor_size != 0)))
      fail(n, "duration_micros is missing: how long its work takes is not known");
    if (n.type == chakra_type::send || n.type == chakra_type::recv) check_message(n);
    if (n.type == chakra_type::collective) check_collective(n);
  }
  void check_size(const chakra_node& n) const {
    if (!n.comm_size) fail(n, "attribute comm_size is missing");
    const uint64_t least = n.type == chakra_type::collective;  // a message may have no bytes
    if (*n.comm_size < least || *n.comm_size > most_message_bytes)
      fail(n, fmt::format("comm_size {}: expected {} to {}", *n.comm_size, least, most_message_bytes));
  }
  void check_message(const chakra_node& n) const {
    check_size(n);
    const bool sends = n.type == chakra_type::send;
    const char* const key = sends ? "comm_dst" : "comm_src";
    const auto peer = sends ? n.comm_dst : n.comm_src;
    if (!peer) fail(n, fmt::format("attribute {} is missing", key));
    if (*peer >= ranks_.size()) fail(n, fmt::format("{} {}: the trace has {} ranks", key, *peer, ranks_.size()));
    if (n.comm_tag > most_tag) fail(n, fmt::format("comm_tag {}: at most {}", n.comm_tag, most_tag));
  }
  void check_collective(const chakra_node& n) const {
    if (!n.comm_type) fail(n, "attribute comm_type is missing");
    if (*n.comm_type > uint32_t(chakra_collective::barrier)) fail(n, fmt::format("unknown comm_type {}", *n.comm_type));
    if (*n.comm_type != uint32_t(chakra_collective::barrier)) check_size(n);
  }

  // A group without a name is every member. The others are those that name it.
  void find_groups() {
    uint64_t tag = 0;
    for (rank_ = 0; rank_ < ranks_.size(); ++rank_) {
      groups_[""].ranks.push_back(rank_);
      std::map<std::string_view, size_t> count;
      for (const chakra_node& n : ranks_[rank_]) {
        tag = std::max(tag, n.comm_tag);
        if (n.type == chakra_type::collective) match(n, count[n.pg_name]++);
      }
      for (auto& [name, g] : groups_)
        if (std::ranges::binary_search(g.ranks, rank_) && count[name] < g.collectives.size())
          fail(*g.collectives[count[name]], fmt::format("collective of group '{}' in {}, which this rank does not have",
                                                        name, names_[g.ranks.front()]));
    }
    for (auto& [name, g] : groups_)
      for (size_t i = 0; i < g.collectives.size(); ++i) g.tags.push_back(uint32_t(++tag));
  }
  // This rank's k-th collective of its group, as the group's first rank has it.
  void match(const chakra_node& n, size_t k) {
    group& g = groups_[n.pg_name];
    if (!std::ranges::binary_search(g.ranks, rank_)) g.ranks.push_back(rank_);
    if (g.ranks.front() == rank_) return g.collectives.push_back(&n);
    if (k >= g.collectives.size())
      fail(n, fmt::format("collective {} of group '{}': {} has {}", k + 1, n.pg_name, names_[g.ranks.front()],
                          g.collectives.size()));
    const chakra_node& first = *g.collectives[k];
    if (n.comm_type != first.comm_type || n.comm_size != first.comm_size)
      fail(n, fmt::format("collective {} of group '{}': in {} it has another comm_type or comm_size", k + 1, n.pg_name,
                          names_[g.ranks.front()]));
  }

  void add_nodes() {
    std::map<std::string_view, size_t> count;
    std::map<std::pair<bool, uint64_t>, uint32_t> cpus;  // threads of the processor, streams of the GPU
    nodes_.clear();
    for (const chakra_node& n : ranks_[rank_]) {
      const uint32_t begin = add(n);
      span s{begin, begin};
      if (n.type == chakra_type::collective) {
        s.end = add(n);
        add_collective_of(n, count[n.pg_name]++, s);
      } else if (n.type == chakra_type::send || n.type == chakra_type::recv) {
        schedule_op& op = ops()[begin];
        const bool sends = n.type == chakra_type::send;
        op.what = sends ? schedule_op::kind::send : schedule_op::kind::recv;
        op.amount = *n.comm_size;
        op.peer = uint32_t(sends ? *n.comm_dst : *n.comm_src);
        op.tag = uint32_t(n.comm_tag);
      } else if (n.micros != 0 && n.type != chakra_type::metadata) {
        ops()[begin].amount = n.micros * 1000;
        const auto known = cpus.try_emplace({n.is_cpu_op, n.is_cpu_op ? n.tid : n.stream}, uint32_t(cpus.size() + 1));
        ops()[begin].cpu = known.first->second;
      }
      if (!nodes_.emplace(n.id, s).second) fail(n, "this id a second time");
    }
  }
  void add_collective_of(const chakra_node& n, size_t k, const auto& s) {
    const group& g = groups_[n.pg_name];
    const auto me = std::ranges::lower_bound(g.ranks, rank_) - g.ranks.begin();
    add_collective({ops(), g.ranks, uint32_t(me), g.tags[k], n.place, s.begin, s.end}, chakra_collective(*n.comm_type),
                   n.comm_size.value_or(0));
  }
  void add_dependencies() {
    for (const chakra_node& n : ranks_[rank_])
      for (const uint64_t id : n.data_deps) {
        const auto first = nodes_.find(id);
        if (first == nodes_.end()) fail(n, fmt::format("waits for node {}, which is not in the file", id));
        after(ops(), first->second.end, nodes_[n.id].begin);
      }
  }

  std::vector<schedule_op>& ops() { return out_.ranks[rank_]; }
  uint32_t add(const chakra_node& n) {
    schedule_op op;
    op.cpu = no_cpu;
    op.place = n.place;
    ops().push_back(std::move(op));
    return uint32_t(ops().size() - 1);
  }

  struct span {
    uint32_t begin, end;  // operations
  };
  const std::vector<std::vector<chakra_node>>& ranks_;
  const std::vector<std::string>& names_;
  uint32_t rank_ = 0;
  std::map<std::string, group, std::less<>> groups_;
  std::unordered_map<uint64_t, span> nodes_;  // of the rank, by id
  schedule out_;
};

// STEP.7.et: 7. `end` is that of the name, with its dot.
std::optional<uint64_t> rank_of(const std::string& name, const std::string& stem, const std::string& end) {
  if (!name.starts_with(stem + ".") || !name.ends_with(end) || name.size() < stem.size() + 2 + end.size()) return {};
  const char* const digits = name.data() + stem.size() + 1;
  uint64_t rank = 0;
  const auto [behind, code] = std::from_chars(digits, name.data() + name.size() - end.size(), rank);
  if (code != std::errc{} || name != fmt::format("{}.{}{}", stem, rank, end)) return {};
  return rank;
}

std::set<uint64_t> ranks_beside(const std::filesystem::path& file) {
  std::set<uint64_t> ranks;
  std::error_code failed;
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (const auto rank = rank_of(entry.path().filename().string(), file.stem().string(), file.extension().string()))
      ranks.insert(*rank);
  return ranks;
}

std::vector<chakra_node> read_rank(const std::string& name) {
  std::error_code ignored;
  std::ifstream in(name, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(name, ignored))
    throw bad_schedule{fmt::format("trace '{}': cannot be read", name)};
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  auto nodes = name.ends_with(".json") ? parse_chakra_json(bytes, name) : parse_chakra(bytes, name);
  if (!nodes) throw bad_schedule{nodes.error()};
  return std::move(*nodes);
}

}  // namespace

std::expected<schedule, std::string> plan_chakra(const std::vector<std::vector<chakra_node>>& ranks,
                                                 const std::vector<std::string>& names) {
  try {
    return planner(ranks, names).plan();
  } catch (const bad_schedule& w) {
    return std::unexpected(w.text);
  }
}

std::expected<schedule, std::string> read_chakra(const std::filesystem::path& file) {
  const auto found = ranks_beside(file);
  const std::string stem = (file.parent_path() / file.stem()).string(), end = file.extension().string();
  if (found.empty())
    return std::unexpected(
        fmt::format("trace '{}': there is no {}.0{}: a trace has a file for each rank", file.string(), stem, end));
  if (*found.rbegin() >= most_ranks)
    return std::unexpected(fmt::format("{}.{}{}: at most {} ranks", stem, *found.rbegin(), end, most_ranks));
  std::vector<std::vector<chakra_node>> ranks;
  std::vector<std::string> names;
  try {
    for (uint64_t r = 0; r <= *found.rbegin(); ++r) {
      names.push_back(fmt::format("{}.{}{}", stem, r, end));
      if (!found.contains(r))
        throw bad_schedule{fmt::format("{}: rank {} is missing, the highest is {}", names.back(), r, *found.rbegin())};
      ranks.push_back(read_rank(names.back()));
    }
  } catch (const bad_schedule& w) {
    return std::unexpected(w.text);
  }
  return plan_chakra(ranks, names);
}

}  // namespace ggas::bench
