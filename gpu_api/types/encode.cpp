// SPDX-License-Identifier: Apache-2.0
// Records and lookaside part of a datatype: records from the root down, each followed by its child. Primitives have no
// record, nor do constructors that only change bounds.
#include "gpu_api/types/encode.hpp"

#include <algorithm>
#include <map>

#include "gpu_api/types/node.hpp"

namespace ggas {

namespace {

using namespace detail;
using node = datatype::node;
using kind = node::kind;

const datatype& below_bounds(const datatype& t) {
  const node& n = t.made_of();
  return n.what == kind::resized || n.what == kind::dup ? below_bounds(n.children[0]) : t;
}

uint64_t word(int64_t v) { return static_cast<uint64_t>(v); }

class encoder {
 public:
  encoded_type made;

  // The root; a primitive becomes one copy of it.
  void root(const datatype& t) {
    const datatype& top = below_bounds(t);
    emit(top.made_of().what == kind::primitive ? datatype::contiguous(1, top) : top);
    made.unit = std::min<uint64_t>(seen_ & (0 - seen_), widest_unit);
  }

 private:
  // Index of the record.
  uint64_t emit(const datatype& t) {
    const node& n = t.made_of();
    const uint64_t at = made.records.size();
    made.records.resize(at + record_words, 0);
    if (n.what == kind::structure) {
      set(at, rec_bits, static_cast<uint64_t>(record_kind::structure));
      emit_structure(n, at);
      return at / record_words;
    }
    const datatype& child = below_bounds(n.children[0]);
    const bool leaf = child.made_of().what == kind::primitive;
    set(at, rec_bits,
        static_cast<uint64_t>(record(n.what)) | (leaf ? rec_leaf : 0) |
            (leaf ? static_cast<uint64_t>(child.made_of().element) << 8 : 0));
    set(at, rec_count, n.what == kind::subarray ? n.sizes.size() : word(n.count));
    set(at, rec_size, child.size());
    set(at, rec_extent, word(n.child().extent()));
    set(at, rec_elements, child.elements());
    set(at, rec_stride, word(n.stride));
    set(at, rec_blocklength, word(n.blocklength));
    set(at, rec_look, made.lookaside.size());
    look_aside(n);
    see_places(n, leaf);
    if (!leaf) emit(child);
    return at / record_words;
  }

  static record_kind record(kind k) {
    switch (k) {
      case kind::vector:
        return record_kind::vector;
      case kind::indexed_block:
        return record_kind::indexed_block;
      case kind::indexed:
        return record_kind::indexed;
      case kind::subarray:
        return record_kind::subarray;
      default:
        return record_kind::contiguous;
    }
  }

  void look_aside(const node& n) {
    if (made.lookaside.empty())  // of a long list, and room for the records, which come before it
      made.lookaside.reserve(n.blocklengths.size() + 1 + n.displacements.size() + made.records.size());
    if (n.what == kind::indexed) append_sums(n.blocklengths, [](size_t, int64_t length) { return word(length); });
    if (n.what == kind::indexed || n.what == kind::indexed_block) append(n.displacements);
    if (n.what != kind::subarray) return;
    append(n.sizes);
    append(n.subsizes);
    append(n.starts);
  }

  void emit_structure(const node& n, uint64_t at) {
    set(at, rec_count, word(n.count));
    set(at, rec_look, made.lookaside.size());
    append_sums(n.blocklengths, [&](size_t i, int64_t length) { return word(length) * n.children[i].size(); });
    append(n.displacements);
    for (const datatype& c : n.children) made.lookaside.push_back(c.size());
    for (const datatype& c : n.children) made.lookaside.push_back(word(c.extent()));
    const uint64_t children = made.lookaside.size();
    made.lookaside.resize(children + n.children.size(), no_record);
    for (size_t i = 0; i < n.children.size(); ++i) {
      const datatype& child = below_bounds(n.children[i]);
      if (n.blocklengths[i] == 0 || child.size() == 0) continue;
      see(word(n.displacements[i]));
      if (n.blocklengths[i] > 1) see(word(n.children[i].extent()));
      if (child.made_of().what == kind::primitive) {
        see(child.size());
      } else {
        const auto known = children_.find(&child.made_of());
        const uint64_t r = known != children_.end() ? known->second : emit(child);
        children_.emplace(&child.made_of(), r);
        made.lookaside[children + i] = r;
      }
    }
  }

