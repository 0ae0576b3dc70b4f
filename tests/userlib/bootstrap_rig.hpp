// SPDX-License-Identifier: Apache-2.0
// What the tests of the bootstrap share: a job of their own each, processes that join it and say how that went.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/support/processes.hpp"
#include "userlib/start/bootstrap.hpp"

namespace ggas::userlib::test_rig {

using std::chrono::milliseconds;
using test::open_files;
using test::processes;
using test::voice;
inline constexpr milliseconds soon{10'000};
inline constexpr uint64_t ms = 1'000'000;

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A job that no other test and no other run of this one has.
inline job job_of(int rank, int size, uint64_t timeout_ns = 8000 * ms) {
  const testing::TestInfo* t = testing::UnitTest::GetInstance()->current_test_info();
  static const int parent = getpid();
  return {rank, size, std::string(t->name()).substr(0, 40) + "." + std::to_string(parent), timeout_ns};
}

// What a process says of something it tried.
template <class T>
std::string reported(const attempt<T>& a) {
  return a ? "ok" : a.error();
}

// Joins, then does something; says how each went.
inline processes::body member(int size, uint64_t timeout_ns, std::function<std::string(bootstrap&)> then) {
  job_of(0, size);  // the name is of the parent
  return [=](int rank, const voice& parent) {
    auto b = bootstrap::join(job_of(rank, size, timeout_ns));
    parent.say(b ? "joined" : b.error());
    if (b) parent.say(then(**b));
  };
}

// Each of the first `count` ranks joins, says how it went, and ends.
inline void expect_each(processes& all, int count, const std::string& outcome = "ok") {
  for (int r = 0; r < count; ++r) {
    EXPECT_EQ(all.next(r, soon), "joined") << "rank " << r;
    EXPECT_EQ(all.next(r, soon), outcome) << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
}

}  // namespace ggas::userlib::test_rig
