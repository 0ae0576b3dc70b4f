// SPDX-License-Identifier: Apache-2.0
// pack and typed_put on simulated nodes and plain memory: data of datatypes on streams, verified.
#include <fmt/format.h>

#include <cstring>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/plans/typed_patterns.hpp"
#include "ggas/typed_on_stream.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t types_bytes = 4u << 20;

// Offsets in every segment: a status word, items, what they become.
struct typed_places {
  uint64_t status, items, target;
};

class typed_bench {
 public:
  typed_bench(session& s, uint64_t bytes) : s_(s), room_(8 * bytes + 4096) {}

  result<> make() {
    GGAS_TRY(s_.start(2 * room_ + 4096 + types_bytes));
    at_.status = s_.data_offset();
    at_.items = at_.status + 4096;
    at_.target = at_.items + room_;
    std::string why;
    memory_ = heap::create(heap_of(s_.machine(), at_.target + room_ - s_.data_offset()), why);
    if (!memory_) return failed(errc::out_of_memory, why);
    types_ = std::make_unique<type_space>(*memory_, writer_of(s_.machine()));
    return {};
  }
  uint64_t room() const { return room_; }

  // put: to the next node, in the same layout; else packed at the own one.
  result<> point(const typed_pattern& p, bool put) {
    const std::string what = fmt::format("{} {} {}", put ? "put" : "pack", p.name, p.bytes);
    std::string why;
    const ggas_type t = types_->commit(p.type, why);
    if (!why.empty()) return failed(errc::out_of_memory, what + ": " + why);
    for (int n = 0; n < s_.nodes(); ++n) {
      for (uint64_t i = 0; i < p.extent; ++i) at(n, at_.items)[i] = sent(n, i);
      std::memset(at(n, at_.target), 0, room_);
      std::memset(at(n, at_.status), 0, 8);
    }
    const uint64_t begin = s_.machine().now_ns();
    for (int n = 0; n < s_.nodes(); ++n) GGAS_TRY(queue(p, t, n, put));
    GGAS_TRY(s_.run(what));
    const auto ns = static_cast<double>(s_.machine().now_ns() - begin);
    GGAS_TRY(check(p, put, what));
    record r = s_.begin(p.name, "bandwidth", "B/s");
    r.params = {{"bytes", p.bytes}, {"method", "auto"}};
    r.value = static_cast<double>(p.bytes * static_cast<uint64_t>(s_.nodes())) * 1e9 / ns;
    r.n = 1;
    s_.emit(std::move(r));
    why = types_->free(t);
    return why.empty() ? result<>() : failed(errc::out_of_memory, why);
  }

 private:
  char* at(int node, uint64_t offset) { return reinterpret_cast<char*>(s_.machine().segment(node)) + offset; }
  char sent(int node, uint64_t i) const {
    return static_cast<char>((i * 0x9e3779b9 + static_cast<uint64_t>(node) * 101 + s_.opts().cluster.seed) >> 5 | 1);
  }
  int next(int n) const { return (n + 1) % s_.nodes(); }

  result<> queue(const typed_pattern& p, const ggas_type& t, int n, bool put) {
    cluster& c = s_.machine();
    const stream_report report{s_.opts().timeout_ns / 4, reinterpret_cast<uint64_t*>(at(n, at_.status))};
    if (!put) return pack_on_stream(c, n, at(n, at_.target), at(n, at_.items), p.count, t, report);
    return put_typed_on_stream(c, n, {next(n), at_.target}, p.count, t, at(n, at_.items), p.count, t, report);
  }

  // Every byte, gaps too.
  result<> check(const typed_pattern& p, bool put, const std::string& what) {
    const std::vector<pattern_run> runs = runs_of(p);
    for (int n = 0; n < s_.nodes(); ++n) {
      const int to = put ? next(n) : n;
      uint64_t status = 0, packed = 0;
      std::memcpy(&status, at(n, at_.status), 8);
      if (status != ggas_ok)
        return failed(errc::device_fault,
                      fmt::format("{}: node {}: {}", what, n, ggas_status_text(static_cast<ggas_status>(status))));
      std::string want(room_, 0);
      for (const pattern_run& r : runs)
        for (uint64_t b = 0; b < r.bytes; ++b) want[put ? r.at + b : packed++] = sent(n, r.at + b);
      if (std::memcmp(want.data(), at(to, at_.target), room_) != 0)
        return failed(errc::device_fault, fmt::format("{}: node {}: verification failed", what, to));
    }
    return {};
  }

  session& s_;
  uint64_t room_;
  typed_places at_{};
  std::unique_ptr<heap> memory_;
  std::unique_ptr<type_space> types_;
};

result<> typed_points(session& s, bool put) {
  using list = std::vector<uint64_t>;
  const auto sizes = s.simulated()
                         ? s.opts().sized<list>({1u << 10}, {1u << 10, 8u << 10}, {1u << 10, 8u << 10, 32u << 10})
                         : s.opts().sized<list>({1u << 10, 32u << 10}, {32u << 10, 512u << 10},
                                                {1u << 10, 32u << 10, 512u << 10, 2u << 20});
  typed_bench bench(s, sizes.back());
  GGAS_TRY(bench.make());
  for (const uint64_t bytes : sizes)
    for (const typed_pattern& p : typed_patterns(bytes, bench.room(), s.opts().cluster.seed))
      GGAS_TRY(bench.point(p, put));
  return {};
}

}  // namespace

result<> run_pack(session& s) { return typed_points(s, false); }
result<> run_typed_put(session& s) { return typed_points(s, true); }

}  // namespace ggas::bench
