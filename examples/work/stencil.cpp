// SPDX-License-Identifier: Apache-2.0
// A stencil on all GPUs: each object enqueues a step after those of its neighbours, which it learns of by messages, and
// does so before they have ended. Kernels store border rows in the memory of neighbours. Then the same by streams and
// by graphs alone. All cells are compared with those that the processors compute.
//   work_stencil [provider] [nodes] [objects of a node] [steps] [rows] [width] [rounds] [processors] [period]
// nodes 0: all there are; period: messages between two looks at requests.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>

#include "stencil_by_hand.hpp"

namespace {

// Steps of an object that are enqueued and have not ended.
constexpr int most_ahead = 16;

class stripe {
 public:
  stripe(size_t i, ggas::runtime* r, ggas::dispatcher* w, const stripes* s) : me_(i), rt_(*r), work_(*w), all_(*s) {}
  void begin(const ggas::object_array<stripe>& objects) {
    objects_ = objects;
    enqueued_ = ended_ = 0;
    last_.reset();
    go_on();
  }
  // A neighbour has enqueued its next step.
  void enqueued_above(const ggas::request& r) {
    above_.push_back(r);
    go_on();
  }
  void enqueued_below(const ggas::request& r) {
    below_.push_back(r);
    go_on();
  }

 private:
  void go_on() {
    while (enqueued_ < all_.of().steps && enqueued_ - ended_ < most_ahead) {
      if (enqueued_ > 0 && (above_.empty() || below_.empty())) return;
      enqueue();
    }
  }
  void enqueue() {
    const int from = enqueued_ % 2, to = 1 - from;
    const size_t above = all_.above(me_), below = all_.below(me_);
    ggas::request r(all_.node(me_), all_.of().blocks(), 256, stencil_step, ggas::kept<float>(all_.memory(me_, to)),
                    ggas::kept<float>(all_.memory(me_, from)), all_.of().rows, all_.of().width,
                    all_.last_row(above, to), all_.first_row(below, to));
    r.then([this](const ggas::result<>& end) { ended(end); });
    check(enqueued_ == 0 ? work_.enqueue(r) : work_.enqueue(r, std::array{*last_, next(above_), next(below_)}));
    last_ = r;
    if (++enqueued_ == all_.of().steps) return;
    (*objects_)[above].send<&stripe::enqueued_below>(r);
    (*objects_)[below].send<&stripe::enqueued_above>(r);
  }
  static ggas::request next(std::deque<ggas::request>& from) {
    const ggas::request r = from.front();
    from.pop_front();
    return r;
  }
  void ended(const ggas::result<>& how) {
    check(how);
    ++ended_;
    go_on();
  }
  void check(const ggas::result<>& how) {
    if (!how) rt_.fail(how.error().text);
  }

  const size_t me_;
  ggas::runtime& rt_;
  ggas::dispatcher& work_;
  const stripes& all_;
  std::optional<ggas::object_array<stripe>> objects_;
  int enqueued_ = all_.of().steps, ended_ = 0;  // nothing is left until begin()
  std::optional<ggas::request> last_;
  std::deque<ggas::request> above_, below_;  // the next steps of the neighbours
};

int failed(const std::string& why) {
  std::fprintf(stderr, "work_stencil: %s\n", why.c_str());
  return 1;
}

constexpr uint64_t ten_minutes = 600'000'000'000;

// A way to make all steps, and its times of a step in us.
struct method {
  std::function<ggas::result<>()> run;
  std::vector<double> us = {};
  double median() {
    std::ranges::sort(us);
    return us[us.size() / 2];
  }
};

// Cells in, all steps, cells out and compared.
ggas::result<> play(ggas::runtime& rt, const stripes& all, const std::vector<float>& wanted, method& m) {
  auto cells = first_grid(all.of());
  if (auto ok = rt.with_cluster([&](ggas::cluster& c) { return all.write(c, cells); }); !ok) return ok;
  const auto begin = std::chrono::steady_clock::now();
  if (auto ok = m.run(); !ok) return ok;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  m.us.push_back(took.count() / all.of().steps);
  const auto ok = rt.with_cluster([&](ggas::cluster& c) { return all.read(c, cells, all.of().steps % 2); });
  if (ok && cells != wanted) return ggas::error{ggas::errc::device_fault, "wrong cells"};
  return ok;
}

// By objects, streams and graphs in turn; the first round is not counted if there are several.
int compare(ggas::runtime& rt, ggas::dispatcher& work, const shape& of, int rounds) {
  const auto all = stripes::make(work, of);
  if (!all) return failed(all.error().text);
  const auto objects = rt.make_array<stripe>(all->size(), {}, &rt, &work, &*all);
  if (!objects) return failed(objects.error().text);
  const auto streams = rt.with_cluster([&](ggas::cluster& c) { return by_streams::make(c, *all); });
  if (!streams) return failed(streams.error().text);
  const auto graphs = rt.with_cluster([&](ggas::cluster& c) { return by_graphs::make(c, *all); });
  if (!graphs) return failed(graphs.error().text);
  const auto by_objects = [&]() -> ggas::result<> {
    objects->broadcast<&stripe::begin>(*objects);
    const auto ended = rt.run(ten_minutes);
    return ended ? ggas::result<>() : ended.error();
  };
  const auto alone = [&](const auto& way) {
    return [&] { return rt.with_cluster([&](ggas::cluster& c) { return way.run(c, ten_minutes); }); };
  };
  method methods[] = {{by_objects}, {alone(*streams)}, {alone(*graphs)}};
  const auto wanted = expected_grid(of);
  for (int i = 0; i < rounds; ++i)
    for (method& m : methods) {
      if (const auto ok = play(rt, *all, wanted, m); !ok) return failed(ok.error().text);
      if (i == 0 && rounds > 1) m.us.clear();
    }
  const double us = methods[0].median();
  std::printf("%d objects on %d nodes, %d steps: right, every cell; %.2f us a step\n", of.objects, rt.cluster().nodes(),
              of.steps, us);
  const char* const names[] = {"objects", "by streams alone", "by graphs alone"};
  for (const int i : {1, 2})
    std::printf("%s: right, every cell; %.2f us a step, objects take %.2f times as long\n", names[i],
                methods[i].median(), us / methods[i].median());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  shape of{number(3, 2), number(4, 20), number(5, 64), number(6, 128)};
  const int rounds = number(7, 1);
  const int processors = number(8, 1), period = number(9, 100);
  for (const int n : {of.objects, of.steps, of.rows, of.width, rounds, processors, period})
    if (n < 1 || n > 100'000)
      return failed(std::to_string(n) + ": objects, steps, rows, width, rounds, processors, period are 1 ... 100000");
  // Both memories of all objects, and an eighth for the library.
  const size_t memory = 2 * of.bytes() * static_cast<size_t>(of.objects);
  ggas::cluster_config config;
  config.provider = argc > 1 ? argv[1] : "shm";
  config.nodes = number(2, 2);
  config.segment_bytes = (memory / 8 * 9 + (size_t{16} << 20)) / 4096 * 4096;
  auto c = ggas::cluster::create(config);
  if (!c) return failed(c.error().text);
  of.objects *= (*c)->nodes();
  const auto rt = ggas::runtime::create({.processors = processors, .progress_period = static_cast<unsigned>(period)},
                                        std::move(*c));
  if (!rt) return failed(rt.error().text);
  const auto work = ggas::dispatcher::create(**rt, {.in_flight = 16, .ahead = most_ahead});
  return work ? compare(**rt, **work, of, rounds) : failed(work.error().text);
}
