// SPDX-License-Identifier: Apache-2.0
// Packs of the layouts that GGAS packs (benchmarks/plans/typed_patterns.hpp) by Yaksa 0.4 on a stream, in GPU memory.
extern "C" {
#include <yaksa.h>
}

#include <cstring>
#include <set>
#include <string>

#include "benchmarks/compare/raw/rig.cuh"
#include "benchmarks/plans/typed_patterns.hpp"

namespace ggas::compare {

namespace {

constexpr unsigned calls = 20;

void require_yaksa(int error, const char* what) {
  if (error == YAKSA_SUCCESS) return;
  std::fprintf(stderr, "Yaksa: %s: error %d\n", what, error);
  std::exit(1);
}
#define COMPARE_YAKSA(call) require_yaksa(call, #call)

intptr_t number(uint64_t v) { return static_cast<intptr_t>(v); }

// A double, two ints and a char, with the extent of the pattern's items.
yaksa_type_t struct_of(const bench::typed_pattern& p) {
  const bool spread = p.kind == bench::layout_kind::spread_structs;
  const intptr_t lengths[] = {1, 2, 1}, dense[] = {0, 8, 16}, apart[] = {0, 16, 40};
  const yaksa_type_t parts[] = {YAKSA_TYPE__DOUBLE, YAKSA_TYPE__INT, YAKSA_TYPE__CHAR};
  yaksa_type_t whole = 0, made = 0;
  COMPARE_YAKSA(yaksa_type_create_struct(3, lengths, spread ? apart : dense, parts, nullptr, &whole));
  COMPARE_YAKSA(yaksa_type_create_resized(whole, 0, spread ? 48 : 24, nullptr, &made));
  COMPARE_YAKSA(yaksa_type_free(whole));
  return made;
}

// The runs of a mixed list: neighbouring elements are one.
yaksa_type_t mixed_of(const bench::typed_pattern& p) {
  std::vector<intptr_t> lengths, places;
  for (const int64_t at : p.places) {
    if (!places.empty() && at == places.back() / 8 + lengths.back()) {
      ++lengths.back();
    } else {
      places.push_back(at * 8);
      lengths.push_back(1);
    }
  }
  yaksa_type_t made = 0;
  COMPARE_YAKSA(yaksa_type_create_hindexed(number(places.size()), lengths.data(), places.data(), YAKSA_TYPE__DOUBLE,
                                           nullptr, &made));
  return made;
}

yaksa_type_t type_of(const bench::typed_pattern& p) {
  yaksa_type_t made = 0;
  std::vector<intptr_t> places;
  switch (p.kind) {
    case bench::layout_kind::rows:
      COMPARE_YAKSA(yaksa_type_create_hvector(number(p.rows()), number(p.width), number(p.stride * 8),
                                              YAKSA_TYPE__DOUBLE, nullptr, &made));
      return made;
    case bench::layout_kind::list:
      for (const int64_t at : p.places) places.push_back(at * 8);
      COMPARE_YAKSA(yaksa_type_create_hindexed_block(number(places.size()), number(p.width), places.data(),
                                                     YAKSA_TYPE__DOUBLE, nullptr, &made));
      return made;
    case bench::layout_kind::mixed_list:
      return mixed_of(p);
    default:
      return struct_of(p);
  }
}

void fill(char* at, uint64_t bytes) {
  std::vector<unsigned char> some(bytes);
  for (uint64_t i = 0; i < bytes; ++i) some[i] = static_cast<unsigned char>((i * 0x9e3779b97f4a7c15) >> 40);
  COMPARE_CUDA(cudaMemcpy(at, some.data(), bytes, cudaMemcpyHostToDevice));
}

void check(const bench::typed_pattern& p, const char* source, const char* packed) {
  std::vector<char> items(p.extent), got(p.bytes);
  COMPARE_CUDA(cudaMemcpy(items.data(), source, p.extent, cudaMemcpyDeviceToHost));
  COMPARE_CUDA(cudaMemcpy(got.data(), packed, p.bytes, cudaMemcpyDeviceToHost));
  uint64_t at = 0;
  for (const bench::pattern_run& r : bench::runs_of(p)) {
    if (std::memcmp(&got[at], &items[r.at], r.bytes) != 0) {
      std::fprintf(stderr, "pack %s by Yaksa: wrong data\n", p.name.c_str());
      std::exit(1);
    }
    at += r.bytes;
  }
}

// In sequence on a stream. No graph: Yaksa records events of its own. What takes long is called once, as it
// goes through copies that the host makes one by one; half a second and more is not asked of larger sizes again.
void measure(rig& r, const origin& from, const bench::typed_pattern& p, std::set<std::string>& slow) {
  constexpr double long_ns = 1e7, too_long_ns = 5e8;
  if (slow.count(p.name) != 0) return;
  char *const source = r.at(0).source, *const target = r.seen_by(0).data[0];
  const yaksa_type_t type = type_of(p);
  fill(source, p.extent);
  COMPARE_CUDA(cudaMemset(target, 0, p.bytes));
  const auto pack = [&](unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
      uintptr_t packed = 0;
      COMPARE_YAKSA(yaksa_pack_stream(source, p.count, type, 0, target, p.bytes, &packed, nullptr, YAKSA_OP__REPLACE,
                                      &r.at(0).stream));
      if (packed != p.bytes) require_yaksa(YAKSA_ERR__INTERNAL, "fewer bytes than asked for");
    }
  };
  const double once = r.time(1, [&](int) { pack(1); });
  if (once > too_long_ns) slow.insert(p.name);
  const unsigned times = once > long_ns ? 1 : calls;
  const auto samples =
      repeat([&] { return 1e9 * static_cast<double>(p.bytes) * times / r.time(1, [&](int) { pack(times); }); });
  check(p, source, target);
  print(from, {"pack",
               "yaksa",
               "bandwidth",
               "B/s",
               {{"bytes", static_cast<int64_t>(p.bytes)}, {"pattern", 0, p.name}, {"method", 0, "pack_stream"}},
               samples});
  COMPARE_YAKSA(yaksa_type_free(type));
}

}  // namespace

}  // namespace ggas::compare

int main(int argc, char** argv) {
  using namespace ggas;
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::fprintf(stderr, "no GPU here\n");
    return 77;
  }
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 0;
  if (wanted < 0 || wanted > gpus) {
    std::fprintf(stderr, "GPUs: 0 (all) ... %d, not %s\n", gpus, argv[1]);
    return 2;
  }
  compare::rig r(wanted == 0 ? gpus : wanted);
  COMPARE_CUDA(cudaSetDevice(0));
  compare::require_yaksa(yaksa_init(nullptr), "yaksa_init");
  const compare::origin from = compare::origin_of(r.count(), "Yaksa 0.4");
  std::set<std::string> slow;
  for (const uint64_t bytes : {1u << 10, 8u << 10, 32u << 10, 128u << 10, 512u << 10, 2u << 20, 16u << 20, 64u << 20})
    for (const bench::typed_pattern& p : bench::typed_patterns(bytes, compare::data_bytes, 1))
      compare::measure(r, from, p, slow);
  compare::require_yaksa(yaksa_finalize(), "yaksa_finalize");
  return 0;
}
