// SPDX-License-Identifier: Apache-2.0
// Signatures. Two sequences are equal exactly if they have the same length and the same primitive root, the shortest
// word that they repeat. So signatures of any count of items are compared in constant time. A word is stored as a list
// of powers of shorter words, never element by element, and compared by its hash.
#include <algorithm>
#include <array>
#include <numeric>

#include "gpu_api/types/node.hpp"

namespace ggas {

namespace {

constexpr uint64_t modulus = (uint64_t{1} << 61) - 1;  // prime
constexpr uint64_t base = 0x0f3b5c2d71a9e647;          // of the polynomial, any number below the modulus

uint64_t times(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  const uint64_t sum = static_cast<uint64_t>(product & modulus) + static_cast<uint64_t>(product >> 61);
  return sum >= modulus ? sum - modulus : sum;
}
uint64_t plus(uint64_t a, uint64_t b) { return a + b >= modulus ? a + b - modulus : a + b; }

// The hash of one sequence after the other, and of a sequence n times.
word_hash joined(const word_hash& a, const word_hash& b) {
  return {a.length + b.length, plus(times(a.sum, b.power), b.sum), times(a.power, b.power)};
}
word_hash repeated(word_hash h, uint64_t n) {
  word_hash all;
  for (; n > 0; n >>= 1, h = joined(h, h))
    if (n & 1) all = joined(all, h);
  return all;
}

// The first `n` elements.
word_hash prefix(const signature_word& w, uint64_t n) {
  if (n >= w.all.length) return w.all;
  if (w.parts.empty()) return {};
  const auto p = std::upper_bound(w.parts.begin(), w.parts.end(), n,
                                  [](uint64_t at, const word_power& part) { return at < part.end.length; });
  const word_hash before = p == w.parts.begin() ? word_hash{} : (p - 1)->end;
  const uint64_t rest = n - before.length, whole = rest / p->word->all.length;
  return joined(joined(before, repeated(p->word->all, whole)), prefix(*p->word, rest - whole * p->word->all.length));
}

void append(signature_word& to, const shared_word& word, uint64_t n) {
  if (n == 0) return;
  const word_hash more = repeated(word->all, n);
  if (!to.parts.empty() && to.parts.back().word->all == word->all) {
    to.parts.back().times += n;
    to.parts.back().end = joined(to.all, more);
  } else {
    to.parts.push_back({word, n, joined(to.all, more)});
  }
  to.all = to.parts.back().end;
}

void append_prefix(signature_word& to, const signature_word& of, uint64_t n) {
  for (const word_power& p : of.parts) {
    const uint64_t length = p.word->all.length, whole = std::min(p.times, n / length);
    append(to, p.word, whole);
    n -= whole * length;
    if (whole == p.times) continue;
    return append_prefix(to, *p.word, n);
  }
}

// A number of repetitions divides the number of elements of each primitive.
void count(const signature_word& w, uint64_t copies, std::array<uint64_t, primitives>& counts) {
  for (int p = 0; p < primitives; ++p) counts[static_cast<size_t>(p)] += copies * w.counts[static_cast<size_t>(p)];
}

bool repeats(const signature_word& w, uint64_t period) {
  return repeated(prefix(w, period), w.all.length / period) == w.all;
}

// Length of the shortest word that the sequence repeats. Repetitions are sought up to this factor, and as the rest.
uint64_t period(const signature_word& w) {
  constexpr uint64_t most_factor = uint64_t{1} << 20;
  uint64_t found = w.all.length, left = 0;
  for (const uint64_t n : w.counts) left = std::gcd(left, n);
  const auto divide = [&](uint64_t factor) {
    left /= factor;
    if (repeats(w, found / factor)) found /= factor;
  };
  for (uint64_t factor = 2; factor * factor <= left && factor <= most_factor; ++factor)
    while (left % factor == 0) divide(factor);
  if (left > 1) divide(left);
  return found;
}

}  // namespace

shared_word word_of(primitive p) {
  signature_word w;
  w.all = {1, static_cast<uint64_t>(p) + 1, base};
  w.counts[static_cast<size_t>(p)] = 1;
  return std::make_shared<const signature_word>(std::move(w));
}

void word_list::add(const shared_word& word, uint64_t n) {
  if (n == 0 || word->all.length == 0) return;
  if (!parts_.empty() && parts_.back().first->all == word->all)
    parts_.back().second += n;
  else
    parts_.emplace_back(word, n);
}

shared_word word_list::root() const {
  if (parts_.empty()) return std::make_shared<const signature_word>();
  if (parts_.size() == 1) return parts_[0].first;
  signature_word all;
  for (const auto& [word, n] : parts_) {
    append(all, word, n);
    count(*word, n, all.counts);
  }
  const uint64_t length = period(all);
  if (length < all.all.length) {
    signature_word first;
    append_prefix(first, all, length);
    for (size_t p = 0; p < all.counts.size(); ++p) first.counts[p] = all.counts[p] / (all.all.length / length);
    all = std::move(first);
  }
  all.parts.shrink_to_fit();
  return std::make_shared<const signature_word>(std::move(all));
}

std::shared_ptr<const signature_word> signature_word_of(const datatype& t) { return t.made_of().word; }

static uint64_t bytes_of(const signature_word& word) {
  uint64_t bytes = 0;
  for (unsigned p = 0; p < primitives; ++p) bytes += word.counts[p] * size_of(static_cast<primitive>(p));
  return bytes;
}

bool ends_primitive(const signature_word& word, uint64_t bytes) {
  const uint64_t all = bytes_of(word);
  if (all == 0 || bytes % all == 0) return true;
  uint64_t rest = bytes % all;
  for (const word_power& part : word.parts) {
    const uint64_t of_part = bytes_of(*part.word) * part.times;
    if (rest <= of_part) return ends_primitive(*part.word, rest);
    rest -= of_part;
  }
  return false;
}

}  // namespace ggas
