// SPDX-License-Identifier: Apache-2.0
#include "ggas/detail/type/places.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <initializer_list>

namespace ggas::detail {

namespace {

divisor divisor_of(uint64_t value) {
  assert(value >= 2 && value <= most_units);
  const auto log2 = static_cast<unsigned>(std::bit_width(value - 1));
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(((uint64_t{1} << (31 + log2)) + value - 1) / value),
          log2 - 1};
}

image_stamp stamp_of(const ggas_type& t, const char* segment) {
  return {reinterpret_cast<const uint64_t*>(segment + t.image), t.space, t.generation};
}

bool is_list(const ggas_type& t) { return t.records == 1 && t.run != 0; }

// Dimensions from the innermost on, in bytes. Those of one copy are left out, those that touch are one.
struct shape {
  struct dimension {
    uint64_t count;
    int64_t stride;
    bool listed;
  };
  dimension d[most_place_dimensions + 1] = {};
  unsigned n = 0;

  explicit shape(const side_items& s) {
    const ggas_type& t = *s.type;
    add(t.run, 1);
    if (is_list(t)) d[n++] = {t.box[0].count, 0, true};
    for (unsigned i = 0; i < t.dimensions; ++i) add(t.box[i].count, t.box[i].stride);
    add(s.count, t.extent);
  }

 private:
  void add(uint64_t count, int64_t stride) {
    if (count == 1 && n > 0) return;
    if (n > 0 && !d[n - 1].listed &&
        static_cast<uint64_t>(d[n - 1].stride) * d[n - 1].count == static_cast<uint64_t>(stride)) {
      d[n - 1].count *= count;
    } else {
      d[n++] = {count, stride, false};
    }
  }
};

}  // namespace

bool has_places(const side_items& s) { return !s.type || s.type->records == 0 || is_list(*s.type); }

unsigned widest_unit_of(const side_items& to, const side_items& from, uint64_t first, uint64_t bytes) {
  uint64_t seen = widest_unit | first | bytes;
  for (const side_items* s : {&to, &from}) {
    seen |= reinterpret_cast<uintptr_t>(s->at);
    if (s->type) seen |= s->type->unit | s->step();
  }
  return static_cast<unsigned>(seen & (0 - seen));
}

place_side places_of(const side_items& s, unsigned unit, const char* segment) {
  place_side side{};
  side.base = s.at;
  side.outer = unit;
  if (!s.type) return side;
  const ggas_type& t = *s.type;
  side.base += t.records == 0 ? t.base : 0;
  if (is_list(t)) {
    side.list = {reinterpret_cast<const int64_t*>(segment + t.image + image_header_bytes) + record_words, t.true_lb,
                 t.true_ub - static_cast<int64_t>(t.run), stamp_of(t, segment)};
  }
  shape in(s);
  in.d[0].count /= unit;
  in.d[0].stride *= unit;
  // The outermost one needs no division, unless it is a list.
  const bool last = !in.d[in.n - 1].listed;
  side.outer = last ? in.d[in.n - 1].stride : 0;
  for (unsigned i = 0; i < in.n - last; ++i)
    if (in.d[i].count > 1) side.digit[side.dimensions++] = {divisor_of(in.d[i].count), in.d[i].listed, in.d[i].stride};
  return side;
}

bool has_runs(const side_items& s) {
  if (!s.type || s.type->size == 0) return false;
  const ggas_type& t = *s.type;
  const uint64_t each = t.records == 0 && t.dimensions == 0 ? 1 : t.records == 1 && t.run == 0 ? t.box[0].count : 0;
  return each != 0 && s.count <= (most_units - 1) / each;
}

run_move runs_of(const side_items& s, char* dense, bool pack, unsigned staged, const char* segment) {
  const ggas_type& t = *s.type;
  run_move m{
      {s.at, t.extent, t.size, nullptr, nullptr, t.true_lb, t.true_ub, {1, 0, 0}, {}}, dense, nullptr, 0, 0, pack};
  uint64_t each = 1;
  if (t.records != 0) {
    each = t.box[0].count;
    m.items.count = divisor_of(each);
    m.items.sums = reinterpret_cast<const uint64_t*>(segment + t.image + image_header_bytes) + record_words;
    m.items.list = reinterpret_cast<const int64_t*>(m.items.sums + each + 1);
    m.items.of = stamp_of(t, segment);
  } else {
    m.items.base += t.base;
    m.items.low -= t.base;
    m.items.high -= t.base;
  }
  m.runs = static_cast<uint32_t>(s.count * each);
  // As many whole items as fit, in steps of 16 so that pieces of dense data are aligned. Items that are longer than
  // this are moved as runs of the usual length, with room for longer runs.
  const uint64_t fit = staged / t.size / 16 * 16;
  const uint64_t wanted = fit > 0 ? fit * each : staged * each / t.size / 2;
  // Less, if not enough blocks would have something to do.
  constexpr uint64_t blocks = 264;
  const uint64_t share = (s.count + blocks - 1) / blocks, spread = (share + 15) / 16 * 16 * each;
  const uint64_t together = fit > 0 && spread < wanted ? spread : wanted;
  m.together = static_cast<uint32_t>(together == 0 ? 1 : together > m.runs ? m.runs : together);
  return m;
}

