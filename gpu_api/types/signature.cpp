// SPDX-License-Identifier: Apache-2.0
// Signatures. Two sequences are equal exactly if they have the same length and the same primitive root, the shortest
// word that they repeat. So signatures of any count of items are compared in constant time.
#include <algorithm>

#include "gpu_api/types/node.hpp"

namespace ggas {

namespace {

// Length of the shortest list that the runs from `first` on repeat (Knuth, Morris, Pratt).
size_t period(const signature_word& w) {
  std::vector<size_t> border(w.size(), 0);
  for (size_t i = 1, k = 0; i < w.size(); ++i) {
    while (k > 0 && w[i] != w[k]) k = border[k - 1];
    if (w[i] == w[k]) ++k;
    border[i] = k;
  }
  const size_t p = w.size() - border.back();
  return w.size() % p == 0 ? p : w.size();
}

// If a repeated word begins and ends with the same primitive, its end and the next begin are one run: the runs form a
// ring.
signature_word root(signature_word w) {
  if (w.size() == 1) return {{w[0].of, 1}};
  if (w.front().of != w.back().of) {
    w.resize(period(w));
    return w;
  }
  const signature_run last = w.back();
  w.pop_back();
  const uint64_t first = w.front().count;
  w.front().count += last.count;
  const size_t p = period(w);
  w.resize(p);
  w.front().count = first;
  w.push_back(last);
  return w;
}

void append(signature_word& to, const signature_run& r) {
  if (!to.empty() && to.back().of == r.of)
    to.back().count += r.count;
  else
    to.push_back(r);
}

}  // namespace

std::optional<signature_word> joined(const std::vector<repeated_word>& parts) {
  std::vector<repeated_word> some;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(some),
               [](const repeated_word& p) { return p.times > 0 && !p.word->empty(); });
  if (some.empty()) return signature_word{};
  if (std::all_of(some.begin(), some.end(), [&](const repeated_word& p) { return *p.word == *some[0].word; }))
    return *some[0].word;
  signature_word all;
  for (const repeated_word& p : some) {
    if (p.word->size() == 1) {
      append(all, {p.word->front().of, p.times * p.word->front().count});
      continue;
    }
    if (p.times > datatype::most_signature_runs / p.word->size()) return std::nullopt;
    for (uint64_t i = 0; i < p.times; ++i)
      for (const signature_run& r : *p.word) append(all, r);
    if (all.size() > datatype::most_signature_runs) return std::nullopt;
  }
  return root(std::move(all));
}

uint64_t length_of(const signature_word& w) {
  uint64_t n = 0;
  for (const signature_run& r : w) n += r.count;
  return n;
}

uint64_t hash_of(const signature_word& w) {
  if (w.empty()) return 0;
  uint64_t h = 0x243f6a8885a308d3;
  const auto mix = [&h](uint64_t v) {
    h ^= v + 0x9e3779b97f4a7c15 + (h << 6) + (h >> 2);
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
    h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
    h ^= h >> 31;
  };
  for (const signature_run& r : w) {
    mix(static_cast<uint64_t>(r.of) + 1);
    mix(r.count);
  }
  return h == 0 ? 1 : h;
}

}  // namespace ggas
