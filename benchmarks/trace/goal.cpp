// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ggas::bench {

namespace {

class parser {
 public:
  explicit parser(std::string file) : file_(std::move(file)) {}

  // false: error() says why.
  bool line(std::string text) {
    ++line_;
    if (const size_t comment = text.find("//"); comment != text.npos) text.resize(comment);
    for (char& c : text)
      if (c == ':' || c == '\t' || c == '\r') c = ' ';
    words_ = split(text);
    if (words_.empty()) return true;
    if (words_[0] == "num_ranks") return number_of_ranks();
    if (words_[0] == "rank") return begin_rank();
    if (words_[0] == "}") return end_rank();
    if (!rank_) return fail("expected num_ranks, or rank N {");
    return words_.size() > 1 && (words_[1] == "requires" || words_[1] == "irequires") ? dependency() : operation();
  }
  bool end() {
    if (rank_) return fail(fmt::format("the file ends inside rank {}", *rank_));
    if (out_.ranks.empty()) return fail("no num_ranks");
    const auto fault = check_schedule(out_);
    return !fault || fail(fault->rule, out_.ranks[fault->rank][fault->op].place);
  }
  std::string error() const { return error_; }
  schedule&& take() { return std::move(out_); }

 private:
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words;
    for (size_t at = 0; (at = text.find_first_not_of(' ', at)) != text.npos;) {
      const size_t end = std::min(text.find(' ', at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
    return words;
  }
  bool fail(const std::string& rule, uint64_t line = 0) {
    error_ = fmt::format("{}:{}: {}", file_, line ? line : line_, rule);
    return false;
  }
  // `unit`: a letter that may stand behind the number.
  std::optional<uint64_t> number(const std::string& word, uint64_t most, char unit = 0) {
    uint64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [behind, code] = std::from_chars(word.data(), end, value);
    const bool all = behind == end || (unit && behind + 1 == end && *behind == unit);
    if (code != std::errc{} || !all || value > most) {
      fail(fmt::format("'{}': expected a number of at most {}", word, most));
      return std::nullopt;
    }
    return value;
  }

  bool number_of_ranks() {
    if (!out_.ranks.empty()) return fail("num_ranks a second time");
    const auto n = words_.size() == 2 ? number(words_[1], most_ranks) : std::optional<uint64_t>(0);
    if (!n) return false;
    if (*n == 0) return fail("expected num_ranks N, N at least 1");
    out_.ranks.resize(*n);
    begun_.resize(*n);
    return true;
  }
  bool begin_rank() {
    if (rank_) return fail(fmt::format("rank inside rank {}: a }} is missing", *rank_));
    if (words_.size() != 3 || words_[2] != "{") return fail("expected rank N {");
    const auto n = number(words_[1], most_ranks);
    if (!n) return false;
    if (*n >= out_.ranks.size()) return fail(fmt::format("rank {}: num_ranks is {}", *n, out_.ranks.size()));
    if (begun_[*n]) return fail(fmt::format("rank {} a second time", *n));
    begun_[*n] = true;
    rank_ = uint32_t(*n);
    labels_.clear();
    return true;
  }
  bool end_rank() {
    if (!rank_ || words_.size() != 1) return fail("unexpected }");
    rank_.reset();
    return true;
  }

  bool operation() {
    auto& ops = out_.ranks[*rank_];
    if (words_.size() < 3) return fail("expected LABEL: send|recv|calc ...");
    if (!labels_.emplace(words_[0], uint32_t(ops.size())).second)
      return fail(fmt::format("label '{}' a second time in rank {}", words_[0], *rank_));
    schedule_op op;
    op.place = line_;
    const std::string& what = words_[1];
    size_t at = 3;
    if (what == "calc") {
      const auto ns = number(words_[2], most_calc_ns);
      if (!ns) return false;
      op.amount = *ns;
    } else if (what == "send" || what == "recv") {
      op.what = what == "send" ? schedule_op::kind::send : schedule_op::kind::recv;
      const char* word = what == "send" ? "to" : "from";
      if (words_.size() < 5 || words_[3] != word)
        return fail(fmt::format("expected LABEL: {} BYTESb {} RANK [tag N]", what, word));
      const auto bytes = number(words_[2], most_message_bytes, 'b'), peer = number(words_[4], most_ranks);
      if (!bytes || !peer) return false;
      if (*peer >= out_.ranks.size()) return fail(fmt::format("rank {}: num_ranks is {}", *peer, out_.ranks.size()));
      if (*peer == *rank_) return fail(fmt::format("rank {} names itself", *peer));
      if (*bytes == 0) return fail("a message of 0 bytes");
      op.amount = *bytes;
      op.peer = uint32_t(*peer);
      at = 5;
    } else {
      return fail(fmt::format("unknown operation '{}': send, recv or calc", what));
    }
    for (; at < words_.size(); at += 2) {
      const std::string& key = words_[at];
      if ((key != "tag" && key != "cpu" && key != "nic") || at + 1 == words_.size())
        return fail(fmt::format("'{}': expected tag N, cpu N or nic N", key));
      const auto n = number(words_[at + 1], UINT32_MAX);
      if (!n) return false;
      if (key == "tag") op.tag = uint32_t(*n);
      if (key == "cpu") op.cpu = uint32_t(*n);
    }
    ops.push_back(std::move(op));
    return true;
  }
  bool dependency() {
    if (words_.size() != 3) return fail("expected LABEL requires LABEL");
    const auto later = labels_.find(words_[0]), first = labels_.find(words_[2]);
    if (later == labels_.end() || first == labels_.end())
      return fail(
          fmt::format("no label '{}' in rank {} above", later == labels_.end() ? words_[0] : words_[2], *rank_));
    auto& ops = out_.ranks[*rank_];
    schedule_op& op = ops[first->second];
    (words_[1] == "requires" ? op.at_end : op.at_begin).push_back(later->second);
    ++ops[later->second].waits;
    return true;
  }

  std::string file_, error_;
  unsigned line_ = 0;
  schedule out_;
  std::vector<bool> begun_;
  std::optional<uint32_t> rank_;
  std::unordered_map<std::string, uint32_t> labels_;
  std::vector<std::string> words_;
};

}  // namespace

std::expected<schedule, std::string> read_goal(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in(file);
  if (!in || !std::filesystem::is_regular_file(file, ignored))
    return std::unexpected(fmt::format("schedule '{}': cannot be read", file.string()));
  parser p(file.string());
  for (std::string text; std::getline(in, text);)
    if (!p.line(std::move(text))) return std::unexpected(p.error());
  if (!p.end()) return std::unexpected(p.error());
  return p.take();
}

}  // namespace ggas::bench
