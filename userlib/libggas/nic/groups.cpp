// SPDX-License-Identifier: Apache-2.0
// Groups. Each member has a board in its memory, on which the others put their parts of a round, so that waiting is
// local. The lowest rank leads: it names the group.
#include <algorithm>
#include <cstring>

#include "userlib/libggas/nic/nic.hpp"

namespace ggas::library::nic {

namespace {

constexpr uint64_t grace_ns = 1'000'000;  // what a lost rank had sent may still arrive

// Hash of a set of members (FNV-1a); never 0.
uint64_t key_of(const std::vector<unsigned>& members) {
  uint64_t key = 0xcbf29ce484222325;
  for (const unsigned r : members) key = (key ^ (r + 1)) * 0x100000001b3;
  return key | 1;
}

// A part of a round on a board. Short ones arrive with their number in one piece, longer ones before it.
struct alignas(64) board_part {
  uint64_t round;
  std::byte data[exchange::part_most];
  static constexpr size_t together = 64 - sizeof(uint64_t);
};

struct board_layout {
  size_t members;
  static constexpr size_t turns = 2;
  size_t part(size_t member, uint64_t round) const { return (member * turns + round % turns) * sizeof(board_part); }
  size_t block(exchange::block kind, unsigned turn) const {
    const size_t index = (kind == exchange::block::result ? turns : 0) + turn % turns;
    return part(members, 0) + index * exchange::block_bytes;
  }
  size_t landing() const { return part(members, 0) + 2 * turns * exchange::block_bytes; }
  size_t bytes() const { return landing() + exchange::block_bytes; }
};

}  // namespace

class nic_exchange final : public exchange {
 public:
  nic_exchange(nic_transport& t, std::vector<unsigned> members, unsigned place)
      : t_(t), members_(std::move(members)), key_(key_of(members_)), place_(place), boards_(members_.size()) {
    me_ = size_t(std::find(members_.begin(), members_.end(), t.rank()) - members_.begin());
    layout_ = {members_.size()};
    board_ = t.place_at(place).board;
  }

  ~nic_exchange() override {
    const turn mine(t_.threads());
    auto& p = t_.place_at(place_);
    p.used = false;
    p.members = members_;
    p.key = key_;
    p.id = id_;
    try {
      publish(0);
      static_cast<void>(t_.settle_reported());
    } catch (const std::exception&) {
      // The NIC has gone, and with it the others.
    }
  }

  ggas_rc commit(limit until) override {
    until.begin();  // of both waits
    if (!all_found_) {
      turn mine(t_.threads());
      t_.device().call();
      const auto entries = watched_entries();
      const auto rc = t_.wait(
          mine, entries, until, [this] { return find_all(); }, [this] { return all_alive(0); });
      if (rc != GGAS_OK) return rc;
      all_found_ = true;
    }
    if (round_ == 0) arrive(nullptr, 0);  // no process goes on before all have found all
    return await(until);
  }

  void arrive(const void* part, size_t bytes) override {
    const turn mine(t_.threads());
    t_.device().call();
    ++round_;
    grace_.reset();
    board_part& own = *at(me_);
    own.round = round_;
    if (bytes) std::memcpy(own.data, part, bytes);
    for (size_t m = 0; m < members_.size(); ++m)
      if (m != me_) give_part(m, bytes);
  }

  ggas_rc await(limit until) override {
    turn mine(t_.threads());
    t_.device().call();
    const auto rounds = watched_rounds();
    const auto rc = t_.wait(
        mine, rounds, until, [this] { return all_there(); }, [this] { return all_alive(round_); });
    return rc == GGAS_OK ? t_.land() : rc;
  }

  const std::byte* part(size_t member) const override { return at(member)->data; }

  std::byte* mine(block kind, unsigned turn) override { return board_.start + layout_.block(kind, turn); }

  ggas_rc look(size_t member, block kind, unsigned turn, size_t offset, size_t bytes, const std::byte*& to) override {
    to = mine(kind, turn) + offset;
    if (member == me_) return GGAS_OK;
    const nic::turn now(t_.threads());
    const uint64_t from = boards_[member] + layout_.block(kind, turn) + offset;
    to = board_.start + layout_.landing();
    return t_.fetch(members_[member], from, board_.nla + layout_.landing(), bytes);
  }

 private:
  static constexpr size_t watched_most = 64;
  board_part* at(size_t member) const {
    return reinterpret_cast<board_part*>(board_.start + layout_.part(member, round_));
  }
  volatile const uint64_t& round_of(size_t member) const { return at(member)->round; }
  bool leads() const { return me_ == 0; }

  // The part of this round to a member: from the own board, which keeps it until all have it.
  void give_part(size_t member, size_t bytes) {
    const unsigned rank = members_[member];
    const size_t offset = layout_.part(me_, round_);
    const uint64_t target = boards_[member] + offset;
    if (bytes <= board_part::together) {
      t_.tell(rank, target, at(me_), uint32_t(sizeof(uint64_t) + bytes));
      return;
    }
    constexpr size_t data = offsetof(board_part, data);
    t_.post(control_context, ggas_rma_put(t_.device().peer(rank), board_.nla + offset + data, target + data,
                                          uint32_t(bytes), GGAS_RMA_ACK, rank));
    t_.tell(rank, target, &round_, sizeof round_);
  }

