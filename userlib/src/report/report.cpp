// SPDX-License-Identifier: Apache-2.0
#include "ggas/report.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "ggas/status.hpp"
#include "ggas/words.hpp"

namespace ggas {
namespace {

template <class T>
std::string as_number(uint64_t bits) {
  T v;
  std::memcpy(&v, &bits, sizeof v);
  return std::to_string(v);
}

// The value of a word, by its type.
std::string value_of(uint64_t bits, uint32_t type) {
  switch (type) {
    case 4 | wait_record::is_float:
      return as_number<float>(bits);
    case 8 | wait_record::is_float:
      return as_number<double>(bits);
    case 1 | wait_record::is_signed:
      return as_number<signed char>(bits);
    case 2 | wait_record::is_signed:
      return as_number<int16_t>(bits);
    case 4 | wait_record::is_signed:
      return as_number<int32_t>(bits);
    case 8 | wait_record::is_signed:
      return as_number<int64_t>(bits);
  }
  return std::to_string(bits);
}

std::string hex(uint64_t v) {
  std::string digits;
  for (; v || digits.empty(); v /= 16) digits.insert(digits.begin(), "0123456789abcdef"[v % 16]);
  return "0x" + digits;
}

std::string place_of(const context& c, uint64_t address) {
  const auto begin = reinterpret_cast<uintptr_t>(c.local);
  if (address < begin || address - begin >= c.segment_bytes) return "the word at address " + hex(address);
  return "the word at offset " + hex(address - begin) + " of its segment";
}

std::string list(const wait_record& r, const char* one, const char* many) {
  std::string all = r.missing_count == 1 ? one : many;
  for (uint32_t i = 0; i < std::min(r.missing_count, wait_record::most_missing); ++i)
    all += (i ? ", " : " ") + std::to_string(r.missing[i]);
  if (r.missing_count > wait_record::most_missing)
    all += " and " + std::to_string(r.missing_count - wait_record::most_missing) + " more";
  return all;
}

// Flags of methods that push to one node or to everybody are the library's words: whose they are says who is missing.
void name_writer(const context& c, wait_record& r) {
  const uint64_t at = r.address - reinterpret_cast<uintptr_t>(c.local);
  const layout l = layout::of(static_cast<uint64_t>(c.nodes), c.reserved);
  const uint64_t row = static_cast<uint64_t>(c.nodes) * layout::word;
  for (const uint64_t first : {l.gather_all_flag(0), l.gather_flag(0), l.gather_ack(0)}) {
    if (at < first || at - first >= row) continue;
    r.missing[0] = static_cast<int32_t>((at - first) / layout::word);
    r.missing_count = 1;
  }
  if (at == layout::result_flag) r.missing[0] = 0, r.missing_count = 1;  // allreduce by gather: by node 0
}

template <size_t N>
std::string name_in(const char* const (&names)[N], uint64_t i) {
  return i < N ? names[i] : std::to_string(i);
}

// A call of a collective as a member has made it.
std::string text_of(const call_terms& t) {
  static constexpr const char* operations[] = {"ggas_sum", "ggas_min", "ggas_max", "ggas_prod",
                                               "ggas_and", "ggas_or",  "ggas_xor"};
  static constexpr const char* methods[] = {"ggas_by_gather", "ggas_by_all_gather", "ggas_one_shot", "ggas_two_shot",
                                            "ggas_direct",    "ggas_push",          "ggas_read",     "ggas_tree",
                                            "ggas_auto",      "ggas_by_nic"};
  const auto call = static_cast<call_id>(t.how & 0xff);
  const uint64_t element = t.how >> 8 & 0xff, root = t.how >> 32 & 0xffff;
  const bool reduces =
      call == call_id::ggas_allreduce || call == call_id::ggas_reduce || call == call_id::ggas_reducescatter;
  std::string all = name_of(call) + std::string("(n ") + std::to_string(t.n) + ", ";
  all += std::to_string(element & 0x1f) + " bytes" + (element & call_terms::is_float ? " of floating point" : "") +
         (element & call_terms::is_signed ? " with sign" : "");
  if (reduces) all += ", " + name_in(operations, t.how >> 16 & 0xff) + ", " + name_in(methods, t.how >> 24 & 0xff);
  if (root != 0xffff) all += ", root " + std::to_string(root);
  all += ", blocks " + std::to_string(t.how >> 48) + ", team of " + std::to_string((t.team >> 32 & 0xffff) + 1) +
         " from node " + std::to_string(t.team & 0xffff) + " by " + std::to_string(t.team >> 16 & 0xffff);
  return all + (t.team & call_terms::refuses ? ", refused for its own pointers)" : ")");
}

call_terms terms_at(const wait_record& r, size_t offset) {
  call_terms t;
  std::memcpy(&t, reinterpret_cast<const std::byte*>(&r) + offset, sizeof t);
  return t;
}

std::string what_was_missing(const context& c, const wait_record& r) {
  static constexpr const char* comparisons[] = {"==", "!=", "<", "<=", ">", ">="};
  const std::string expected = std::to_string(r.expected), seen = std::to_string(r.seen);
  switch (static_cast<waited_for>(r.kind)) {
    case waited_for::word:
      if (r.missing_count) return list(r, "node", "nodes") + " did not send part " + expected;
      return place_of(c, r.address) + " is " + value_of(r.seen, r.type) + ", must be " +
             comparisons[std::min<uint32_t>(r.cmp, 5)] + " " + value_of(r.expected, r.type);
    case waited_for::members:
      return list(r, "node", "nodes") + " did not come to number " + expected + " of the team, but to " + seen;
    case waited_for::lines:
      return list(r, "node", "nodes") + (r.seen == 0 ? " did not come to exchange " + expected
                                                     : " sent " + seen + " lines only of exchange " + expected);
    case waited_for::blocks:
      if (r.missing_count == 0) return "only " + seen + " of the " + expected + " blocks of its grid came";
      return list(r, "block", "blocks") + " of its grid did not come to number " + expected;
    case waited_for::leader:
      return "block 0 of its grid did not end number " + expected;
    case waited_for::ring:
      return list(r, "node", "nodes") + " took no notification from its full ring of queue " + expected;
    case waited_for::record:
      return "no notification came to queue " + expected;
    case waited_for::same_call:
      return "called as " + text_of(terms_at(r, wait_record::own_terms)) + ", but by node " +
             std::to_string(r.missing[0]) + " as " + text_of(terms_at(r, wait_record::other_terms));
    case waited_for::other_call:
      return "node " + std::to_string(r.missing[0]) +
             " calls with another n, operation or root; with GGAS_CHECKED the report says which";
    case waited_for::free_place:
      return "another block or stream of the node is in a call with the same flags or channels, those of team " +
             expected + "; call after it, or with a team of another id";
    case waited_for::overlap:
      return "src and dst overlap; they must not, but where the call says so";
  }
  return "unknown";
}

bool names_nodes(const wait_record& r) {
  const auto kind = static_cast<waited_for>(r.kind);
  return kind == waited_for::members || kind == waited_for::lines || kind == waited_for::ring ||
         (kind == waited_for::word && r.missing_count);
}

std::string text_of(const context& c, const wait_record& r) {
  const auto block = r.who >> 32, thread = r.who % (uint64_t{1} << 32) / 2;
  return "node " + std::to_string(c.node) + ", block " + std::to_string(block) + ", thread " + std::to_string(thread) +
         ": " + name_of(static_cast<call_id>(r.call)) + " " + ggas_status_text(static_cast<ggas_status>(r.status)) +
         ": " + what_was_missing(c, r);
}

}  // namespace

const char* name_of(call_id call) {
  switch (call) {
#define GGAS_CALL_NAME(name) \
  case call_id::name:        \
    return #name;
    GGAS_WAITING_CALLS(GGAS_CALL_NAME)
#undef GGAS_CALL_NAME
    case call_id::unknown:
      break;
  }
  return "a call";
}

void add_waits(const context& node, std::span<const std::byte> area, hang_report& to) {
  uint64_t all = 0;
  std::memcpy(&all, area.data(), sizeof all);
  const size_t before = to.waits.size();
  for (uint64_t i = 0; i < layout::wait_records; ++i) {
    wait_record r;
    std::memcpy(&r, area.data() + layout::word + i * sizeof r, sizeof r);
    if (r.who == 0) continue;
    if (static_cast<waited_for>(r.kind) == waited_for::word) name_writer(node, r);
    to.waits.push_back({node.node, r, text_of(node, r)});
  }
  const auto number = [](const wait_in_vain& w) { return w.record.number; };
  std::ranges::sort(to.waits.begin() + static_cast<ptrdiff_t>(before), to.waits.end(), {}, number);
  const uint64_t kept = to.waits.size() - before;
  if (all > layout::wait_records && all > kept) to.dropped += all - kept;
}

void find_missing(hang_report& r) {
  std::set<int> missing;
  for (const wait_in_vain& w : r.waits) {
    if (!names_nodes(w.record)) continue;
    const auto count = std::min(w.record.missing_count, wait_record::most_missing);
    missing.insert(w.record.missing, w.record.missing + count);
  }
  for (const wait_in_vain& w : r.waits) missing.erase(w.node);
  r.missing.assign(missing.begin(), missing.end());
}

std::string hang_report::text() const {
  if (waits.empty()) return "no wait ended in vain\n";
  std::string all;
  for (const wait_in_vain& w : waits) all += w.text + "\n";
  if (dropped) all += std::to_string(dropped) + " earlier waits are not shown\n";
  if (missing.empty()) return all;
  all += missing.size() == 1 ? "look at node" : "look at nodes";
  for (size_t i = 0; i < missing.size(); ++i) all += (i ? ", " : " ") + std::to_string(missing[i]);
  return all + ": waited for, and waiting for nobody\n";
}

}  // namespace ggas
