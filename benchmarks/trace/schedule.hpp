// SPDX-License-Identifier: Apache-2.0
// Schedules of communication and computation: for each rank its sends, receives and computations, and their
// dependencies. They are read from files in the formats GOAL and Chakra (docs/how-to/run-a-trace.md).
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ggas::bench {

// A receive may take messages of any rank, and of any tag; a message of any tag goes to any receive.
inline constexpr uint32_t any_rank = UINT32_MAX, any_tag = UINT32_MAX;

// Thrown by readers of schedules: what is wrong, with its place.
struct bad_schedule {
  std::string text;
};

struct schedule_op {
  enum class kind : uint8_t { send, recv, calc };
  kind what = kind::calc;
  uint64_t amount = 0;  // bytes; calc: ns
  uint32_t peer = 0;    // send, recv
  uint32_t tag = 0;
  uint32_t cpu = 0;                        // calc: computations of one run one after the other
  uint32_t waits = 0;                      // for so many others
  uint64_t place = 0;                      // in the file: GOAL: the line, Chakra: the byte
  std::vector<uint32_t> at_end, at_begin;  // operations of this rank that wait for its end, its begin
};

struct schedule {
  std::vector<std::vector<schedule_op>> ranks;
  uint64_t largest = 0;  // message, bytes
  uint64_t messages = 0, bytes = 0;
  uint64_t computing_ns = 0;  // of all ranks together
};

// What both formats allow.
inline constexpr uint64_t most_ranks = 65'536, most_message_bytes = uint64_t{1} << 40, most_calc_ns = 1'000'000'000'000;

// The operation that breaks a rule.
struct schedule_fault {
  uint32_t rank, op;
  std::string rule;
};

// Counts messages and computations. Returns a fault: an operation that waits for itself, a message without a receive, a
// receive without a message or too small for it. If receives accept messages of any rank or tag, only numbers are
// compared.
std::optional<schedule_fault> check_schedule(schedule& plan);

// By the extension: *.et and *.json are Chakra, all others GOAL. Errors contain file, place and rule.
std::expected<schedule, std::string> read_schedule(const std::filesystem::path& file);

}  // namespace ggas::bench
