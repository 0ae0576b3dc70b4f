// SPDX-License-Identifier: Apache-2.0
// The environment of an SMFU under test: nodes that answer its loads, and a host that serves its reads; and the
// expected results of a request, computed independently.
#pragma once

#include <functional>

#include "tests/rtl/smfu/bench.hpp"

namespace ggas::test::smfu {

// Content of a word of a node's segment (or of the bus, node 0).
inline uint32_t content(unsigned node, uint64_t addr) {
  uint64_t x = (addr >> 2) * 0x9e3779b97f4a7c15ULL + node * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 29;
  return uint32_t(x * 0x94d049bb133111ebULL >> 32);
}

inline unsigned lead(unsigned be) { return be ? unsigned(__builtin_ctz(be)) : 0; }
inline unsigned trail(unsigned be) { return be ? unsigned(__builtin_clz(be)) - 28 : 3; }
inline unsigned byte_count(const tlp& t) {
  return 4 * t.len_dw - lead(t.first_be) - trail(t.len_dw == 1 ? t.first_be : t.last_be);
}

inline tlp request(tlp_kind kind, uint64_t addr, unsigned len, unsigned first_be = 0xf, unsigned last_be = 0xf) {
  tlp t;
  t.kind = kind;
  t.bar = 2;
  t.addr = addr;
  t.len_dw = uint16_t(len);
  t.first_be = uint8_t(first_be);
  t.last_be = uint8_t(len > 1 ? last_be : 0);
  t.requester = 0x1234;
  return t;
}
inline tlp quiet_read(unsigned tag, unsigned len = 2, unsigned page = 3) {
  tlp t = request(tlp_kind::mrd, 0x2000 * page, len);
  t.bar = 4;
  t.tag = uint16_t(tag);
  return t;
}
inline packet net_packet(nic::op op, uint16_t src, uint64_t addr, unsigned dw) {
  packet p;
  p.op = uint8_t(op);
  p.dst = 1;
  p.src = src;
  p.addr = addr;
  const bool store = op == nic::op::store;
  p.vc = store ? 0 : op == nic::op::load || op == nic::op::quiet ? 1 : 2;
  if (store) p.len_dw = uint16_t(dw);
  if (op == nic::op::load) p.req_dw = uint16_t(dw);
  p.first_be = 0xf;
  p.last_be = dw > 1 ? 0xf : 0;
  if (store || op == nic::op::load) p.export_no = home_export, p.domain = home_domain;
  return p;
}

// Pieces [first, length) of `len` DWs: cut where `room(done)` ends.
inline std::vector<std::pair<unsigned, unsigned>> cut(unsigned len, const std::function<unsigned(unsigned)>& room) {
  std::vector<std::pair<unsigned, unsigned>> out;
  for (unsigned done = 0; done < len;) {
    const unsigned n = std::min(len - done, room(done));
    out.emplace_back(done, n);
    done += n;
  }
  return out;
}
inline unsigned piece_first_be(unsigned first, unsigned n, unsigned len, unsigned first_be, unsigned last_be) {
  if (first == 0) return first_be;
  return n == 1 && first + n == len ? last_be : 0xf;
}
inline unsigned piece_last_be(unsigned first, unsigned n, unsigned len, unsigned last_be) {
  if (n == 1) return 0;
  return first + n == len ? last_be : 0xf;
}

// Packets of a store to `node`, segment offset `addr`.
inline std::vector<packet> store_packets(const tlp& t, uint16_t node, uint64_t addr, unsigned mtu) {
  std::vector<packet> out;
  for (auto [first, n] : cut(t.len_dw, [&](unsigned) { return mtu / 4; })) {
    packet p = net_packet(nic::op::store, 1, addr + 4 * first, n);
    p.dst = node;
    p.first_be = uint8_t(piece_first_be(first, n, t.len_dw, t.first_be, t.last_be));
    p.last_be = uint8_t(piece_last_be(first, n, t.len_dw, t.last_be));
    p.data.assign(t.data.begin() + first, t.data.begin() + first + n);
    out.push_back(p);
  }
  return out;
}

inline std::vector<packet> load_packets(const tlp& t, uint16_t node, uint64_t addr, unsigned mps) {
  std::vector<packet> out;
  const uint64_t border = std::min(mps, 256u);
  for (auto [first, n] :
       cut(t.len_dw, [&](unsigned done) { return unsigned((border - (addr + 4 * done) % border) / 4); })) {
    packet p = net_packet(nic::op::load, 1, addr + 4 * first, n);
    p.set_whole(n == t.len_dw);
    p.dst = node;
    p.first_be = uint8_t(piece_first_be(first, n, t.len_dw, t.first_be, t.last_be));
    p.last_be = uint8_t(piece_last_be(first, n, t.len_dw, t.last_be));
    out.push_back(p);
  }
  return out;
}

inline packet answer_to(const packet& q, nic::net_status status = nic::net_status::ok) {
  packet r = net_packet(q.is(nic::op::load) ? nic::op::load_rsp : nic::op::quiet_rsp, q.dst, 0, 0);
  r.first_be = r.last_be = 0;
  r.tag = q.tag;
  if (q.is(nic::op::load)) r.addr = q.piece();
  r.status = uint8_t(status);
  if (q.is(nic::op::load) && status == nic::net_status::ok) {
    r.len_dw = q.req_dw;
    for (unsigned i = 0; i < q.req_dw; ++i) r.data.push_back(content(q.dst, q.addr + 4 * i));
  }
  return r;
}

inline std::string text(const packet& p) {
  char s[160];
  std::snprintf(s, sizeof s, "op %u %u->%u addr %llx len %u req %u be %x/%x tag %x st %u vc %u dws %zu", p.op, p.src,
                p.dst, (unsigned long long)p.addr, p.len_dw, p.req_dw, p.first_be, p.last_be, p.tag, p.status, p.vc,
                p.data.size());
  return s;
}
inline bool same(const packet& a, const packet& b, bool with_tag) {
  packet x = a;
  if (!with_tag) x.tag = b.tag;
  return x.header() == b.header() && a.data == b.data;
}

// Nodes that answer: in order per node, after a random while.
template <class B>
class nodes {
 public:
  explicit nodes(B& b) : b_(b) {}
  std::function<nic::net_status(const packet&)> status = [](const packet&) { return nic::net_status::ok; };
  unsigned percent = 10;  // chance a cycle that a node answers
  void step() {
    for (; next_ < b_.tx_np.all.size(); ++next_) {
      const packet& q = b_.tx_np.all[next_].t;
      waiting_[q.dst].push_back(q);
    }
    for (auto& [node, q] : waiting_) {
      if (q.empty() || !b_.chance(percent)) continue;
      b_.push(b_.rx_rsp, answer_to(q.front(), status(q.front())));
      q.pop_front();
    }
  }
  bool idle() const {
    bool none = next_ == b_.tx_np.all.size();
    for (auto& [node, q] : waiting_) none = none && q.empty();
    return none;
  }

