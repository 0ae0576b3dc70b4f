// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace/goal.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ggas::bench {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct token {
  enum class kind { end, line, word, number, mark };
  kind is = kind::end;
  std::string_view text;
  unsigned line = 1;
};

// Words, numbers, marks and ends of lines; blanks are not needed between them. Comments are nothing.
class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) {}

  token next() {
    while (skip_blank() || skip_comment()) {
    }
    const size_t from = at_;
    const unsigned line = line_;
    const auto made = [&](token::kind is) { return token{is, text_.substr(from, at_ - from), line}; };
    if (at_ == text_.size()) return made(token::kind::end);
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    if (c == '\n') return made(token::kind::line);
    const bool negative = c == '-' && at_ < text_.size() && is_digit(text_[at_]);
    if (is_digit(c) || negative) {
      skip_while(is_digit);
      return made(token::kind::number);
    }
    if (!is_letter(c)) return made(token::kind::mark);
    skip_while([](char l) { return is_letter(l) || is_digit(l); });
    return made(token::kind::word);
  }

 private:
  template <class Fits>
  void skip_while(Fits fits) {
    while (at_ < text_.size() && fits(text_[at_])) ++at_;
  }
  bool skip_blank() {
    const size_t from = at_;
    skip_while([](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    return at_ != from;
  }
  bool skip_comment() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("//")) {
      skip_while([](char c) { return c != '\n'; });
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      const std::string_view comment = rest.substr(0, end == rest.npos ? rest.size() : end + 2);
      for (const char c : comment) line_ += c == '\n';
      at_ += comment.size();
    } else {
      return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  unsigned line_ = 1;
};

class parser {
 public:
  parser(std::string file, std::string_view text) : file_(std::move(file)), in_(text) { advance(); }

  schedule parse() {
    while (now_.is != token::kind::end) {
      if (take(token::kind::line)) continue;
      if (take_word("num_ranks"))
        number_of_ranks();
      else if (take_word("rank"))
        begin_rank();
      else if (take_mark("}"))
        end_rank();
      else if (!rank_)
        fail("expected num_ranks, or rank N {");
      else
        item();
    }
    if (rank_) fail(fmt::format("the file ends inside rank {}", *rank_));
    if (out_.ranks.empty()) fail("no num_ranks");
    if (const auto fault = check_schedule(out_)) fail(fault->rule, out_.ranks[fault->rank][fault->op].place);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& rule, uint64_t line = 0) const {
    throw bad_schedule{fmt::format("{}:{}: {}", file_, line ? line : now_.line, rule)};
  }
  void advance() { now_ = in_.next(); }
  bool take(token::kind is) {
    if (now_.is != is) return false;
    advance();
    return true;
  }
  bool take_word(std::string_view word) {
    return now_.is == token::kind::word && now_.text == word && (advance(), true);
  }
  bool take_mark(std::string_view mark) {
    return now_.is == token::kind::mark && now_.text == mark && (advance(), true);
  }
  std::string here() const { return now_.is == token::kind::line ? "the line ends" : fmt::format("'{}'", now_.text); }
  uint64_t number(uint64_t most) {
    uint64_t value = 0;
    const auto [end, code] = std::from_chars(now_.text.data(), now_.text.data() + now_.text.size(), value);
    if (now_.is != token::kind::number || code != std::errc{} || value > most)
      fail(fmt::format("{}: expected a number of at most {}", here(), most));
    advance();
    return value;
  }
  // -1 stands for any.
  uint32_t number_or_any(uint32_t most, uint32_t any) {
    if (now_.is != token::kind::number || now_.text != "-1") return uint32_t(number(most));
    advance();
    return any;
  }
  uint32_t known_rank(uint32_t rank) const {
    if (rank != any_rank && rank >= out_.ranks.size())
      fail(fmt::format("rank {}: num_ranks is {}", rank, out_.ranks.size()));
    return rank;
  }
  void end_of_item() {
    if (now_.is == token::kind::end || now_.text == "}" || take(token::kind::line)) return;
    fail(fmt::format("{}: expected the end of the line", here()));
  }

  void number_of_ranks() {
    if (!out_.ranks.empty()) fail("num_ranks a second time");
    const unsigned line = now_.line;
    const uint64_t n = now_.is == token::kind::number ? number(most_ranks) : 0;
    if (n == 0) fail("expected num_ranks N, N at least 1", line);
    out_.ranks.resize(n);
    begun_.resize(n);
  }
  void begin_rank() {
    if (rank_) fail(fmt::format("rank inside rank {}: a }} is missing", *rank_));
    if (now_.is != token::kind::number) fail("expected rank N {");
    const uint32_t n = known_rank(uint32_t(number(most_ranks)));
    if (!take_mark("{")) fail("expected rank N {");
    if (begun_[n]) fail(fmt::format("rank {} a second time", n));
    begun_[n] = true;
    rank_ = n;
    labels_.clear();
  }
  void end_rank() {
    if (!rank_) fail("unexpected }");
    rank_.reset();
  }

  // [LABEL:] operation, or LABEL requires LABEL.
  void item() {
    const token first = now_;
    if (first.is != token::kind::word) fail(fmt::format("{}: expected send, recv, calc or a label", here()));
    if (operation()) return;
    advance();
    if (!take_mark(":")) return dependency(first);
    if (now_.is != token::kind::word || !operation())
      fail(fmt::format("unknown operation {}: send, recv or calc", here()));
    if (!labels_.emplace(first.text, uint32_t(out_.ranks[*rank_].size() - 1)).second)
      fail(fmt::format("label '{}' a second time in rank {}", first.text, *rank_), first.line);
  }
  bool operation() {
    schedule_op op;
    op.place = now_.line;
    if (take_word("calc")) {
      op.amount = number(most_calc_ns);
    } else if (take_word("send")) {
      op.what = schedule_op::kind::send;
      op.amount = bytes();
      if (!take_word("to")) fail("expected send BYTESb to RANK");
      op.peer = known_rank(uint32_t(number(most_ranks)));
    } else if (take_word("recv")) {
      op.what = schedule_op::kind::recv;
      op.amount = bytes();
      if (!take_word("from")) fail("expected recv BYTESb from RANK, or from -1: any rank");
      op.peer = known_rank(number_or_any(most_ranks, any_rank));
    } else {
      return false;
    }
    while (now_.is == token::kind::word) option(op);
    end_of_item();
    out_.ranks[*rank_].push_back(std::move(op));
    return true;
  }
  uint64_t bytes() {
    const uint64_t n = number(most_message_bytes);
    take_word("b");
    return n;
  }
  void option(schedule_op& op) {
    if (op.what != schedule_op::kind::calc && take_word("tag"))
      op.tag = number_or_any(any_tag - 1, any_tag);
    else if (take_word("cpu"))
      op.cpu = uint32_t(number(UINT32_MAX));
    else if (take_word("nic"))
      number(UINT32_MAX);
    else
      fail(fmt::format("{}: expected tag N, cpu N or nic N", here()));
  }
  void dependency(const token& label) {
    const bool at_end = take_word("requires");
    if (!at_end && !take_word("irequires"))
      fail(fmt::format("'{}': expected LABEL: or LABEL requires LABEL", label.text));
    const uint32_t later = labelled(label.text);
    if (now_.is != token::kind::word) fail("expected LABEL requires LABEL");
    schedule_op& first = out_.ranks[*rank_][labelled(now_.text)];
    advance();
    (at_end ? first.at_end : first.at_begin).push_back(later);
    ++out_.ranks[*rank_][later].waits;
    end_of_item();
  }
  uint32_t labelled(std::string_view label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) fail(fmt::format("no label '{}' in rank {} above", label, *rank_));
    return found->second;
  }

  std::string file_;
  lexer in_;
  token now_;
  schedule out_;
  std::vector<bool> begun_;
  std::optional<uint32_t> rank_;
  std::unordered_map<std::string_view, uint32_t> labels_;
};

}  // namespace

std::expected<schedule, std::string> parse_goal(std::string_view text, const std::string& file) {
  try {
    return parser(file, text).parse();
  } catch (const bad_schedule& w) {
    return std::unexpected(w.text);
  }
}

std::expected<schedule, std::string> read_goal(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file, ignored))
    return std::unexpected(fmt::format("schedule '{}': cannot be read", file.string()));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse_goal(text, file.string());
}

}  // namespace ggas::bench
