// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/host/patterns.hpp"

#include <chrono>
#include <cstring>
#include <vector>

namespace ggas::host_bench {
namespace {

double now_us() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(t).count();
}

// Half of the time of there and back.
double latency(means& m, size_t bytes, unsigned rounds) {
  if (m.rank() > 1) return 0;
  const double begin = now_us();
  for (unsigned i = 0; i < rounds; ++i) {
    if (m.rank() == 0) m.send(bytes);
    m.receive(1, bytes);
    if (m.rank() == 1) m.send(bytes);
  }
  return (now_us() - begin) / (2.0 * rounds);
}

// Time of a window from rank 0 to 1, until that one's answer.
double windows(means& m, size_t bytes, unsigned rounds) {
  if (m.rank() > 1) return 1;
  const double begin = now_us();
  for (unsigned i = 0; i < rounds; ++i) {
    if (m.rank() == 0) {
      for (unsigned w = 0; w < window; ++w) m.post(bytes);
      m.tell();
      m.flush();
      m.receive(1, 8);
    } else {
      m.receive(window, bytes);
      m.send(8);
    }
  }
  return (now_us() - begin) / rounds;
}

double bandwidth(means& m, size_t bytes, unsigned rounds) {
  return double(bytes) * window / windows(m, bytes, rounds);  // B/us are MB/s
}

double message_rate(means& m, size_t bytes, unsigned rounds) { return window / windows(m, bytes, rounds) * 1e6; }

void work(double us) {
  for (const double end = now_us() + us; now_us() < end;) {
  }
}

// What the processor loses by a transfer: it posts, works as long as a transfer takes, and waits.
double overhead(means& m, size_t bytes, unsigned rounds) {
  const double there = latency(m, bytes, rounds);
  double lost = 0;
  for (unsigned i = 0; i < rounds && m.rank() <= 1; ++i) {
    if (m.rank() == 1) {
      m.receive(1, bytes);
      m.send(8);
      continue;
    }
    const double begin = now_us();
    m.post(bytes);
    m.tell();
    const double posted = now_us();
    work(there);
    const double worked = now_us();
    m.flush();
    lost += (posted - begin) + (now_us() - worked);
    m.receive(1, 8);
  }
  return lost / rounds;
}

double barrier(means& m, size_t, unsigned rounds) {
  const double begin = now_us();
  for (unsigned i = 0; i < rounds; ++i) m.barrier();
  return (now_us() - begin) / rounds;
}

double allreduce(means& m, size_t bytes, unsigned rounds) {
  const size_t n = bytes / sizeof(double);
  std::vector<double> from(n, 1.0 + m.rank()), to(n);
  m.barrier();
  const double begin = now_us();
  for (unsigned i = 0; i < rounds; ++i) m.sum(from.data(), to.data(), n);
  const double time = now_us() - begin;
  const double right = m.size() * (m.size() + 1) / 2.0;
  if (to.front() != right || to.back() != right) throw failure("allreduce: a wrong sum");
  return time / rounds;
}

std::byte known(size_t i, unsigned rank) { return std::byte(i * 31 + 7 * rank + 1); }

}  // namespace

const pattern patterns[6] = {
    {"latency", "us", 8, most_bytes, latency, kind::time},
    {"bandwidth", "MB/s", 8, most_bytes, bandwidth, kind::rate},
    {"message_rate", "1/s", 8, 4096, message_rate, kind::rate},
    {"overhead", "us", 8, most_bytes, overhead, kind::time},
    {"allreduce", "us", 8, most_bytes, allreduce, kind::time_of_all},
    {"barrier", "us", 0, 0, barrier, kind::time_of_all},
};

void check_data(means& m, size_t bytes) {
  m.barrier();
  if (m.rank() <= 1) {
    for (size_t i = 0; i < bytes; ++i) m.out()[i] = known(i + bytes, m.rank());
    m.post(bytes);
    m.tell();
    m.receive(1, bytes);
    m.flush();
    for (size_t i = 0; i < bytes; ++i)
      if (m.in()[i] != known(i + bytes, 1 - m.rank()))
        throw failure("byte " + std::to_string(i) + " of " + std::to_string(bytes) + " is wrong");
  }
  m.barrier();
}

}  // namespace ggas::host_bench
