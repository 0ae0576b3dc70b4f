// SPDX-License-Identifier: Apache-2.0
// Programs by the names of today's Hybrid API (hapi.h), on every provider that this program is linked with.
#include <gtest/gtest.h>

#include "tests/userlib/work/hapi.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t enough = 100'000'000'000;

class hapi : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto made = cluster::create(
        {.provider = GetParam(), .nodes = 1, .segment_bytes = 16 << 20, .host_bytes = 4 << 20, .nic = "model"});
    if (!made && GetParam() == "cuda") GTEST_SKIP() << made.error().text;
    ASSERT_TRUE(made) << made.error().text;
    auto rt = runtime::create({.processors = 2}, std::move(*made));
    ASSERT_TRUE(rt) << text_of(rt);
    rt_ = std::move(*rt);
    auto d = dispatcher::create(*rt_, {});
    ASSERT_TRUE(d) << text_of(d);
    work_ = std::move(*d);
    EXPECT_EQ(hapiCreateStreams(), 0);
    ASSERT_TRUE(hapiOpen(*work_, 0, 4));
  }
  void TearDown() override {
    hapiClose();
    if (work_) {
      EXPECT_EQ(work_->statistics().pool_bytes, 0u);
    }
    work_.reset();
  }
  std::string run() { return text_of(rt_->run(enough)); }

  std::unique_ptr<runtime> rt_;
  std::unique_ptr<dispatcher> work_;
};

std::vector<std::string> providers() {
  std::vector<std::string> all;
  for (const char* name : {"shm", "sim", "cuda"}) {
    const auto made = cluster::create({.provider = name, .nodes = -1});
    if (made.error().text.find("linked with") == std::string::npos) all.emplace_back(name);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(by, hapi, testing::ValuesIn(providers()), [](const auto& i) { return i.param; });

// An object with its own stream and memory: copies, kernel, copy back, and a callback to itself, several times.
struct chunk {
  static constexpr int n = 1000, rounds = 3;
  size_t index;
  runtime& rt;
  float *x = nullptr, *y = nullptr, *on_host = nullptr;
  hapiStream_t stream = hapiGetStream();
  CkCallback back;
  int calls = 0, wrong = 0, here = -1;

  chunk(size_t i, runtime* r) : index(i), rt(*r) {
    back.send = [this](const result<>& end) { came(end); };
  }
  void begin() {
    here = rt.here();
    hapiCheck(hapiMalloc(&x, n * sizeof(float)));
    hapiCheck(hapiMalloc(&y, n * sizeof(float)));
    hapiCheck(hapiMallocHost(&on_host, n * sizeof(float)));
    for (int i = 0; i < n; ++i) on_host[i] = static_cast<float>(i % 10);
    hapiCheck(hapiMemcpyAsync(x, on_host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    hapiCheck(hapiMemcpyAsync(y, on_host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    go();
  }
  void go() {
    const bool on_gpus = rt.with_cluster([](cluster& c) { return c.config().provider == "cuda"; });
    (on_gpus ? invoke_saxpy_on_cuda : invoke_saxpy_on_engine)(static_cast<float>(index), x, y, n, stream);
    hapiCheck(hapiMemcpyAsync(on_host, y, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    calls % 2 ? hapiAddCallback(stream, back) : hapiAddCallback(stream, static_cast<void*>(&back));
  }
  void came(const result<>& end) {
    ++calls;
    const float times = 1.0f + static_cast<float>(calls) * static_cast<float>(index);
    wrong += !end || rt.here() != here;
    for (int i = 0; i < n; ++i) wrong += on_host[i] != times * static_cast<float>(i % 10);
    if (calls < rounds) return go();
    hapiCheck(hapiFree(x));
    hapiCheck(hapiFree(y));
    hapiCheck(hapiFreeHost(on_host));
  }
};

TEST_P(hapi, objects_get_their_callbacks_when_their_stream_has_come_so_far) {
  EXPECT_EQ(hapiCreateStreams(), 4);
  const auto all = rt_->make_array<chunk>(10, {}, rt_.get());
  ASSERT_TRUE(all);
  all->broadcast<&chunk::begin>();
  ASSERT_EQ(run(), "");
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(all->look_at(i)->calls, chunk::rounds);
    EXPECT_EQ(all->look_at(i)->wrong, 0);
  }
}

TEST_P(hapi, a_message_goes_to_the_callback) {
  int plain = 0, number = 7;
  void* got = nullptr;
  CkCallback cb;
  cb.send = [&](const result<>&) { ++plain; };
  hapiAddCallback(hapiGetStream(), cb, &number);
  hapiAddCallback(hapiGetStream(), nullptr);
  ASSERT_EQ(run(), "");
  cb.send_message = [&](const result<>&, void* message) { got = message; };
  hapiAddCallback(hapiGetStream(), cb, &number);
  ASSERT_EQ(run(), "");
  EXPECT_EQ(plain, 1);
  EXPECT_EQ(got, &number);
}

TEST_P(hapi, errors_are_named) {
  EXPECT_EQ(text_of(hapiOpen(*work_, 0, 0)), "hapiOpen: 0 streams: must be 1 ... 128");
  EXPECT_NE(text_of(hapiOpen(*work_, 1)), "");
  void* p = nullptr;
  EXPECT_EQ(hapiMalloc(&p, size_t{1} << 40), cudaErrorMemoryAllocation);
  EXPECT_EQ(hapiMallocHost(&p, size_t{1} << 40), cudaErrorMemoryAllocation);
  EXPECT_EQ(hapiMalloc(&p, 0), cudaErrorInvalidValue);
  EXPECT_EQ(hapiFree(&p), cudaErrorInvalidValue);
  EXPECT_EQ(hapiFree(nullptr), cudaSuccess);
  EXPECT_EQ(hapiFreeHost(&p), cudaErrorInvalidValue);
  EXPECT_EQ(hapiMemcpyAsync(&p, &p, 8, cudaMemcpyHostToDevice, hapiGetStream()), cudaErrorInvalidValue);
  // A method that dies of an error ends run() with it.
  rt_->post(0, [&] { hapiCheck(hapiMalloc(&p, 0)); });
  const std::string why = run();
  EXPECT_NE(why.find("hapiMalloc(&p, 0): error 1 of CUDA"), std::string::npos) << why;
  hapiClose();
  EXPECT_THROW(hapiAddCallback(nullptr, CkCallback{}), std::runtime_error);
  EXPECT_EQ(hapiGetStream(), nullptr);
}

}  // namespace
}  // namespace ggas::test