namespace {

// The run's fields after those that are there. False: too many.
bool add_fields(item_move& m, int64_t at, uint64_t bytes, uint64_t alignment) {
  constexpr uint64_t widest = 8;
  while (bytes > 0) {
    const uint64_t seen = widest | alignment | static_cast<uint64_t>(at);
    const uint64_t width = std::min(seen & (0 - seen), std::bit_floor(bytes));
    if (m.fields == most_item_fields || at != static_cast<int32_t>(at)) return false;
    m.field[m.fields++] = {static_cast<int32_t>(at), static_cast<uint16_t>(m.size), static_cast<uint16_t>(width)};
    m.size += static_cast<uint32_t>(width);
    at += static_cast<int64_t>(width);
    bytes -= width;
  }
  return true;
}

}  // namespace

std::optional<item_move> fields_of(const side_items& s, char* dense, unsigned staged, const char* segment) {
  const ggas_type& t = *s.type;
  constexpr uint64_t aligned = 16;  // items: then pieces of dense data are aligned to as many bytes
  const uint64_t runs = t.records == 0 ? 1 : t.box[0].count;
  if (t.size * aligned > staged || runs > most_handle_runs) return {};
  item_move m{s.at, dense, t.extent, static_cast<uint32_t>(s.count), 0, 0, 0, {}, {}};
  const uint64_t alignment = reinterpret_cast<uintptr_t>(s.at) | s.step();
  if (t.records == 0 && !add_fields(m, t.base, t.run, alignment)) return {};
  if (t.records != 0) {
    m.of = stamp_of(t, segment);
    for (uint64_t r = 0; r < runs; ++r)
      if (!add_fields(m, t.box[1 + r].stride, t.box[1 + r].count, alignment)) return {};
  }
  // As many as fit; fewer if too few blocks would have work.
  constexpr uint64_t blocks = 264;
  const uint64_t share = (s.count + blocks - 1) / blocks, fit = staged / t.size;
  const uint64_t together = std::min((share + aligned - 1) / aligned, fit / aligned);
  m.together = static_cast<uint32_t>(std::max(together, uint64_t{1}) * aligned);
  return m;
}

bool has_same_runs(const side_items& a, const side_items& b) {
  return has_runs(a) && b.type && a.count == b.count && a.type->space == b.type->space &&
         a.type->generation == b.type->generation;
}

namespace {

// The runs of an item, in their order; at most most_handle_runs.
struct few_runs {
  struct run {
    int64_t at;
    uint64_t bytes;
  };
  run all[most_handle_runs];
  uint64_t n = 0;  // 0: the item has more

  explicit few_runs(const ggas_type& t) {
    if (t.records == 0 && t.dimensions == 0 && t.run != 0) all[n++] = {t.base, t.run};
    if (t.records != 1 || t.run != 0 || t.box[0].count > most_handle_runs) return;
    for (; n < t.box[0].count; ++n) all[n] = {t.box[1 + n].stride, t.box[1 + n].count};
  }
};

}  // namespace

std::optional<pair_move> pairs_of(const side_items& to, const side_items& from, const char* segment) {
  if (!to.type || !from.type || to.count != from.count || to.type->size != from.type->size || to.type->size == 0 ||
      to.count >= most_units)
    return {};
  few_runs there(*to.type), here(*from.type);
  if (there.n == 0 || here.n == 0) return {};
  pair_move m{from.at, to.at, from.type->extent, to.type->extent, static_cast<uint32_t>(from.count), 0, {}, {}, {}};
  if (from.type->records != 0) m.from_of = stamp_of(*from.type, segment);
  if (to.type->records != 0) m.to_of = stamp_of(*to.type, segment);
  const uint64_t alignment =
      reinterpret_cast<uintptr_t>(to.at) | reinterpret_cast<uintptr_t>(from.at) | to.step() | from.step();
  for (uint64_t a = 0, b = 0; a < here.n && b < there.n;) {
    few_runs::run &read = here.all[a], &written = there.all[b];
    constexpr uint64_t widest = 8;
    const uint64_t seen = widest | alignment | static_cast<uint64_t>(read.at) | static_cast<uint64_t>(written.at);
    const uint64_t width = std::min(seen & (0 - seen), std::bit_floor(std::min(read.bytes, written.bytes)));
    const auto source = static_cast<int32_t>(read.at), target = static_cast<int32_t>(written.at);
    if (m.fields == most_item_fields || read.at != source || written.at != target) return {};
    m.field[m.fields++] = {source, target, static_cast<uint32_t>(width)};
    for (few_runs::run* r : {&read, &written}) {
      r->at += static_cast<int64_t>(width);
      r->bytes -= width;
    }
    a += read.bytes == 0;
    b += written.bytes == 0;
  }
  return m;
}

side_rows rows_of(const side_items& s, uint64_t bytes) {
  if (!s.type) return {s.at, bytes, 1, bytes};
  if (s.type->records != 0) return {};
  const shape in(s);
  char* const first = s.at + s.type->base;
  if (in.n == 1) return {first, bytes, 1, bytes};
  const auto pitch = static_cast<uint64_t>(in.d[1].stride);
  if (in.n > 2 || in.d[1].stride < 0 || pitch < in.d[0].count) return {};
  return {first, in.d[0].count, in.d[1].count, pitch};
}

}  // namespace ggas::detail
