// SPDX-License-Identifier: Apache-2.0
#include "stencil_grid.hpp"

#include <algorithm>
#include <barrier>
#include <thread>

ggas::result<stripes> stripes::make(ggas::dispatcher& work, const shape& of) {
  stripes s;
  s.of_ = of;
  const int nodes = work.of().cluster().nodes();
  for (int i = 0; i < of.objects; ++i) {
    auto& one = s.all_.emplace_back();
    for (auto& m : one.memory) {
      auto made = work.allocate(i * nodes / of.objects, of.bytes());
      if (!made) return made.error();
      m = *made;
    }
  }
  return s;
}

ggas::result<> stripes::write(ggas::cluster& c, const std::vector<float>& grid) const {
  const size_t words = static_cast<size_t>(of_.rows * of_.width), width = static_cast<size_t>(of_.width);
  for (size_t i = 0; i < size(); ++i) {
    std::vector<float> rows(words + 2 * width);
    for (size_t k = 0; k < rows.size(); ++k) rows[k] = grid[(i * words + grid.size() - width + k) % grid.size()];
    for (const int which : {0, 1})
      if (auto ok = c.write(node(i), memory(i, which).block()->offset, rows.data(), of_.bytes()); !ok) return ok;
  }
  return {};
}

ggas::result<> stripes::read(ggas::cluster& c, std::vector<float>& grid, int which) const {
  const size_t words = static_cast<size_t>(of_.rows * of_.width);
  for (size_t i = 0; i < size(); ++i)
    if (auto ok = c.read(node(i), row(i, which, 1).offset, grid.data() + i * words, words * sizeof(float)); !ok)
      return ok;
  return {};
}

std::vector<float> first_grid(const shape& of) {
  std::vector<float> all(static_cast<size_t>(of.objects * of.rows * of.width));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i * 7919 % 1000);
  return all;
}

std::vector<float> expected_grid(const shape& of) {
  std::vector<float> now = first_grid(of), next = now;
  const int height = of.objects * of.rows;
  const int threads = std::min(height, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  std::barrier step_ended(threads, [&]() noexcept { std::swap(now, next); });
  const auto row = [&](const std::vector<float>& grid, int y) {
    return grid.data() + static_cast<size_t>((y + height) % height) * static_cast<size_t>(of.width);
  };
  const auto rows = [&](int first, int last) {
    for (int step = 0; step < of.steps; ++step) {
      for (int y = first; y < last; ++y) {
        const float *const above = row(now, y - 1), *const here = row(now, y), *const below = row(now, y + 1);
        float* const to = next.data() + (row(next, y) - next.data());
        for (int x = 1; x < of.width - 1; ++x) to[x] = 0.25f * (above[x] + below[x] + here[x - 1] + here[x + 1]);
      }
      step_ended.arrive_and_wait();
    }
  };
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back(rows, height * t / threads, height * (t + 1) / threads);
  all.clear();
  return now;
}