  bool all_there() const {
    for (size_t m = 0; m < members_.size(); ++m)
      if (round_of(m) < round_) return false;
    return true;
  }

  std::vector<watched> watched_rounds() const {
    std::vector<watched> v;
    for (size_t m = 0; m < members_.size() && v.size() < watched_most; ++m)
      if (round_of(m) < round_) v.push_back({&round_of(m), sizeof(uint64_t), watched::writer::ranks});
    return v;
  }

  // Whether all members are alive that have not arrived in a round (0: have not come to the group).
  ggas_rc all_alive(uint64_t round) {
    for (size_t m = 0; m < members_.size(); ++m) {
      if (t_.healthy(members_[m]) || (round && round_of(m) >= round)) continue;
      if (!grace_) grace_ = limit::after(grace_ns);
      if (grace_->passed()) return t_.expect(members_[m]);
    }
    return GGAS_OK;
  }

  // ---- finding the others

  const volatile group_entry* entries_of(unsigned rank) const {
    return t_.control<group_entry>(t_.where().groups(rank));
  }
  std::vector<watched> watched_entries() const {
    std::vector<watched> v;
    for (size_t m = 0; m < members_.size() && v.size() < watched_most; ++m)
      if (m != me_) v.push_back({entries_of(members_[m]), GGAS_GROUPS * sizeof(group_entry), watched::writer::ranks});
    return v;
  }
  const volatile group_entry* entry_of(unsigned rank, uint64_t id) const {
    const auto* const e = entries_of(rank);
    for (unsigned i = 0; id && i < GGAS_GROUPS; ++i)
      if (e[i].key == key_ && e[i].id == id) return e + i;
    return nullptr;
  }

  // Informs all members which group this rank is in here; 0: none.
  void publish(uint64_t id) {
    id_ = id;
    const group_entry e{id ? key_ : 0, id, board_.nla, 0};
    const uint64_t offset = t_.where().groups(t_.rank()) + place_ * sizeof e;
    for (size_t m = 0; m < members_.size(); ++m)
      if (m != me_) t_.tell(members_[m], t_.control_of(members_[m]) + offset, &e, sizeof e);
  }

  bool find_all() {
    if (leads() && id_ == 0) publish(t_.next_group_id());
    if (!leads()) follow();
    if (id_ == 0) return false;
    for (size_t m = 0; m < members_.size(); ++m) {
      if (m == me_) continue;
      const auto* const e = entry_of(members_[m], id_);
      if (!e) return false;
      boards_[m] = e->board;
    }
    return true;
  }

  // Takes the leader's oldest group of these members that this rank has not been in.
  void follow() {
    if (entry_of(members_[0], id_)) return;
    const auto* const e = entries_of(members_[0]);
    const uint64_t last = t_.joined()[key_];
    uint64_t oldest = UINT64_MAX;
    for (unsigned i = 0; i < GGAS_GROUPS; ++i)
      if (e[i].key == key_ && e[i].id > last && e[i].id < oldest) oldest = e[i].id;
    if (oldest == UINT64_MAX) return;
    t_.joined()[key_] = oldest;
    publish(oldest);
  }

  nic_transport& t_;
  std::vector<unsigned> members_;
  uint64_t key_;
  unsigned place_;                // in this rank's table
  std::vector<uint64_t> boards_;  // network logical addresses
  memory board_;
  board_layout layout_{};
  size_t me_ = 0;
  uint64_t id_ = 0, round_ = 0;
  bool all_found_ = false;
  std::optional<limit> grace_;
};

// A place and its board can be used again when no living member is in its last group.
bool nic_transport::vacant(const group_place& p) {
  if (p.used) return false;
  return std::none_of(p.members.begin(), p.members.end(), [&](unsigned r) {
    if (r == rank() || p.id == 0 || !healthy(r)) return false;
    const auto* const e = control<group_entry>(where_.groups(r));
    for (unsigned i = 0; i < GGAS_GROUPS; ++i)
      if (e[i].key == p.key && e[i].id == p.id) return true;
    return false;
  });
}

std::unique_ptr<exchange> nic_transport::group(const std::vector<unsigned>& members) {
  const turn mine(turns_);
  for (unsigned i = 0; i < places_.size(); ++i) {
    group_place& p = places_[i];
    if (!vacant(p)) continue;
    if (p.board.start) to_->give(p.board);
    p = {};
    if (to_->take(board_layout{members.size()}.bytes(), nullptr, p.board) != GGAS_OK) return nullptr;
    p.used = true;
    return std::make_unique<nic_exchange>(*this, members, i);
  }
  fail(GGAS_ERR_GROUP, "no group is left: members still use all ", GGAS_GROUPS, " groups of this rank");
  return nullptr;
}

}  // namespace ggas::library::nic
