// SPDX-License-Identifier: Apache-2.0
// Blocks of FST files: a byte with the kind, the length after that byte in 8 bytes (big-endian), the content. A file is
// a head, blocks of changes, then the signals: geometry and names.
#include "sim/trace/fst_frame.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

namespace ggas::trace {

namespace {

enum kind : uint8_t { head_block = 0, geometry = 3, names = 4, names_lz4 = 6, names_lz4_twice = 7 };
constexpr uint8_t change_kinds[] = {1, 5, 8};  // plain, with aliases, with aliases of another form

// Places in a head: first and last time, blocks of changes. In a block of changes: its first and last time.
constexpr size_t head_first = 9, head_last = 17, head_blocks = 65, head_least = 73;
constexpr size_t changes_first = 9, changes_last = 17, changes_least = 25;

uint64_t number(std::string_view b, size_t at) {
  uint64_t n = 0;
  for (size_t i = 0; i < 8; ++i) n = n << 8 | static_cast<uint8_t>(b[at + i]);
  return n;
}
void set_number(std::string& b, size_t at, uint64_t n) {
  for (size_t i = 8; i-- > 0; n >>= 8) b[at + i] = static_cast<char>(n & 0xff);
}

struct block {
  uint8_t kind;
  std::string_view bytes;  // with kind and length
  bool changes() const {
    for (const uint8_t k : change_kinds)
      if (kind == k) return bytes.size() >= changes_least;
    return false;
  }
};

// Up to the first that is not whole.
std::vector<block> blocks_of(std::string_view rest) {
  std::vector<block> all;
  while (rest.size() >= 9) {
    const uint64_t length = number(rest, 1);
    if (length < 8 || length > rest.size() - 1) break;
    all.push_back({static_cast<uint8_t>(rest[0]), rest.substr(0, length + 1)});
    rest.remove_prefix(length + 1);
  }
  return all;
}

std::string read_all(const std::string& path, uint64_t most) {
  std::ifstream in(path, std::ios::binary);
  std::string all(std::istreambuf_iterator<char>(in), {});
  all.resize(std::min<uint64_t>(all.size(), most));
  return all;
}

bool write_at(int fd, std::string_view bytes, size_t at) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
    at += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

fst_frame read_fst_frame(const std::string& path) {
  const std::string all = read_all(path, ~uint64_t{0});
  fst_frame f;
  for (const block& b : blocks_of(all)) {
    if (b.kind == head_block && b.bytes.size() >= head_least) f.head = b.bytes;
    if (b.kind == geometry || b.kind == names || b.kind == names_lz4 || b.kind == names_lz4_twice) f.signals += b.bytes;
  }
  return f;
}

std::expected<uint64_t, std::string> end_fst_early(const std::string& path, uint64_t good, const fst_frame& frame) {
  const std::string all = read_all(path, good);
  std::vector<std::string_view> kept;
  for (const block& b : blocks_of(all)) {
    if (b.kind != head_block && !b.changes()) break;  // begun, not ended
    kept.push_back(b.bytes);
  }
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(std::strerror(errno));
  const auto ends_here = [&] {
    const auto end = static_cast<size_t>(kept.back().data() + kept.back().size() - all.data());
    std::string head = frame.head;
    set_number(head, head_first, number(kept[1], changes_first));
    set_number(head, head_last, number(kept.back(), changes_last));
    set_number(head, head_blocks, kept.size() - 1);
    return ftruncate(fd, static_cast<off_t>(end)) == 0 && write_at(fd, frame.signals, end) && write_at(fd, head, 0);
  };
  while (kept.size() > 1 && !ends_here()) kept.pop_back();
  close(fd);
  if (kept.size() < 2) return std::unexpected("no room for any change");
  return number(kept.back(), changes_last);
}

}  // namespace ggas::trace
