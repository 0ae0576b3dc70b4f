// SPDX-License-Identifier: Apache-2.0
// Groups of processes of one computer. The lowest rank leads: it names the group, and all meet on its board.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "userlib/libggas/shm/shm.hpp"

namespace ggas::library::shm {

namespace {

std::array<uint64_t, ranks_most / 64> bits(const std::vector<unsigned>& members) {
  std::array<uint64_t, ranks_most / 64> set{};
  for (unsigned r : members) set[r / 64] |= uint64_t{1} << r % 64;
  return set;
}

bool same(const rank_set& s, const std::array<uint64_t, ranks_most / 64>& set) {
  return std::equal(set.begin(), set.end(), s.begin(), [](uint64_t a, const auto& b) { return a == b.load(); });
}

class shm_exchange final : public exchange {
 public:
  shm_exchange(shm_transport& t, std::vector<unsigned> members, unsigned place)
      : t_(t), members_(std::move(members)), bits_(bits(members_)), place_(place), places_(members_.size(), -1) {
    me_ = static_cast<size_t>(std::find(members_.begin(), members_.end(), t.rank()) - members_.begin());
  }

  ~shm_exchange() override {
    withdraw();
    t_.give_back(place_, members_, id_);
  }

  ggas_rc commit(limit until) override {
    until.begin();
    if (!all_found_) {
      const ggas_rc rc = wait(
          leader().groups, until, [this] { return find_all(); }, [this] { return all_alive(0); });
      if (rc != GGAS_OK) return rc;
      all_found_ = true;
      round_ = leader().records[size_t(places_[0])].round.load();
      arrive(nullptr, 0);  // no process goes on before all have found all
    }
    return await(until);
  }

  void arrive(const void* part, size_t bytes) override {
    ++round_;
    bring(part_at(me_).bytes, static_cast<const std::byte*>(part), bytes);
    if (few()) return arrival(me_).store(round_, std::memory_order_release);
    arrival(me_).store(round_);
    release_if_all_are_there();
  }

  ggas_rc await(limit until) override {
    const auto released = [&] { return few() ? all_are_there() : board().released.load() >= round_; };
    ggas_rc rc = wait(board().turned, until, released, [&] {
      release_if_all_are_there();  // the last one to arrive may have been killed before it did this
      return released() ? GGAS_OK : all_alive(round_);
    });
    if (!few() || (rc != GGAS_OK && rc != GGAS_TIMEOUT)) return rc;
    // The process that sees the end of a round of a small group wakes the sleeping members. It does so only now,
    // because its own store reaches the others while it polls for theirs. A process that times out polls once more
    // after its store, because two processes may have missed each other.
    board().turned.order();
    if (rc == GGAS_TIMEOUT && all_are_there()) rc = GGAS_OK;
    if (rc == GGAS_OK) board().turned.ring();
    return rc;
  }

  const std::byte* part(size_t member) const override { return part_at(member).bytes; }

  std::byte* mine(block kind, unsigned turn) override { return block_of(me_, kind, turn); }

  ggas_rc look(size_t member, block kind, unsigned turn, size_t offset, size_t, const std::byte*& at) override {
    at = block_of(member, kind, turn) + offset;
    return GGAS_OK;
  }

 private:
  control& leader() const { return t_.of(members_[0]).head(); }
  control& own() const { return t_.of(t_.rank()).head(); }
  group_record& record() const { return own().records[place_]; }
  bool leads() const { return me_ == 0; }
  std::byte* area(size_t member) const {
    const layout& w = t_.where();
    return t_.of(members_[member]).memory.at(w.groups() + size_t(places_[member]) * w.group_bytes());
  }
  std::byte* block_of(size_t member, block kind, unsigned turn) const {
    const size_t index = (kind == block::result ? 2 : 0) + turn % 2;
    return area(member) + t_.where().blocks() + index * block_bytes;
  }
  round_board& board() const { return *reinterpret_cast<round_board*>(area(0)); }
  round_part& part_of(size_t member, size_t parity) const {
    return reinterpret_cast<round_part*>(area(0) + t_.where().parts())[2 * member + parity];
  }
  round_part& part_at(size_t member) const { return part_of(member, round_ % 2); }

  // The line with the number comes last: the others look at it, and would take it away in between.
  static void bring(std::byte* to, const std::byte* from, size_t bytes) {
    constexpr size_t with_number = 64 - offsetof(round_part, bytes);
    if (bytes > with_number) std::memcpy(to + with_number, from + with_number, bytes - with_number);
    if (bytes) std::memcpy(to, from, std::min(bytes, with_number));
  }

  // Members read each other's words: this is faster than a result that the last one writes.
  bool few() const { return members_.size() <= round_part::few; }
  // Number of the last round that a member has come to, or of the one before.
  std::atomic<uint64_t>& arrival(size_t member) const {
    return few() ? part_at(member).arrived : board().arrived[member];
  }

