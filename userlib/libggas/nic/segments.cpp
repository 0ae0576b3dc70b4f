// SPDX-License-Identifier: Apache-2.0
// Segments. Who may reach one is informed where it is; who was not informed does not know.
#include <algorithm>
#include <cstring>
#include <functional>

#include "userlib/libggas/nic/nic.hpp"

namespace ggas::library::nic {

namespace {
constexpr uint64_t slots_bytes = GGAS_NOTIFICATIONS * sizeof(uint32_t);
}

ggas_rc nic_transport::own(unsigned segment, own_segment*& s) {
  s = &own_[segment];
  if (s->data.start) return GGAS_OK;
  return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank(), ": does not exist");
}

ggas_rc nic_transport::segment_open(unsigned segment, uint64_t bytes, void* bound) {
  const turn mine(turns_);
  if (own_[segment].data.start) return fail(GGAS_ERR_STATE, "segment ", segment, " is there already");
  memory data;
  if (ggas_rc rc = to_->take(bytes, bound, data); rc != GGAS_OK) return rc;
  const ggas_rc rc = enter(segment, data, false);
  if (rc != GGAS_OK) to_->give(data);
  return rc;
}

ggas_rc nic_transport::segment_open(unsigned segment, const buffer& b) {
  const turn mine(turns_);
  if (own_[segment].data.start) return fail(GGAS_ERR_STATE, "segment ", segment, " is there already");
  memory data;
  bool elsewhere = false;
  if (ggas_rc rc = to_->take(b, data, elsewhere); rc != GGAS_OK) return rc;
  const ggas_rc rc = enter(segment, data, false);
  if (rc == GGAS_OK)
    own_[segment].elsewhere = elsewhere;
  else
    to_->give(data);
  return rc;
}

// A segment of memory that is there; of_other: it stays when the segment goes.
ggas_rc nic_transport::enter(unsigned segment, const memory& data, bool of_other) {
  own_segment& s = own_[segment];
  if (s.data.start) return fail(GGAS_ERR_STATE, "segment ", segment, " is there already");
  if (ggas_rc rc = to_->take(slots_bytes, nullptr, s.slots); rc != GGAS_OK) return rc;
  s.data = data;
  s.of_other = of_other;
  s.permitted.assign(size(), false);
  return GGAS_OK;
}

ggas_rc nic_transport::segment_close(unsigned segment) {
  const turn mine(turns_);
  own_segment* s;
  if (ggas_rc rc = own(segment, s); rc != GGAS_OK) return rc;
  for (unsigned r = 0; r < size(); ++r)
    if (s->permitted[r] && healthy(r)) publish(segment, r, false);
  const ggas_rc rc = settle_reported();
  if (!s->of_other) to_->give(s->data);
  to_->give(s->slots);
  *s = {};
  return rc;
}

std::optional<uint64_t> nic_transport::place_on_gpu(const own_segment& s) const {
  return gpus_.holds(s.data.start) ? std::optional(gpus_.offset_of(s.data.nla)) : std::nullopt;
}

void nic_transport::publish(unsigned segment, unsigned to, bool there) {
  const own_segment& s = own_[segment];
  const segment_entry e = there
                              ? segment_entry{s.data.nla, s.data.bytes, s.slots.nla, segment_entry::at(place_on_gpu(s))}
                              : segment_entry{};
  tell(to, control_of(to) + where_.segments(rank()) + segment * sizeof e, &e, sizeof e);
}

ggas_rc nic_transport::segment_permit(unsigned segment, unsigned to) {
  const turn mine(turns_);
  own_segment* s;
  if (ggas_rc rc = own(segment, s); rc != GGAS_OK) return rc;
  if (to == rank() || s->permitted[to]) return GGAS_OK;
  s->permitted[to] = true;
  publish(segment, to, true);
  return settle_reported();
}

ggas_rc nic_transport::look(unsigned of, unsigned segment, view& v) {
  if (of == rank()) {
    own_segment* s;
    const ggas_rc rc = own(segment, s);
    v = {s->data.nla, s->data.bytes, s->slots.nla, place_on_gpu(*s)};
    return rc;
  }
  look_out();
  if (known_[of] == GGAS_STATE_LEFT) return expect(of);  // its segments have gone with it
  const auto* const e = control<segment_entry>(where_.segments(of)) + segment;
  v = {e->nla, e->bytes, e->slots, e->place_on_gpu()};
  if (e->there != 0) return GGAS_OK;
  return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", of, ": does not exist, or rank ", rank(),
              " may not reach it");
}

ggas_rc nic_transport::look(const place& p, uint64_t bytes, view& v) {
  if (ggas_rc rc = look(p.rank, p.segment, v); rc != GGAS_OK) return rc;
  if (p.offset <= v.bytes && bytes <= v.bytes - p.offset) return GGAS_OK;
  return fail(GGAS_ERR_RANGE, "segment ", p.segment, " of rank ", p.rank, ": offset ", p.offset, " + ", bytes,
              " is behind its ", v.bytes, " bytes");
}

bool nic_transport::lies_elsewhere(const void* at) const {
  if (gpus_.holds(at)) return true;
  const auto* const byte = static_cast<const std::byte*>(at);
  return std::ranges::any_of(own_, [&](const own_segment& s) {
    return s.elsewhere && std::less_equal<>()(s.data.start, byte) && byte < s.data.start + s.data.bytes;
  });
}

// A read of the NIC's passes no write of its own to the same device.
ggas_rc nic_transport::land() {
  const uint64_t to = control_.nla + control_layout::landed();
  bool any = false;
  for (const own_segment& s : own_) {
    if (!s.elsewhere) continue;
    any = true;
    const auto bytes = uint32_t(std::min<uint64_t>(s.data.bytes, sizeof(uint64_t)));
    post(control_context, ggas_rma_get(peer(rank()), s.data.nla, to, bytes, 0, rank()));
  }
  const ggas_rc rc = any ? settle(control_context) : GGAS_OK;
  return rc == GGAS_OK ? gpus_.land() : rc;
}

ggas_rc nic_transport::segment_here(unsigned segment, uint64_t offset, uint64_t bytes, std::byte*& start) {
  const turn mine(turns_);
  view v;
  if (ggas_rc rc = look({rank(), segment, offset}, bytes, v); rc != GGAS_OK) return rc;
  start = own_[segment].data.start + offset;
  return GGAS_OK;
}

ggas_rc nic_transport::segment_bytes(unsigned segment, unsigned of, uint64_t& bytes) {
  const turn mine(turns_);
  to_->call();
  view v;
  if (ggas_rc rc = look(of, segment, v); rc != GGAS_OK) return rc;
  bytes = v.bytes;
  return GGAS_OK;
}

}  // namespace ggas::library::nic
