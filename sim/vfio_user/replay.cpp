// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "sim/vfio_user/rig.hpp"

namespace ggas::device {

namespace {

// A line that begins with "@".
struct record {
  uint64_t number;  // of the line
  uint64_t ps;
  unsigned node;
  std::string what;
  std::vector<std::string> words;  // after it
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, by);)
    if (!word.empty()) out.push_back(word);
  return out;
}

template <class T>
bool number(const std::string& text, T& value, int base = 10) {
  const char* const end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, value, base);
  return r.ec == std::errc() && r.ptr == end;
}

std::vector<std::byte> bytes_of_hex(const std::string& text) {
  std::vector<std::byte> out;
  for (size_t i = 0; text != "-" && i + 1 < text.size(); i += 2) {
    uint8_t b = 0;
    number(text.substr(i, 2), b, 16);
    out.push_back(std::byte(b));
  }
  return out;
}

// Which words a record has.
size_t words_of(const std::string& what) {
  static const std::map<std::string, size_t> known{{"write", 3},  {"read", 3},   {"reset", 0},
                                                   {"master", 1}, {"cable", 1},  {"store", 2},
                                                   {"memory", 2}, {"answer", 2}, {"end", 0}};
  const auto it = known.find(what);
  return it == known.end() ? ~size_t(0) : it->second;
}

std::expected<std::deque<record>, std::string> read_records(std::istream& in, unsigned nodes) {
  std::deque<record> out;
  uint64_t n = 1;
  for (std::string line; std::getline(in, line);) {
    ++n;
    if (line.empty() || line[0] != '@') continue;
    auto words = split(line.substr(1), ' ');
    record r{n, 0, 0, {}, {}};
    if (words.size() < 3 || !number(words[0], r.ps) || !number(words[1], r.node) || r.node >= nodes ||
        words_of(words[2]) != words.size() - 3 || (!out.empty() && r.ps < out.back().ps))
      return std::unexpected(fmt::format("line {}: no record: {}", n, line.substr(0, 80)));
    r.what = words[2];
    r.words.assign(words.begin() + 3, words.end());
    out.push_back(std::move(r));
  }
  return out;
}

// Answers as the guest of the log did.
class repeated_guest : public guest {
 public:
  bool may_access() const override { return master; }
  bool write(uint64_t address, std::span<const std::byte>) override {
    if (stores.empty()) return false;
    const bool mapped = stores.front();
    stores.pop_front();
    log->guest_write(node, address, mapped);
    return mapped;
  }
  void read(uint64_t address, uint32_t, read_done done) override {
    if (memory.empty() || memory.front().ps != pcie::now_ps() || address_of(memory.front()) != address) {
      waiting.emplace_back(address, std::move(done));
      return;
    }
    const record r = std::move(memory.front());
    memory.pop_front();
    finish(r, done, false);
  }
  void interrupt(unsigned) override {}

  // A late answer, to the read that waits for it.
  bool answer(const record& r) {
    const auto it = std::ranges::find(waiting, address_of(r), &std::pair<uint64_t, read_done>::first);
    if (it == waiting.end()) return false;
    const read_done done = std::move(it->second);
    waiting.erase(it);
    finish(r, done, true);
    return true;
  }

  unsigned node = 0;
  bool master = false;
  tlp_log* log = nullptr;
  std::deque<bool> stores;
  std::deque<record> memory;
  std::deque<std::pair<uint64_t, read_done>> waiting;

 private:
  static uint64_t address_of(const record& r) {
    uint64_t address = 0;
    number(r.words[0], address, 16);
    return address;
  }
  void finish(const record& r, const read_done& done, bool late) {
    std::optional<std::vector<std::byte>> bytes;
    if (r.words[1] != "unmapped") bytes = bytes_of_hex(r.words[1]);
    log->guest_memory(node, address_of(r), bytes ? &*bytes : nullptr, late);
    done(std::move(bytes));
  }
};

void apply(rig& r, repeated_guest& g, const record& e, tlp_log& log) {
  const unsigned n = e.node;
  unsigned bar = 0;
  uint64_t offset = 0;
  if (e.what == "write" || e.what == "read") {
    number(e.words[0], bar);
    number(e.words[1], offset, 16);
  }
  if (e.what == "write") {
    const auto bytes = bytes_of_hex(e.words[2]);
    log.access(n, bar, offset, bytes);
    r.port(n).write(bar, offset, bytes);
  } else if (e.what == "read") {
    uint32_t count = 0;
    number(e.words[2], count);
    log.access(n, bar, offset, count);
    r.port(n).read(bar, offset, count, [](auto) {});
  } else if (e.what == "reset") {
    log.reset(n);
    r.reset(n);
  } else if (e.what == "master") {
    g.master = e.words[0] == "1";
    log.master(n, g.master);
    r.bus_master(n, g.master);
  } else if (e.what == "cable") {
    const bool in = e.words[0] == "1";
    log.cable(in);
    r.cable(in);
  } else if (e.what == "end") {
    log.end();
  }
}