  bool all_are_there() const {
    for (size_t m = members_.size(); m-- > 0;)
      if (arrival(m).load() < round_) return false;
    return true;
  }

  void release_if_all_are_there() {
    if (!all_are_there()) return;
    if (!few()) raise(board().released, round_);
    board().turned.ring();
  }

  // Whether all members are alive that have not arrived in a round.
  ggas_rc all_alive(uint64_t round) const {
    t_.look_out();
    for (size_t m = 0; m < members_.size(); ++m) {
      if (t_.healthy(members_[m]) || (round && arrival(m).load() >= round)) continue;
      return t_.expect(members_[m]);
    }
    return GGAS_OK;
  }

  void publish(uint64_t id) {
    id_ = id;
    for (size_t w = 0; w < bits_.size(); ++w) record().members[w].store(bits_[w]);
    record().id.store(id);
    leader().groups.ring();
  }

  void withdraw() {
    record().id.store(0);
    leader().groups.ring();
  }

  // Publishes what can be published by now; true when all members have.
  bool find_all() {
    if (leads() && id_ == 0) announce();
    if (!leads()) follow();
    if (id_ == 0) return false;
    for (size_t m = 0; m < members_.size(); ++m) {
      places_[m] = place_of(t_.of(members_[m]).head(), members_, id_);
      if (places_[m] < 0) return false;
    }
    return true;
  }

  void announce() {
    const layout& w = t_.where();
    std::byte* const own = t_.of(t_.rank()).memory.at(w.groups() + place_ * w.group_bytes());
    const auto& b = *reinterpret_cast<const round_board*>(own);
    const auto* const parts = reinterpret_cast<const round_part*>(own + w.parts());
    uint64_t last = b.released.load();  // rounds of groups that had this place before
    for (size_t m = 0; m < t_.size(); ++m) last = std::max(last, b.arrived[m].load());
    for (size_t m = 0; m < std::min<size_t>(t_.size(), round_part::few); ++m)
      for (size_t parity : {0, 1}) last = std::max(last, parts[2 * m + parity].arrived.load());
    record().round.store(last);
    publish(t_.next_group_id());
  }

  // Takes the leader's oldest group of these members that this rank has not been in.
  void follow() {
    if (id_ && place_of(leader(), members_, id_) >= 0) return;
    const uint64_t last = t_.last_joined(members_);
    uint64_t oldest = UINT64_MAX;
    for (const group_record& r : leader().records)
      if (const uint64_t id = r.id.load(); id > last && id < oldest && same(r.members, bits_)) oldest = id;
    if (oldest == UINT64_MAX || place_of(leader(), members_, oldest) < 0) return;
    if (t_.join(members_, oldest)) publish(oldest);
  }

  shm_transport& t_;
  std::vector<unsigned> members_;
  std::array<uint64_t, ranks_most / 64> bits_;
  unsigned place_;           // in this rank's table
  std::vector<int> places_;  // in the tables of all members
  size_t me_;
  uint64_t id_ = 0, round_ = 0;
  bool all_found_ = false;
};

}  // namespace

int place_of(const control& c, const std::vector<unsigned>& members, uint64_t id) {
  const auto set = bits(members);
  for (size_t i = 0; i < c.records.size(); ++i) {
    const group_record& r = c.records[i];
    if (r.id.load() == id && same(r.members, set) && r.id.load() == id) return static_cast<int>(i);
  }
  return -1;
}

// A place can be used again when no living member is in its last group: it might still look at its board.
bool shm_transport::vacant(const group_place& p) {
  if (p.used) return false;
  if (p.id == 0) return true;  // its last group found no leader
  return std::none_of(p.members.begin(), p.members.end(), [&](unsigned r) {
    return r != rank_ && place_of(peers_[r].head(), p.members, p.id) >= 0 && state(r) == GGAS_STATE_HEALTHY;
  });
}

std::unique_ptr<exchange> shm_transport::group(const std::vector<unsigned>& members) {
  const std::lock_guard held(groups_);
  for (unsigned i = 0; i < places_.size(); ++i) {
    if (!vacant(places_[i])) continue;
    places_[i].used = true;
    return std::make_unique<shm_exchange>(*this, members, i);
  }
  fail(GGAS_ERR_GROUP, "no group is left: members still use all ", GGAS_GROUPS, " groups of this rank");
  return nullptr;
}

void shm_transport::give_back(unsigned place, std::vector<unsigned> members, uint64_t id) {
  const std::lock_guard held(groups_);
  places_[place] = {false, std::move(members), id};
}

uint64_t shm_transport::last_joined(const std::vector<unsigned>& members) {
  const std::lock_guard held(groups_);
  return joined_[members];
}

bool shm_transport::join(const std::vector<unsigned>& members, uint64_t id) {
  const std::lock_guard held(groups_);
  uint64_t& last = joined_[members];
  if (id <= last) return false;  // another thread was faster
  last = id;
  return true;
}

}  // namespace ggas::library::shm