  // What places and runs are multiples of: the lowest bit that one of them has.
  void see(uint64_t bytes) { seen_ |= bytes; }
  void see_places(const node& n, bool leaf) {
    const datatype& child = n.children[0];
    const bool dense = leaf && child.extent() == static_cast<int64_t>(child.size());
    const auto block = [&](int64_t copies) {
      see(dense ? word(copies) * child.size() : leaf ? child.size() : 0);
      if (copies > 1 && !dense) see(word(child.extent()));
    };
    if (n.what == kind::contiguous) block(n.count);
    if (n.what == kind::vector || n.what == kind::indexed_block) block(n.blocklength);
    if (n.what == kind::vector && n.count > 1) see(word(n.stride));
    for (size_t i = 0; i < n.displacements.size(); ++i) {
      if (n.what == kind::indexed && n.blocklengths[i] == 0) continue;
      see(word(n.displacements[i]));
      if (n.what == kind::indexed) block(n.blocklengths[i]);
    }
    if (n.what == kind::subarray) see(leaf ? child.size() : 0), see(word(child.extent()));
  }

  void set(uint64_t at, record_word w, uint64_t v) { made.records[at + w] = v; }
  void append(const std::vector<int64_t>& v) {
    for (const int64_t i : v) made.lookaside.push_back(word(i));
  }
  template <class F>
  void append_sums(const std::vector<int64_t>& lengths, F of) {
    uint64_t sum = 0;
    made.lookaside.push_back(0);
    for (size_t i = 0; i < lengths.size(); ++i) made.lookaside.push_back(sum += of(i, lengths[i]));
  }

  std::map<const node*, uint64_t> children_;  // of structs: their records, which several may name
  uint64_t seen_ = widest_unit;
};

// One list of runs, as canonical() makes it: how many, and how long if they are equal.
void fill_list(ggas_type& h, const std::vector<uint64_t>& record, const std::vector<uint64_t>& lookaside) {
  const auto kind = static_cast<record_kind>(record[rec_bits] & 0xf);
  if (h.records != 1 || (kind != record_kind::indexed && kind != record_kind::indexed_block)) return;
  h.box[0].count = record[rec_count];
  h.run = kind == record_kind::indexed_block ? record[rec_blocklength] : 0;
  const uint64_t runs = h.box[0].count;
  if (h.run != 0 || runs > most_handle_runs) return;
  for (uint64_t r = 0; r < runs; ++r)
    h.box[1 + r] = {lookaside[r + 1] - lookaside[r], static_cast<int64_t>(lookaside[runs + 1 + r])};
}

void fill_box(ggas_type& h, const type_box& b) {
  uint64_t seen = widest_unit | b.run | word(b.base);
  h.base = b.base;
  h.run = b.run;
  h.dimensions = static_cast<uint32_t>(b.dimensions.size());
  for (size_t d = 0; d < b.dimensions.size(); ++d) {
    h.box[d] = b.dimensions[d];
    seen |= word(b.dimensions[d].stride);
  }
  h.unit = static_cast<uint32_t>(seen & (0 - seen));
}

}  // namespace

encoded_type encode(const datatype& t) {
  encoder e;
  e.root(t);
  return std::move(e.made);
}

type_image image_of(const datatype& t, type_form form) {
  type_image i;
  ggas_type& h = i.handle;
  h.size = t.size();
  h.extent = t.extent();
  h.true_lb = t.true_lb();
  h.true_ub = t.true_lb() + t.true_extent();
  const type_signature s = t.signature();
  h.word = s.word;
  h.word_length = s.word_length;
  h.elements = s.elements;
  h.unit = widest_unit;
  if (t.size() == 0) return i;
  if (const auto box = form == type_form::automatic ? box_of(t) : std::nullopt) {
    fill_box(h, *box);
    return i;
  }
  encoded_type e = encode(form == type_form::automatic ? canonical(t) : t);
  h.unit = static_cast<uint32_t>(e.unit);
  h.records = static_cast<uint32_t>(e.records.size() / record_words);
  if (form == type_form::automatic) fill_list(h, e.records, e.lookaside);
  i.words = std::move(e.lookaside);
  i.words.insert(i.words.begin(), e.records.begin(), e.records.end());
  h.words = i.words.size();
  return i;
}

}  // namespace ggas