std::expected<uint64_t, std::string> compare(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::ifstream x(a), y(b);
  std::string p, q;
  for (uint64_t n = 1;; ++n) {
    const bool more = bool(std::getline(x, p)), other = bool(std::getline(y, q));
    if (!more && !other) return n - 1;
    if (more != other || p != q)
      return std::unexpected(fmt::format("line {} differs: was '{}', is '{}'", n, more ? p.substr(0, 100) : "the end",
                                         other ? q.substr(0, 100) : "the end"));
  }
}

}  // namespace

std::string log_header::line() const {
  std::string script = faults;
  std::ranges::replace(script, '\n', ';');
  return fmt::format("# ggas-device nodes={} window={} seed={} platform={} set={} faults={}", nodes, window_bytes, seed,
                     platform, fmt::join(settings, ","), script);
}

std::expected<log_header, std::string> log_header::parse(const std::string& line) {
  log_header h;
  std::map<std::string, std::string> fields;
  const size_t script = line.find(" faults=");
  for (const auto& word : split(line.substr(0, script), ' '))
    if (const size_t at = word.find('='); at != word.npos) fields[word.substr(0, at)] = word.substr(at + 1);
  if (!line.starts_with("# ggas-device ") || script == line.npos || !number(fields["nodes"], h.nodes) ||
      !number(fields["window"], h.window_bytes) || !number(fields["seed"], h.seed))
    return std::unexpected("line 1: not the log of ggas-device");
  h.platform = fields["platform"];
  h.settings = split(fields["set"], ',');
  h.faults = line.substr(script + 8);
  std::ranges::replace(h.faults, ';', '\n');
  return h;
}

std::expected<replay_result, std::string> replay(const std::filesystem::path& old, const std::filesystem::path& again,
                                                 const std::filesystem::path& waves) {
  const auto fail = [&old](const std::string& why) {
    return std::unexpected(fmt::format("{}: {}", old.string(), why));
  };
  std::ifstream in(old);
  std::string first;
  if (!std::getline(in, first)) return fail("cannot be read");
  const auto header = log_header::parse(first);
  if (!header) return fail(header.error());
  auto plat = sim::load_platform(header->platform, header->settings);
  if (!plat) return fail(plat.error());
  auto records = read_records(in, header->nodes);
  if (!records) return fail(records.error());

  std::vector<std::unique_ptr<repeated_guest>> guests;
  std::vector<guest*> owners;
  for (unsigned n = 0; n < header->nodes; ++n) {
    owners.push_back(guests.emplace_back(std::make_unique<repeated_guest>()).get());
    guests[n]->node = n;
  }
  for (const record& r : *records) {
    if (r.what == "store") guests[r.node]->stores.push_back(r.words[1] == "1");
    if (r.what == "memory") guests[r.node]->memory.push_back(r);
  }
  auto made = rig::create({.plat = std::move(*plat),
                           .nodes = header->nodes,
                           .window_bytes = header->window_bytes,
                           .seed = header->seed,
                           .faults = header->faults,
                           .make_nic = {}},
                          owners);
  if (!made) return fail(made.error());
  rig& r = **made;
  auto log = tlp_log::open(again, first, [&r] { return r.kernel().now_ps(); });
  if (!log) return std::unexpected(log.error());
  for (auto& g : guests) g->log = log->get();
  r.record(**log);
  if (const auto begun = waves.empty() ? std::expected<void, std::string>() : r.waves(waves); !begun)
    return std::unexpected(begun.error());

  for (const record& e : *records) {
    if (e.what == "memory" || e.what == "store") continue;  // the NICs ask for them
    const uint64_t now = r.kernel().now_ps();
    if (e.ps > now) r.kernel().run_until([] { return false; }, e.ps - now);
    r.kernel().enter();
    if (e.what != "answer")
      apply(r, *guests[e.node], e, **log);
    else if (!guests[e.node]->answer(e))
      return fail(fmt::format("line {}: the NIC does not read there", e.number));
  }
  if (auto whole = (*log)->finish(); !whole) return std::unexpected(whole.error());
  if (auto whole = r.end_waves(); !whole) return std::unexpected(whole.error());
  const auto lines = compare(old, again);
  if (!lines) return fail(lines.error());
  return replay_result{*lines, r.cycles()};
}

}  // namespace ggas::device
