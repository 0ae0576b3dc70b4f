// SPDX-License-Identifier: Apache-2.0
#include "programs/simulator/program_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ggas::simulator {

namespace {

// Bytes that `move` has moved; fewer: it failed (errno), or the process has ended (errno 0).
template <class Move>
uint64_t all_of(uint64_t bytes, Move&& move) {
  uint64_t done = 0;
  errno = 0;
  while (done < bytes) {
    const ssize_t n = move(done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += uint64_t(n);
  }
  return done;
}

}  // namespace

void program_memory::read(uint64_t at, std::span<std::byte> to) {
  const uint64_t n = within(at, to.size());
  const uint64_t got = all_of(n, [&](uint64_t done, uint64_t left) {
    return pread(process_.fd(), to.data() + done, left, off_t(address_ + at + done));
  });
  if (got < n) taken_away(at + got);
  std::ranges::fill(to.subspan(got), std::byte{0});
}

void program_memory::write(uint64_t at, std::span<const std::byte> from) {
  const uint64_t n = within(at, from.size());
  const uint64_t put = all_of(n, [&](uint64_t done, uint64_t left) {
    return pwrite(process_.fd(), from.data() + done, left, off_t(address_ + at + done));
  });
  if (put < n) taken_away(at + put);
}

// Like a NIC that accesses such a page: the bytes are dropped.
void program_memory::taken_away(uint64_t at) {
  if (errno == 0 || std::exchange(said_, true)) return;
  say_(fmt::format("byte {} of its memory of {} bytes, which is a segment, is there no more", at, bytes_));
}

}  // namespace ggas::simulator
