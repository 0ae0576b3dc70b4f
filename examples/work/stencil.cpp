// SPDX-License-Identifier: Apache-2.0
// A stencil on all GPUs: objects exchange their border rows through channels, from GPU to GPU, and enqueue a step when
// all has come. In the end all cells are compared with those that the processor computes.
//   work_stencil [provider] [nodes] [objects of a node] [steps] [rows] [width]   nodes 0: all there are
#include "stencil.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ggas/channel.hpp"

namespace {

struct shape {
  int objects, steps, rows, width;
  size_t row_bytes() const { return static_cast<size_t>(width) * sizeof(float); }
  size_t bytes() const { return (static_cast<size_t>(rows) + 2) * row_bytes(); }
};

struct stripe {
  struct parts {
    ggas::gpu_memory memory[2];
    // To the object above and below, and from them.
    std::vector<ggas::gpu_channel> up, down, from_up, from_down;
  };
  ggas::runtime& rt;
  ggas::dispatcher& work;
  const shape of;
  parts mine;
  int pending = 0, step = 0;

  stripe(size_t i, ggas::runtime* r, ggas::dispatcher* w, const shape& s, const std::vector<parts>* all)
      : rt(*r), work(*w), of(s), mine((*all)[i]) {}
  void begin() { exchange({}); }

  ggas::gpu_memory& now() { return mine.memory[step % 2]; }
  ggas::gpu_piece row(int i) { return {now(), static_cast<size_t>(i) * of.row_bytes(), of.row_bytes()}; }
  // The border rows go once those in `after` have written them.
  void exchange(const std::vector<ggas::request>& after) {
    const auto came = [this](const ggas::result<size_t>& end) { arrived(end ? ggas::result<>() : end.error()); };
    pending = 4;
    check(mine.up[0].send(row(1), came, after));
    check(mine.down[0].send(row(of.rows), came, after));
    check(mine.from_up[0].receive(row(0), came));
    check(mine.from_down[0].receive(row(of.rows + 1), came));
  }
  void arrived(const ggas::result<>& end) {
    check(end);
    if (--pending == 0) compute();
  }
  void compute() {
    const ggas::gpu_memory from = now();
    ++step;
    const unsigned blocks = static_cast<unsigned>(of.rows * of.width + 255) / 256;
    ggas::request r(from.node(), blocks, 256, stencil_step, ggas::kept<float>(now()), ggas::kept<float>(from), of.rows,
                    of.width);
    r.then([this](const ggas::result<>& how) { check(how); });
    check(work.enqueue(r));
    if (step < of.steps) exchange({r});
  }
  void check(const ggas::result<>& how) {
    if (!how) rt.fail(how.error().text);
  }
};

// The whole grid, row by row.
std::vector<float> first_values(const shape& s) {
  std::vector<float> all(static_cast<size_t>(s.objects * s.rows * s.width));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i * 7919 % 1000);
  return all;
}
std::vector<float> expected(const shape& s) {
  std::vector<float> now = first_values(s), next = now;
  const int height = s.objects * s.rows;
  const auto at = [&](int y, int x) { return static_cast<size_t>((y + height) % height * s.width + x); };
  for (int step = 0; step < s.steps; ++step) {
    for (int y = 0; y < height; ++y)
      for (int x = 1; x < s.width - 1; ++x)
        next[at(y, x)] = 0.25f * (now[at(y - 1, x)] + now[at(y + 1, x)] + now[at(y, x - 1)] + now[at(y, x + 1)]);
    std::swap(now, next);
  }
  return now;
}

int failed(const std::string& why) {
  std::fprintf(stderr, "work_stencil: %s\n", why.c_str());
  return 1;
}

constexpr uint64_t ten_minutes = 600'000'000'000;

struct program {
  shape of;
  std::unique_ptr<ggas::runtime> rt = nullptr;
  std::unique_ptr<ggas::dispatcher> work = nullptr;
  std::vector<stripe::parts> parts = {};

  int node_of(int object) const { return object * rt->cluster().nodes() / of.objects; }
  ggas::result<> set_up() {
    for (int i = 0; i < of.objects; ++i) {
      auto& p = parts.emplace_back();
      for (auto& m : p.memory) {
        auto made = work->allocate(node_of(i), of.bytes());
        if (!made) return made.error();
        m = *made;
      }
    }
    for (int i = 0; i < of.objects; ++i) {
      const int below = (i + 1) % of.objects;
      const auto down = ggas::gpu_channel::make(*work, node_of(i), node_of(below), {.blocks = 1});
      const auto up = ggas::gpu_channel::make(*work, node_of(below), node_of(i), {.blocks = 1});
      if (!down || !up) return down ? up.error() : down.error();
      auto &here = parts[static_cast<size_t>(i)], &there = parts[static_cast<size_t>(below)];
      here.down.push_back(*down);
      there.from_up.push_back(*down);
      there.up.push_back(*up);
      here.from_down.push_back(*up);
    }
    return {};
  }
  // Between an object's rows in its memory and the whole grid.
  ggas::result<> move(std::vector<float>& all, int memory, bool in) {
    const size_t words = static_cast<size_t>(of.rows * of.width);
    for (size_t i = 0; i < parts.size(); ++i) {
      const ggas::gpu_memory& m = parts[i].memory[memory];
      float* const rows = all.data() + i * words;
      const auto ok = rt->with_cluster([&](ggas::cluster& c) {
        const uint64_t at = m.block()->offset + of.row_bytes();
        return in ? c.write(m.node(), at, rows, words * sizeof(float))
                  : c.read(m.node(), at, rows, words * sizeof(float));
      });
      if (!ok) return ok;
    }
    return {};
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  program p{{number(3, 2), number(4, 20), number(5, 64), number(6, 128)}};
  for (const int n : {p.of.objects, p.of.steps, p.of.rows, p.of.width})
    if (n < 1 || n > 100'000) return failed(std::to_string(n) + ": objects, steps, rows, width are 1 ... 100000");
  auto c = ggas::cluster::create({.provider = argc > 1 ? argv[1] : "shm", .nodes = number(2, 2)});
  if (!c) return failed(c.error().text);
  p.of.objects *= (*c)->nodes();
  auto rt = ggas::runtime::create({.processors = 2}, std::move(*c));
  if (!rt) return failed(rt.error().text);
  p.rt = std::move(*rt);
  auto work = ggas::dispatcher::create(*p.rt, {.in_flight = 16});
  if (!work) return failed(work.error().text);
  p.work = std::move(*work);
  if (auto ok = p.set_up(); !ok) return failed(ok.error().text);
  auto cells = first_values(p.of);
  // The first and last columns of both memories: they are never computed.
  for (const int memory : {0, 1})
    if (auto ok = p.move(cells, memory, true); !ok) return failed(ok.error().text);
  const auto all = p.rt->make_array<stripe>(p.parts.size(), {}, p.rt.get(), p.work.get(), p.of, &p.parts);
  if (!all) return failed(all.error().text);
  const auto begin = std::chrono::steady_clock::now();
  all->broadcast<&stripe::begin>();
  if (const auto ended = p.rt->run(ten_minutes); !ended) return failed(ended.error().text);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  if (auto ok = p.move(cells, p.of.steps % 2, false); !ok) return failed(ok.error().text);
  if (cells != expected(p.of)) return failed("wrong cells");
  std::printf("%d objects on %d nodes, %d steps: right, every cell; %.2f us a step\n", p.of.objects,
              p.rt->cluster().nodes(), p.of.steps, took.count() / p.of.steps);
  return 0;
}