 private:
  B& b_;
  size_t next_ = 0;
  std::map<uint16_t, std::deque<packet>> waiting_;
};

// A host that keeps what was written, and completes reads in pieces at RCB, tags in any order.
template <class B>
class memory {
 public:
  explicit memory(B& b) : b_(b) {}
  unsigned rcb = 64, percent = 20;
  uint64_t reads = 0, writes = 0;
  void step() {
    for (; next_ < b_.tgt_req.all.size(); ++next_) {
      const tlp& t = b_.tgt_req.all[next_].t;
      if (t.kind == tlp_kind::mwr) {
        write(t);
      } else {
        read(t);
      }
    }
    if (open_.empty() || !b_.chance(percent)) return;
    auto it = std::next(open_.begin(), b_.random(unsigned(open_.size())));
    b_.push(b_.tgt_cpl, it->second.front());
    it->second.pop_front();
    if (it->second.empty()) open_.erase(it);
  }
  bool idle() const { return next_ == b_.tgt_req.all.size() && open_.empty(); }
  uint32_t word(uint64_t addr) const {
    auto it = words_.find(addr);
    return it == words_.end() ? content(0, addr) : it->second;
  }

 private:
  void write(const tlp& t) {
    ++writes;
    for (unsigned i = 0; i < t.len_dw; ++i) {
      const unsigned be = i == 0 ? t.first_be : i + 1 == t.len_dw ? t.last_be : 0xf;
      uint32_t mask = 0;
      for (unsigned k = 0; k < 4; ++k) mask |= be >> k & 1 ? 0xffu << (8 * k) : 0;
      const uint64_t a = t.addr + 4 * i;
      words_[a] = (word(a) & ~mask) | (t.data[i] & mask);
    }
  }
  void read(const tlp& t) {
    ++reads;
    EXPECT_LT(t.tag, 128u);
    EXPECT_FALSE(open_.contains(t.tag)) << "tag " << t.tag << " used twice";
    unsigned left = byte_count(t);
    for (unsigned done = 0; done < t.len_dw;) {
      // A completion ends at a multiple of RCB, maybe not the next one, or with the request.
      unsigned n = unsigned((rcb - (t.addr + 4 * done) % rcb) / 4);
      while (b_.chance(50)) n += rcb / 4;
      n = std::min<unsigned>(n, t.len_dw - done);
      tlp c;
      c.kind = tlp_kind::cpld;
      c.tag = t.tag;
      c.len_dw = uint16_t(n);
      c.byte_count = uint16_t(left);
      c.lower_addr = uint8_t((t.addr + 4 * done + (done ? 0 : lead(t.first_be))) & 0x7f);
      for (unsigned i = 0; i < n; ++i) c.data.push_back(word(t.addr + 4 * (done + i)));
      left -= done + n == t.len_dw ? left : 4 * n - (done ? 0 : lead(t.first_be));
      done += n;
      open_[t.tag].push_back(c);
    }
  }
  B& b_;
  size_t next_ = 0;
  std::map<unsigned, std::deque<tlp>> open_;
  std::map<uint64_t, uint32_t> words_;
};

}  // namespace ggas::test::smfu
