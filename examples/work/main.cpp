// SPDX-License-Identifier: Apache-2.0
// The host side: an object enqueues a matrix product; its callback compares it with the processor's result and ends the
// program.
//   work_matmul [provider] [height] [inner] [width] [id]   provider: shm (default), or another that it is linked with
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ggas/wr.h"
#include "matmul.hpp"

namespace {

struct memory_of_matrix {
  std::vector<float> words;
  memory_of_matrix(int width, int height, int seed)
      : words(static_cast<size_t>(bytes_of(width, height)) / sizeof(float)) {
    *get() = {width, height};
    for (int i = 0; seed && i < width * height; ++i) get()->elements()[i] = static_cast<float>((i * seed) % 17 - 8);
  }
  matrix* get() { return reinterpret_cast<matrix*>(words.data()); }
};

struct product {
  ggas::runtime& rt;
  memory_of_matrix m, n, p;
  int id;
  CkCallback callback;
  std::string wrong = "the callback was not called";

  product(ggas::runtime* r, int height, int inner, int width, int kernel)
      : rt(*r), m(inner, height, 3), n(width, inner, 5), p(width, height, 0), id(kernel) {
    *p.get() = {0, 0};  // the kernel writes it
  }
  void begin() {
    callback.send = [this](const ggas::result<>& end) {
      wrong = end ? difference() : end.error().text;
      rt.exit();
    };
    kernelSetup(m.get(), n.get(), p.get(), &callback, id);
  }
  // From what the processor computes; the numbers are small, so both are exact.
  std::string difference() {
    const int width = n.get()->width, height = m.get()->height, inner = m.get()->width;
    if (p.get()->width != width || p.get()->height != height) return "the product has a wrong header";
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        float sum = 0;
        for (int k = 0; k < inner; ++k)
          sum += m.get()->elements()[row * inner + k] * n.get()->elements()[k * width + column];
        if (p.get()->elements()[row * width + column] != sum)
          return "row " + std::to_string(row) + ", column " + std::to_string(column) + ": " +
                 std::to_string(p.get()->elements()[row * width + column]) + ", not " + std::to_string(sum);
      }
    }
    return "";
  }
};

int failed(const std::string& why) {
  std::fprintf(stderr, "work_matmul: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int height = number(2, 64), inner = number(3, 48), width = number(4, 32);
  for (const int size : {height, inner, width})
    if (size < block_size || size > 4096 || size % block_size != 0)
      return failed(std::to_string(size) + ": sizes are multiples of " + std::to_string(block_size) + ", at most 4096");
  ggas::cluster_config config;
  config.provider = argc > 1 ? argv[1] : "shm";
  config.nodes = 1;
  config.segment_bytes = config.host_bytes = 256u << 20;
  auto c = ggas::cluster::create(config);
  if (!c) return failed(c.error().text);
  auto rt = ggas::runtime::create({.processors = 2}, std::move(*c));
  if (!rt) return failed(rt.error().text);
  auto work = ggas::dispatcher::create(**rt, {.how = ggas::executor::fifo});
  if (!work) return failed(work.error().text);
  wrOpen(**work, 0);
  const auto one = (*rt)->make_array<product>(1, {}, rt->get(), height, inner, width, number(5, matmul_id));
  if (!one) return failed(one.error().text);
  (*one)[0].send<&product::begin>();
  constexpr uint64_t ten_minutes = 600'000'000'000;
  const auto ended = (*rt)->run(ten_minutes);
  wrClose();
  if (!ended) return failed(ended.error().text);
  if (const std::string& wrong = one->look_at(0)->wrong; !wrong.empty()) return failed(wrong);
  std::printf("%d x %d by %d x %d: right, every element\n", height, inner, inner, width);
  return 0;
}
