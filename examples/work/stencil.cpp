// SPDX-License-Identifier: Apache-2.0
// A stencil on all GPUs: objects exchange their border rows through channels, from GPU to GPU, and enqueue a step when
// all has come. Then the same by streams and events alone. All cells are compared with those that the processors
// compute.
//   work_stencil [provider] [nodes] [objects of a node] [steps] [rows] [width]   nodes 0: all there are
#include "stencil.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
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
// By all processors, each with some of the rows.
std::vector<float> expected(const shape& s) {
  std::vector<float> now = first_values(s), next = now;
  const int height = s.objects * s.rows;
  const int threads = std::min(height, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  std::barrier step_ended(threads, [&]() noexcept { std::swap(now, next); });
  const auto row = [&](const std::vector<float>& of, int y) {
    return of.data() + static_cast<size_t>((y + height) % height) * static_cast<size_t>(s.width);
  };
  const auto rows = [&](int first, int last) {
    for (int step = 0; step < s.steps; ++step) {
      for (int y = first; y < last; ++y) {
        const float *const above = row(now, y - 1), *const here = row(now, y), *const below = row(now, y + 1);
        float* const to = next.data() + (row(next, y) - next.data());
        for (int x = 1; x < s.width - 1; ++x) to[x] = 0.25f * (above[x] + below[x] + here[x - 1] + here[x + 1]);
      }
      step_ended.arrive_and_wait();
    }
  };
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back(rows, height * t / threads, height * (t + 1) / threads);
  all.clear();
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

// The same without objects: a stream for each stripe, and events between neighbours.
class by_streams {
 public:
  by_streams(ggas::cluster& c, const program& p) : c_(c), p_(p) {}
  ggas::result<> run() {
    for (const auto& part : p_.parts) {
      const auto s = c_.make_stream(part.memory[0].node());
      const auto e = c_.make_event(part.memory[0].node());
      if (!s || !e) return s ? e.error() : s.error();
      streams_.push_back(*s);
      sent_.push_back(*e);
    }
    for (int step = 0; step < p_.of.steps; ++step)
      if (const auto queued = queue(step % 2); !queued) return queued;
    if (const auto ran = c_.run(ten_minutes); !ran) return ran.error();
    return {};
  }

 private:
  uint64_t row(size_t stripe, int memory, int i) const {
    return p_.parts[stripe].memory[memory].block()->offset + static_cast<size_t>(i) * p_.of.row_bytes();
  }
  float* rows(size_t stripe, int memory, int i) {
    return reinterpret_cast<float*>(c_.segment(streams_[stripe].node) + row(stripe, memory, i));
  }
  // Border rows of a memory to the neighbours, then the step to the other memory.
  ggas::result<> queue(int from) {
    const size_t n = streams_.size();
    const shape& of = p_.of;
    ggas::result<> all;
    const auto keep = [&](const ggas::result<>& one) {
      if (all && !one) all = one;
    };
    for (size_t i = 0; i < n; ++i) {
      const size_t above = (i + n - 1) % n, below = (i + 1) % n;
      const ggas::stream& s = streams_[i];
      keep(put_row(c_, s, streams_[above].node, row(above, from, of.rows + 1), rows(i, from, 1), of.width));
      keep(put_row(c_, s, streams_[below].node, row(below, from, 0), rows(i, from, of.rows), of.width));
      keep(c_.record(sent_[i], s));
    }
    const unsigned blocks = static_cast<unsigned>(of.rows * of.width + 255) / 256;
    for (size_t i = 0; i < n; ++i) {
      keep(c_.wait(streams_[i], sent_[(i + n - 1) % n]));
      keep(c_.wait(streams_[i], sent_[(i + 1) % n]));
      keep(ggas::launch(c_, streams_[i], blocks, 256, stencil_step, rows(i, 1 - from, 0), rows(i, from, 0), of.rows,
                        of.width));
    }
    return all;
  }

  ggas::cluster& c_;
  const program& p_;
  std::vector<ggas::stream> streams_;
  std::vector<ggas::event> sent_;
};

// Cells in, a run, cells out and compared; the time of a step in us.
ggas::result<double> timed(program& p, const std::vector<float>& wanted, const std::function<ggas::result<>()>& run) {
  auto cells = first_values(p.of);
  // The first and last columns of both memories: they are never computed.
  for (const int memory : {0, 1})
    if (auto ok = p.move(cells, memory, true); !ok) return ok.error();
  const auto begin = std::chrono::steady_clock::now();
  if (auto ok = run(); !ok) return ok.error();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  if (auto ok = p.move(cells, p.of.steps % 2, false); !ok) return ok.error();
  if (cells != wanted) return ggas::error{ggas::errc::device_fault, "wrong cells"};
  return took.count() / p.of.steps;
}

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
  const auto all = p.rt->make_array<stripe>(p.parts.size(), {}, p.rt.get(), p.work.get(), p.of, &p.parts);
  if (!all) return failed(all.error().text);
  const auto wanted = expected(p.of);
  const auto by_objects = timed(p, wanted, [&] {
    all->broadcast<&stripe::begin>();
    const auto ended = p.rt->run(ten_minutes);
    return ended ? ggas::result<>() : ended.error();
  });
  if (!by_objects) return failed(by_objects.error().text);
  std::printf("%d objects on %d nodes, %d steps: right, every cell; %.2f us a step\n", p.of.objects,
              p.rt->cluster().nodes(), p.of.steps, *by_objects);
  const auto by_hand =
      timed(p, wanted, [&] { return p.rt->with_cluster([&](ggas::cluster& c) { return by_streams(c, p).run(); }); });
  if (!by_hand) return failed("by streams: " + by_hand.error().text);
  std::printf("by streams alone: right, every cell; %.2f us a step, objects take %.2f times as long\n", *by_hand,
              *by_objects / *by_hand);
  return 0;
}
