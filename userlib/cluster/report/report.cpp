// SPDX-License-Identifier: Apache-2.0
#include "ggas/report.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "ggas/status.hpp"
#include "ggas/words.hpp"
#include "userlib/cluster/report/text.hpp"

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
  const uint32_t shown = std::min(r.missing_count, wait_record::most_missing);
  for (uint32_t i = 0; i < shown; ++i) all += (i ? ", " : " ") + std::to_string(r.whom(i));
  if (r.missing_count > shown) all += " and " + std::to_string(r.missing_count - shown) + " more";
  return all;
}

// Nodes that have sent nothing of it, and those that have sent less than is waited for.
bool has_sent(const wait_record& r, uint32_t i) { return (r.missing[i] & wait_record::has_sent) != 0; }
std::string who_lacks(const wait_record& r, const std::string& of) {
  wait_record silent = r, others = r;
  silent.missing_count = others.missing_count = 0;
  for (uint32_t i = 0; i < std::min(r.missing_count, wait_record::most_missing); ++i) {
    wait_record& its = has_sent(r, i) ? others : silent;
    its.missing[its.missing_count++] = r.missing[i];
  }
  if (r.missing_count != 0 && (r.missing[0] & wait_record::like_all))
    return "no other node " + std::string(has_sent(r, 0) ? "sent as much as it waits for of " : "came to ") + of;
  if (r.missing_count == 0) return "the missing data of " + of + " arrived at the time-out";
  if (others.missing_count == 0) return list(r, "node", "nodes") + " did not arrive at " + of;
  const std::string less = list(others, "node", "nodes") + " sent less than it waits for of " + of;
  return silent.missing_count == 0 ? less : list(silent, "node", "nodes") + " did not arrive at " + of + ", " + less;
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
  static constexpr const char* modes[] = {"all", "mine", "none"};
  const auto call = static_cast<call_id>(t.how & 0xff);
  const uint64_t element = t.how >> 8 & 0xff, root = t.how >> 32 & 0xffff;
  const bool reduces = call == call_id::ggas_allreduce || call == call_id::ggas_reduce ||
                       call == call_id::ggas_reducescatter || call == call_id::ggas_scan;
  std::string all = name_of(call) + std::string("(n ") + std::to_string(t.n) + ", ";
  all += std::to_string(element & 0x1f) + " bytes" + (element & call_terms::is_float ? " of floating point" : "") +
         (element & call_terms::is_signed ? " with sign" : "");
  const uint64_t how = t.how >> 24 & 0xff;
  if (reduces) all += ", " + name_in(operations, t.how >> 16 & 0xff);
  if (call == call_id::ggas_scan)
    all += how & call_terms::exclusive ? ", exclusive" : ", inclusive";
  else if (reduces && (how & call_terms::of_ranks) == 0)
    all += ", " + name_in(methods, how);
  if (how & call_terms::of_ranks)
    all += ", of ranks, in " + name_in(modes, how & 3) + ", out " + name_in(modes, how >> 2 & 3);
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

// Negative tags are those of MPI's communicators: bits 30:23 are two times the number that a rank counts them by, and 1
// for their collectives; bits 22:0 the tag, all ones: any.
std::string text_of_tag(uint64_t expected) {
  constexpr int64_t mask = (1 << 23) - 1;
  const auto tag = static_cast<int64_t>(expected);
  if (tag >= 0) return "tag " + std::to_string(tag);
  const std::string text = (tag & mask) == mask ? "any tag" : "tag " + std::to_string(tag & mask);
  return tag == -1 ? text : text + " of communicator " + std::to_string((tag >> 23 & 0xff) / 2 + 2);
}

std::string what_was_missing(const context& c, const wait_record& r) {
  static constexpr const char* comparisons[] = {"==", "!=", "<", "<=", ">", ">="};
  const std::string expected = std::to_string(r.expected);
  switch (static_cast<waited_for>(r.kind)) {
    case waited_for::word:
      return place_of(c, r.address) + " is " + value_of(r.seen, r.type) + ", must be " +
             comparisons[std::min<uint32_t>(r.cmp, 5)] + " " + value_of(r.expected, r.type);
    case waited_for::members:
      return who_lacks(r, "number " + expected + " of the team");
    case waited_for::lines:
      return who_lacks(r, "exchange " + expected);
    case waited_for::parts:
      return list(r, "node", "nodes") + " did not send part " + expected;
    case waited_for::unit:
      return "the NIC's unit did not end operation " + expected;
    case waited_for::blocks:
      return list(r, "block", "blocks") + " of its grid did not arrive at number " + expected;
    case waited_for::count:
      return "only " + std::to_string(r.seen) + " of the " + expected + " blocks of its grid came";
    case waited_for::leader:
      return "block 0 of its grid did not end number " + expected;
    case waited_for::ring:
      return list(r, "node", "nodes") + " took no notification from its full ring of queue " + expected;
    case waited_for::slot:
      return "there was no room in its queue " + expected + " of the NIC";
    case waited_for::record:
      return "no notification came to queue " + expected;
    case waited_for::mail:
      return "no message came to the mailbox of queue " + expected;
    case waited_for::ranks:
      return list(r, "rank", "ranks") + " did not arrive at call " + expected + ", or sent less than it waits for";
    case waited_for::message: {
      const std::string from = r.missing_count == 0 ? "any rank" : list(r, "rank", "ranks");
      return "rank " + std::to_string(r.seen) + " waits for a message from " + from + " with " +
             text_of_tag(r.expected);
    }
    case waited_for::workers:
      return "only " + std::to_string(r.seen) + " of the " + expected +
             " blocks of its group came to the end of function " + std::to_string(r.n);
    case waited_for::receipt:
      return list(r, "rank", "ranks") + " did not take the message with " + text_of_tag(r.expected) + " of rank " +
             std::to_string(r.seen);
    case waited_for::same_call: {
      const call_terms own = terms_at(r, wait_record::own_terms);
      return "called as " + text_of(own) + ", but by " + (own.how >> 24 & call_terms::of_ranks ? "rank " : "node ") +
             std::to_string(r.whom(0)) + " as " + text_of(terms_at(r, wait_record::other_terms));
    }
    case waited_for::other_call:
      return "node " + std::to_string(r.whom(0)) +
             " calls with another n, operation or root; with GGAS_CHECKED the report says which";
    case waited_for::free_place:
      return "another block or stream of the node is in a call with the same flags or channels, those of team " +
             expected + "; call after it, or with a team of another id";
    case waited_for::overlap:
      return "src and dst overlap; they must not, but where the call says so";
  }
  return "unknown";
}

std::string text_of(const context& c, const wait_record& r) {
  const auto block = r.who >> 32, thread = r.who % (uint64_t{1} << 32) / 2;
  return "node " + std::to_string(c.node) + ", block " + std::to_string(block) + ", thread " + std::to_string(thread) +
         ": " + userlib::text_of_call(r) + " " + ggas_status_text(static_cast<ggas_status>(r.status)) + ": " +
         what_was_missing(c, r);
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

std::string userlib::text_of_call(const wait_record& r) {
  static constexpr const char* operations[] = {"sum", "min", "max", "prod", "and", "or", "xor"};
  if (static_cast<waited_for>(r.kind) == waited_for::workers) return "workers";
  std::string text = name_of(static_cast<call_id>(r.call));
  if (r.size != 0 && r.team != 0)
    text += " of team " + std::to_string(r.team) + " (" + std::to_string(r.size) + " nodes from " +
            std::to_string(r.first) + (r.stride == 1 ? ")" : ", stride " + std::to_string(r.stride) + ")");
  if (r.size == 0 || r.bytes == 0) return text;
  text += " of " + std::to_string(r.n) + " x " + std::to_string(r.bytes) + " bytes";
  const auto call = static_cast<call_id>(r.call);
  const bool reduces = call == call_id::ggas_allreduce || call == call_id::ggas_reduce ||
                       call == call_id::ggas_reducescatter || call == call_id::ggas_scan;
  if (reduces && r.op < std::size(operations)) text += std::string(", ") + operations[r.op];
  if (r.root != wait_record::no_root) text += ", root " + std::to_string(r.root);
  return text;
}

void add_waits(const context& node, std::span<const std::byte> area, hang_report& to) {
  uint64_t all = 0;
  std::memcpy(&all, area.data(), sizeof all);
  const size_t before = to.waits.size();
  for (uint64_t i = 0; i < layout::wait_records; ++i) {
    wait_record r;
    std::memcpy(&r, area.data() + layout::word + i * sizeof r, sizeof r);
    if (r.who != 0) to.waits.push_back({node.node, r, text_of(node, r)});
  }
  const auto number = [](const failed_wait& w) { return w.record.number; };
  std::ranges::sort(to.waits.begin() + static_cast<ptrdiff_t>(before), to.waits.end(), {}, number);
  const uint64_t kept = to.waits.size() - before;
  if (all > layout::wait_records && all > kept) to.dropped += all - kept;
}

std::string hang_report::text() const {
  if (waits.empty()) return "no wait failed\n";
  std::string all;
  for (const failed_wait& w : waits) all += w.text + "\n";
  if (dropped) all += std::to_string(dropped) + " earlier waits are not shown\n";
  if (why.empty()) return all;  // no one waited: calls were refused
  if (suspects.empty()) return all + "whose fault it is cannot be known: " + why + "\n";
  all += suspects.size() == 1 ? "look at node" : "look at nodes";
  for (size_t i = 0; i < suspects.size(); ++i) all += (i ? ", " : " ") + std::to_string(suspects[i]);
  return all + ": " + why + "\n";
}

}  // namespace ggas
