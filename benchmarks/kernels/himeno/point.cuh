// SPDX-License-Identifier: Apache-2.0
// Himeno's benchmark at one place: the grid and its slices, the official values, and the update of four neighbouring
// points by one thread. Products and sums are rounded one by one in the order of the official program, so every machine
// gets the same bits.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

inline constexpr uint32_t himeno_quad = 4;                    // points of a thread, along x
inline constexpr uint32_t himeno_pad = 32;                    // floats before and after an array that may be read
inline constexpr uint32_t himeno_coefficients = 12;           // a0 ... a3, b0 ... b2, c0 ... c2, bnd, wrk1
inline constexpr uint64_t himeno_flops = 34;                  // of a point: the official count
inline constexpr uint64_t himeno_bytes = 14 * sizeof(float);  // of a point: each array once
inline constexpr float himeno_omega = 0.8f;

// Points of the whole grid, boundary included. x lies together; nx is a multiple of 4.
struct himeno_grid {
  uint32_t nx, ny, nz;

  GGAS_HOST_DEVICE constexpr uint64_t plane() const { return uint64_t{nx} * ny; }
  // Where a point of a node lies in an array: plane 0 is the one below its own, which are 1, 2, ...
  GGAS_HOST_DEVICE constexpr uint64_t index(uint32_t x, uint32_t y, uint32_t z) const {
    return himeno_pad + z * plane() + uint64_t{y} * nx + x;
  }
  // An array of the node with most planes; copies of the pressure lie in sequence.
  GGAS_HOST_DEVICE constexpr uint64_t array_floats(int nodes) const {
    const auto n = static_cast<uint32_t>(nodes);
    return ((nz + n - 1) / n + 2) * plane() + 2 * himeno_pad;
  }
  GGAS_HOST_DEVICE constexpr uint64_t copy_bytes(int nodes) const { return array_floats(nodes) * sizeof(float); }
  GGAS_HOST_DEVICE constexpr uint64_t points_inside() const { return uint64_t{nx - 2} * (ny - 2) * (nz - 2); }
};

// The planes of a node.
struct himeno_slice {
  uint32_t begin = 0, planes = 0;  // first one in the whole grid, how many
  uint32_t first = 0, last = 0;    // of its own (counted from 1), those that are computed: not the boundary of the grid

  constexpr himeno_slice() = default;
  GGAS_HOST_DEVICE constexpr himeno_slice(const himeno_grid& g, int node, int nodes)
      : begin(cut(g, node, nodes)),
        planes(cut(g, node + 1, nodes) - begin),
        first(node == 0 ? 2 : 1),
        last(node + 1 == nodes ? planes - 1 : planes) {}

  // The plane of the whole grid that plane z of the node is; for those beyond the grid the nearest.
  GGAS_HOST_DEVICE constexpr uint32_t global(uint32_t z) const { return begin + z == 0 ? 0 : begin + z - 1; }

 private:
  static GGAS_HOST_DEVICE constexpr uint32_t cut(const himeno_grid& g, int node, int nodes) {
    return g.nz * static_cast<uint32_t>(node) / static_cast<uint32_t>(nodes);
  }
};

// ---- initial values. seed 0: the official ones. There b is 0 and the rest is the same everywhere, so that a wrong
// neighbour could go unnoticed. Other seeds: each value is slightly different.
GGAS_HOST_DEVICE constexpr float himeno_unlike(uint64_t seed, uint64_t array, uint64_t place) {
  return seed ? static_cast<float>(pattern(seed, array, place) % 1024) / 65536.0f : 0.0f;
}
GGAS_HOST_DEVICE constexpr float himeno_start(const himeno_grid& g, uint64_t seed, uint32_t z, uint64_t place) {
  return static_cast<float>(uint64_t{z} * z) / static_cast<float>(uint64_t{g.nz - 1} * (g.nz - 1)) +
         himeno_unlike(seed, himeno_coefficients, place);
}
GGAS_HOST_DEVICE constexpr float himeno_coefficient(uint64_t seed, uint32_t which, uint64_t place) {
  const bool zero = (which >= 4 && which < 7) || which == 11;
  return (which == 3 ? 1.0f / 6.0f : zero ? 0.0f : 1.0f) + himeno_unlike(seed, which, place);
}

// ---- arithmetic without contraction
#ifdef __CUDACC__
GGAS_DEVICE float himeno_mul(float a, float b) { return __fmul_rn(a, b); }
GGAS_DEVICE float himeno_add(float a, float b) { return __fadd_rn(a, b); }
GGAS_DEVICE float himeno_sub(float a, float b) { return __fsub_rn(a, b); }
#else
inline float himeno_mul(float a, float b) { return a * b; }
inline float himeno_add(float a, float b) { return a + b; }
inline float himeno_sub(float a, float b) { return a - b; }
#endif

// ---- accesses
struct alignas(16) himeno_four {
  float v[himeno_quad];
};

GGAS_DEVICE himeno_four himeno_load(const float* p) { return *reinterpret_cast<const himeno_four*>(p); }
GGAS_DEVICE void himeno_store(float* p, const himeno_four& v) { *reinterpret_cast<himeno_four*>(p) = v; }

