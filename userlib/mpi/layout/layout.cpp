// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/layout/layout.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ggas/detail/type/type_walk.cuh"
#include "ggas/detail/type/walk_items.hpp"
#include "gpu_api/types/encode.hpp"

namespace ggas::mpi {

namespace {

using detail::type_place;

struct words_of {
  const uint64_t* words;
  uint64_t operator()(uint64_t i) const { return words[i]; }
};

type_place find(const layout& l, uint64_t at) {
  const ggas_type& t = l.handle();
  return t.records == 0 ? detail::find_in_box(t, at) : detail::find_by_image(t, words_of{l.words().data()}, at);
}

// Addresses may wrap: a place may lie before the address of the items, which may be 0.
char* moved_by(char* at, uint64_t bytes) { return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(at) + bytes); }

// run(address, bytes) for each run of the packed bytes from `at` on, up to `bytes`: each is searched for.
template <class F>
void for_each_run(const items& i, uint64_t at, uint64_t bytes, F run) {
  const ggas_type& t = i.of->handle();
  while (at < bytes) {
    const uint64_t item = at / t.size;
    const type_place p = find(*i.of, at - item * t.size);
    const uint64_t n = std::min(p.left, bytes - at);
    run(moved_by(i.at, static_cast<uint64_t>(p.offset) + item * static_cast<uint64_t>(t.extent)), n);
    at += n;
  }
}

// The first `bytes` of the packed data: whole items by the walk, the part of one after them run by run.
template <bool packs>
void move_on_host(const items& i, uint64_t bytes, char* packed) {
  const auto walk = [&](uint64_t count) {
    detail::walk_items<packs>({i.of->handle(), i.of->words().data(), i.at, count}, packed);
  };
  if (bytes == i.bytes()) return walk(i.count);
  const uint64_t whole = bytes / i.of->size();
  walk(whole);
  packed += whole * i.of->size();
  for_each_run(i, whole * i.of->size(), bytes, [&](char* at, uint64_t n) {
    packs ? std::memcpy(packed, at, n) : std::memcpy(at, packed, n);
    packed += n;
  });
}

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

layout::layout(const datatype& t) : number_(next_number()), signature_(signature_word_of(t)) {
  type_image made = image_of(t);
  handle_ = made.handle;
  words_ = std::move(made.words);
}

layout::layout(const ggas_type& handle, std::vector<uint64_t> words)
    : number_(next_number()), handle_(handle), words_(std::move(words)) {}

bool layout::dense(uint64_t count) const {
  const bool piece = handle_.records == 0 && handle_.dimensions == 0;
  return size() == 0 || (piece && (count <= 1 || handle_.extent == static_cast<int64_t>(size())));
}

bool layout::ends_primitive(uint64_t bytes) const { return !signature_ || ggas::ends_primitive(*signature_, bytes); }

const void* items::first_byte() const {
  return bytes() == 0 ? at : moved_by(at, static_cast<uint64_t>(find(*of, 0).offset));
}

void pack_on_host(const items& from, uint64_t bytes, void* to) {
  move_on_host<true>(from, bytes, static_cast<char*>(to));
}

void unpack_on_host(const items& to, uint64_t bytes, const void* from) {
  move_on_host<false>(to, bytes, const_cast<char*>(static_cast<const char*>(from)));
}

}  // namespace ggas::mpi
