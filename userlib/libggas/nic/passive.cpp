// SPDX-License-Identifier: Apache-2.0
// Passive messages: up to 64 bytes go into the receiver's mailbox. Of a longer one only its place in the sender's
// memory goes there, and the receiver gets the data. At most one message of a rank waits at a receiver, so the mailbox
// is never full.
#include <cstring>

#include "userlib/libggas/nic/nic.hpp"

namespace ggas::library::nic {

ggas_rc nic_transport::send(unsigned to, const void* from, uint64_t bytes, limit until) {
  turn mine(turns_);
  to_->call();
  const auto* const taken = control<uint64_t>(where_.taken(to));
  const watched word[] = {{taken, sizeof *taken, watched::writer::ranks}};
  const auto empty = [&] { return *taken == sent_[to]; };
  if (ggas_rc rc = expect(to); rc != GGAS_OK) return rc;
  if (ggas_rc rc = wait(mine, word, until, empty, [&] { return expect(to); }); rc != GGAS_OK) return rc;
  const uint64_t cookie = uint64_t{rank()} << 32 | bytes;
  uint64_t few[8];  // what fits into the mailbox
  if (bytes <= GGAS_RMA_INLINE_MAX) {
    if (ggas_rc rc = gpus_.move(few, from, bytes); rc != GGAS_OK) return rc;
    post(answer_context, ggas_rma_send(peer(to), few, uint32_t(bytes), 0, cookie));
  } else {
    memory& copy = bounce_[to];
    if (!copy.start)
      if (ggas_rc rc = to_->take(GGAS_PASSIVE_MOST, nullptr, copy); rc != GGAS_OK) return rc;
    if (ggas_rc rc = gpus_.move(copy.start, from, bytes); rc != GGAS_OK) return rc;
    post(answer_context, ggas_rma_send(peer(to), &copy.nla, sizeof copy.nla, 0, cookie));
  }
  ++sent_[to];
  return GGAS_OK;
}

// Moves what is in the mailbox to the list of what has arrived; false: that is empty.
bool nic_transport::take_messages() {
  ggas_rma_message m;
  while (ggas_rma_next_message(&to_->context(answer_context), &m)) {
    message one{unsigned(m.note.cookie >> 32), uint32_t(m.note.cookie), {}};
    std::memcpy(one.data, m.data, sizeof one.data);
    if (one.rank < size() && one.bytes <= GGAS_PASSIVE_MOST) arrived_.push_back(one);
  }
  return !arrived_.empty();
}

ggas_rc nic_transport::receive(void* to, uint64_t room, unsigned& from, limit until) {
  turn mine(turns_);
  to_->call();
  const ggas_rma_context& c = to_->context(answer_context);
  const uint32_t next = c.messages & ((1u << c.mailbox_log2) - 1);
  const watched box[] = {// its last words
                         {c.mailbox + next * GGAS_RMA_MESSAGE_BYTES + 64, 16, watched::writer::senders}};
  const auto there = [&] { return take_messages(); };
  if (ggas_rc rc = wait(mine, box, until, there, [] { return GGAS_OK; }); rc != GGAS_OK) return rc;
  const message m = arrived_.front();
  from = m.rank;
  if (m.bytes > room)
    return fail(GGAS_ERR_SIZE, "a message of rank ", m.rank, " has ", m.bytes, " bytes, the room has ", room);
  arrived_.pop_front();
  if (m.bytes <= GGAS_RMA_INLINE_MAX) {
    if (ggas_rc rc = gpus_.move(to, m.data, m.bytes); rc != GGAS_OK) return rc;
  } else {
    if (ggas_rc rc = fetch(m.rank, m.data[0], to_->nla_of(to, m.bytes), m.bytes); rc != GGAS_OK) return rc;
  }
  const uint64_t count = ++took_[m.rank];
  tell(m.rank, control_of(m.rank) + where_.taken(rank()), &count, sizeof count);
  return land();
}

}  // namespace ggas::library::nic