// Loads of the coefficients, each once a step. Together they are larger than the second-level cache of a GPU: the first
// `streamed` arrays are evicted first, so that the others and the pressure stay for the next step.
class himeno_arrays {
 public:
  GGAS_DEVICE himeno_arrays(const float* start, uint64_t distance, uint32_t streamed)
      : start_(start), distance_(distance), streamed_(streamed) {
#ifdef __CUDACC__
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(leave_));
    asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(stay_));
#endif
  }

  GGAS_DEVICE himeno_four at(uint32_t which, uint64_t i) const {
    const float* const p = start_ + which * distance_ + i;
#ifdef __CUDACC__
    himeno_four r;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(r.v[0]), "=f"(r.v[1]), "=f"(r.v[2]), "=f"(r.v[3])
                 : "l"(p), "l"(which < streamed_ ? leave_ : stay_));
    return r;
#else
    return himeno_load(p);
#endif
  }

 private:
  const float* start_;
  uint64_t distance_;  // of two arrays, floats
  uint32_t streamed_;
#ifdef __CUDACC__
  uint64_t leave_, stay_;
#endif
};

// Four points of a row and the two next to them: at(i) for i = -1 ... 4.
struct himeno_row {
  float left;
  himeno_four own;
  float right;
  GGAS_DEVICE float at(int i) const { return i < 0 ? left : i == static_cast<int>(himeno_quad) ? right : own.v[i]; }
};

// The neighbours of four points. At the ends of a row they are points of the row itself, whose values are not used:
// memory beyond may be a plane that a neighbour is writing.
struct himeno_beside {
  int64_t left, right;
  GGAS_DEVICE himeno_beside(uint32_t x, uint32_t nx)
      : left(x > 0 ? -1 : 0), right(x + himeno_quad < nx ? himeno_quad : himeno_quad - 1) {}
};

GGAS_DEVICE himeno_row himeno_load_row(const float* p, const himeno_beside& b) {
  return {p[b.left], himeno_load(p), p[b.right]};
}

// Three rows of one plane.
struct himeno_rows_of {
  himeno_row south, mid, north;
};
GGAS_DEVICE himeno_rows_of himeno_load_rows(const float* p, uint32_t nx, const himeno_beside& b) {
  return {himeno_load_row(p - nx, b), himeno_load_row(p, b), himeno_load_row(p + nx, b)};
}

// What the update of four points, the first of them at x, reads of the pressure.
struct himeno_around {
  himeno_rows_of below, here, above;
  GGAS_DEVICE himeno_around(const float* p, const himeno_grid& g, uint32_t x)
      : himeno_around(p, g, himeno_beside(x, g.nx)) {}

 private:
  GGAS_DEVICE himeno_around(const float* p, const himeno_grid& g, const himeno_beside& b)
      : below(himeno_load_rows(p - g.plane(), g.nx, b)),
        here(himeno_load_rows(p, g.nx, b)),
        above(himeno_load_rows(p + g.plane(), g.nx, b)) {}
};

struct himeno_result {
  himeno_four pressure;
  float gosa;  // squares of the residuals
};

// (p - q - r + s) in this order.
GGAS_DEVICE float himeno_cross(float p, float q, float r, float s) {
  return himeno_add(himeno_sub(himeno_sub(p, q), r), s);
}

// Points x ... x + 3 of a row with their coefficients; those on the boundary of the grid keep their value.
GGAS_DEVICE himeno_result himeno_update(const himeno_around& p, const himeno_four* k, uint32_t x, uint32_t nx) {
  himeno_result r{};
  for (int i = 0; i < static_cast<int>(himeno_quad); ++i) {
    const himeno_rows_of &u = p.above, &h = p.here, &d = p.below;
    float s = himeno_mul(k[0].v[i], u.mid.at(i));
    s = himeno_add(s, himeno_mul(k[1].v[i], h.north.at(i)));
    s = himeno_add(s, himeno_mul(k[2].v[i], h.mid.at(i + 1)));
    s = himeno_add(s, himeno_mul(k[4].v[i], himeno_cross(u.north.at(i), u.south.at(i), d.north.at(i), d.south.at(i))));
    s = himeno_add(s, himeno_mul(k[5].v[i], himeno_cross(h.north.at(i + 1), h.south.at(i + 1), h.north.at(i - 1),
                                                         h.south.at(i - 1))));
    s = himeno_add(
        s, himeno_mul(k[6].v[i], himeno_cross(u.mid.at(i + 1), d.mid.at(i + 1), u.mid.at(i - 1), d.mid.at(i - 1))));
    s = himeno_add(s, himeno_mul(k[7].v[i], d.mid.at(i)));
    s = himeno_add(s, himeno_mul(k[8].v[i], h.south.at(i)));
    s = himeno_add(s, himeno_mul(k[9].v[i], h.mid.at(i - 1)));
    s = himeno_add(s, k[11].v[i]);
    const float old = h.mid.at(i);
    const float ss = himeno_mul(himeno_sub(himeno_mul(s, k[3].v[i]), old), k[10].v[i]);
    const uint32_t place = x + static_cast<uint32_t>(i);
    const bool inside = place > 0 && place + 1 < nx;
    r.pressure.v[i] = inside ? himeno_add(old, himeno_mul(himeno_omega, ss)) : old;
    if (inside) r.gosa = himeno_add(r.gosa, himeno_mul(ss, ss));
  }
  return r;
}

}  // namespace ggas::bench
