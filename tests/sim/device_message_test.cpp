// SPDX-License-Identifier: Apache-2.0
// Bytes of unauthenticated peers: the parser of messages, the commands after it and the map of windows, at random.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/sim/device_client.hpp"
#include "tests/sim/model_core.hpp"

namespace ggas::test {
namespace {

std::vector<std::byte> random_bytes(std::mt19937_64& r, size_t n) {
  std::vector<std::byte> b(n);
  for (auto& x : b) x = std::byte(r());
  return b;
}

TEST(device_messages, come_out_as_they_went_in_however_cut) {
  std::mt19937_64 r(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<std::byte>> bodies;
    std::vector<std::byte> stream;
    for (unsigned i = 0; i < 1 + r() % 8; ++i) {
      bodies.push_back(random_bytes(r, r() % 300));
      const auto m =
          device::encode({.id = uint16_t(i), .command = 9, .bytes = 0, .flags = 0, .error = 0}, bodies.back());
      stream.insert(stream.end(), m.begin(), m.end());
    }
    device::message_reader reader;
    for (size_t at = 0; at < stream.size();) {
      const size_t n = std::min<size_t>(1 + r() % 64, stream.size() - at);
      ASSERT_TRUE(reader.feed(std::span(stream).subspan(at, n), {}));
      at += n;
    }
    for (size_t i = 0; i < bodies.size(); ++i) {
      const auto m = reader.next();
      ASSERT_TRUE(m);
      EXPECT_EQ(m->head.id, i);
      EXPECT_EQ(m->body, bodies[i]);
    }
    EXPECT_FALSE(reader.next());
  }
}

TEST(device_messages, random_bytes_break_the_stream_or_make_messages) {
  std::mt19937_64 r(2);
  unsigned broken = 0;
  for (int round = 0; round < 20000; ++round) {
    device::message_reader reader;
    auto bytes = random_bytes(r, r() % 200);
    if (bytes.size() >= 16 && r() % 2) bytes[5] = bytes[6] = bytes[7] = std::byte{0};  // a length that may be
    const bool whole = bool(reader.feed(bytes, {}));
    broken += !whole;
    while (const auto m = reader.next()) EXPECT_EQ(m->body.size(), m->head.bytes - sizeof m->head);
  }
  EXPECT_GT(broken, 1000u);
}

// The kernel glues bytes without descriptors to those that follow with some, never the other way round.
TEST(device_messages, descriptors_belong_to_the_last_message_of_a_read) {
  const auto body = std::vector<std::byte>(20);
  const auto one = device::encode({.id = 1, .command = 9, .bytes = 0, .flags = 0, .error = 0}, body);
  for (const size_t cut : {size_t(0), one.size() + 1, one.size() + 16, 2 * one.size() - 1, 2 * one.size()}) {
    auto stream = one;
    stream.insert(stream.end(), one.begin(), one.end());
    device::message_reader reader;
    std::vector<device::file> files;
    files.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(reader.feed(std::span(stream).first(cut ? cut : stream.size()), std::move(files)));
    ASSERT_TRUE(reader.feed(std::span(stream).subspan(cut ? cut : stream.size()), {}));
    EXPECT_TRUE(reader.next()->files.empty()) << cut;
    EXPECT_EQ(reader.next()->files.size(), 1u) << cut;
  }
}

TEST(device_messages, too_many_descriptors_break_the_stream) {
  device::message_reader reader;
  std::vector<device::file> files;
  for (unsigned i = 0; i <= wire::file_limit; ++i) files.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(reader.feed({}, std::move(files)));
}

// Against a map of pages: which window each page belongs to.
TEST(device_windows, agree_with_a_map_of_pages) {
  std::mt19937_64 r(3);
  device::dma_map map;
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> windows;  // first page: pages, flags
  constexpr uint64_t pages = 64, page = 4096;
  const auto owner = [&](uint64_t p) {
    for (const auto& [first, w] : windows)
      if (p >= first && p < first + w.first) return first;
    return ~uint64_t(0);
  };
  for (int round = 0; round < 20000; ++round) {
    const uint64_t first = r() % pages, n = 1 + r() % 12;
    const auto flags = uint32_t(r() % 4);
    if (r() % 2) {
      bool taken = false;
      for (uint64_t p = first; p < first + n; ++p) taken |= owner(p) != ~uint64_t(0);
      EXPECT_EQ(map.map({32, flags, 0, first * page, n * page}, nullptr), taken ? EEXIST : 0);
      if (!taken) windows[first] = {n, flags};
    } else {
      // Everything that lies in the range is given back, or nothing where it cuts something.
      bool any = false, cut = false;
      for (const auto& [p, w] : windows) {
        const bool meets = p < first + n && first < p + w.first;
        any |= meets;
        cut |= meets && (p < first || p + w.first > first + n);
      }
      EXPECT_EQ(map.unmap(first * page, n * page), cut ? EINVAL : any ? 0 : ENOENT);
      if (any && !cut) std::erase_if(windows, [&](const auto& w) { return w.first >= first && w.first < first + n; });
    }
    const uint64_t at = r() % (pages * page), bytes = 1 + r() % (2 * page);
    const bool write = r() % 2;
    const uint64_t w = owner(at / page);
    const bool inside =
        w != ~uint64_t(0) && at + bytes <= (w + windows[w].first) * page && windows[w].second & (write ? 2 : 1);
    EXPECT_EQ(map.find(at, bytes, write) != nullptr, inside);
  }
  EXPECT_EQ(map.size(), windows.size());
}

// Commands of random kind, size and content to a server; now and then a stream is broken, which the other client must
// never notice.
TEST(device_commands, random_ones_harm_nobody_else) {
  auto p = sim::load_platform("galibier-k20", {});
  ASSERT_TRUE(p);
  device::server_config cfg;
  cfg.rig.plat = std::move(*p);
  cfg.rig.make_nic = [](unsigned width, const nic::host_config& h, const char*) {
    return std::make_unique<model_core>(width, h);
  };
  running_server s(std::move(cfg));
  client good(s.socket(0));
  good.greet();
  std::mt19937_64 r(4);
  for (int round = 0; round < 60; ++round) {
    client bad(s.socket(1));
    bad.greet();
    device::file any(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int i = 0; i < 40; ++i) {
      auto body = random_bytes(r, r() % 80);
      // Small numbers reach further than large ones.
      for (size_t k = 0; k < body.size(); ++k)
        if (r() % 4) body[k] = std::byte(r() % 3 ? 0 : r() % 40);
      auto bytes = device::encode({.id = uint16_t(r()),
                                   .command = uint16_t(r() % 20),
                                   .bytes = 0,
                                   .flags = uint32_t(r() % 8 ? 0 : r() % 64),
                                   .error = 0},
                                  body);
      if (r() % 50 == 0) bytes[4] = std::byte(r());
      std::vector<int> fds;
      if (r() % 3 == 0) fds.assign(1 + r() % 3, any.get());
      bad.send_raw(bytes, fds);
    }
    const wire::region_access a{0, 0, 8};
    EXPECT_EQ(good.result(wire::command::region_read, device::bytes_of(a)), 0);
  }
}

}  // namespace
}  // namespace ggas::test
