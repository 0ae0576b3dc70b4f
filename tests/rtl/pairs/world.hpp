// SPDX-License-Identifier: Apache-2.0
// Protection domains that share the NICs of a triangle, and a scoreboard over them. Each domain has its own memory at
// every node. The expected value of a word is a function of node and address, whichever node writes it and however
// often: so every write of a NIC can be checked when it leaves, even after losses.
#pragma once

#include <map>
#include <vector>

#include "tests/rtl/harness/rma_user.hpp"
#include "tests/rtl/pairs/triangle.hpp"

namespace ggas::test {

inline constexpr unsigned domains = 3, hostile = 2;  // the last one is not to be trusted
inline constexpr uint16_t domain_number[domains] = {0xa11a, 0xb22b, 0xc33c};

// Parts of a domain's memory at a node.
enum class region : unsigned {
  stores,    // through the window
  copies,    // likewise, to groups
  puts,      // targets of puts
  gets,      // of gets, at the initiator
  gives,     // their sources
  counters,  // targets of atomics: 8 bytes for each initiator
  results,   // their records
  sums,      // results of collectives, flag
  sources,   // of puts: one for each target
  all = 11
};

class world {
 public:
  explicit world(uint64_t seed);

  static constexpr uint64_t region_bytes = 0x8000;
  static constexpr unsigned export_number = 4, vpid = 10;  // of domain 0; those of the others follow
  static uint64_t home(unsigned d) { return (d + 1) * 0x1'0000'0000; }
  static uint64_t at(unsigned d, region r, uint64_t offset) { return home(d) + unsigned(r) * region_bytes + offset; }
  static uint64_t source(unsigned d, unsigned target, uint64_t offset) {
    return at(d, region::sources, target * region_bytes + offset);
  }
  // Network logical address of a place.
  static uint64_t logical(uint64_t bus) {
    const uint64_t d = (bus >> 32) - 1, pages = unsigned(region::all) * region_bytes >> 12;
    return nla(0, d * pages + ((bus & 0xffff'ffff) >> 12), bus & 0xfff);
  }
  // The part of a region that belongs to users of node n.
  static constexpr uint64_t share_bytes = 0x2000;
  static uint64_t share(unsigned n) { return n * share_bytes; }

  // What belongs at a place of stores, copies, puts or gets; the latter are the same at all nodes.
  static constexpr unsigned any_node = 7;
  static uint32_t word(unsigned node, uint64_t bus);
  static uint32_t value(uint64_t key, uint64_t index);

  bool set_up();
  void set_up_node(unsigned n);  // everything but LINK_PEER, on a NIC fresh from reset or stopped
  void give_out(unsigned n, unsigned d) {
    t.give_out(n, export_number + d, home(d), 2 * region_bytes, domain_number[d]);
  }
  // All pages of a domain at a node.
  void map(unsigned n, unsigned d, bool valid);
  rma_user& user(unsigned d, unsigned n) { return *users_[d][n]; }
  uint64_t page(unsigned d) const { return (vpid + d) * nic::rma_context_bytes; }

  // ---- scoreboard
  // Memory that has no owner for a while: [first, first + bytes) of node n.
  void close(unsigned n, uint64_t first, uint64_t bytes) { closed_.push_back({n, first, bytes}); }
  void open_all() { closed_.clear(); }
  // Words of counters, results and sums: checked by who uses them.
  using check = std::function<bool(unsigned n, uint64_t offset, uint32_t dw)>;
  std::array<std::map<region, check>, domains> checks;
  // A failure of a domain's own traffic, unless it is the hostile one's, which may hurt itself.
  template <class... A>
  void wrong(unsigned d, fmt::format_string<A...> f, A&&... args) {
    if (d != hostile) t.fail.add(f, std::forward<A>(args)...);
  }
  void clear(unsigned n, uint64_t bus, uint64_t bytes);
  bool holds(unsigned n, uint64_t bus, uint64_t bytes, unsigned as_node);  // all of it is word(as_node, ...)

  // Nothing is disturbed now, and nothing was since `epoch` had this value.
  bool calm = true;
  unsigned epoch = 0;

  triangle t;
  rma_driver driver;
  rng random;

 private:
  struct range {
    unsigned n;
    uint64_t first, bytes;
  };
  void see(unsigned n, const pcie::tlp& t);
  bool belongs(unsigned n, uint64_t bus, uint32_t dw, unsigned be);
  std::array<std::array<std::unique_ptr<rma_user>, triangle::size>, domains> users_;
  std::vector<range> closed_;
};

}  // namespace ggas::test
