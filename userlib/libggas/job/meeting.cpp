// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/job/meeting.hpp"

#include "userlib/start/bootstrap.hpp"

namespace ggas::library::start {

namespace {

class by_blobs final : public meeting {
 public:
  by_blobs(std::unique_ptr<blobs> b, deadline until) : blobs_(std::move(b)), until_(until) {}
  attempt<std::vector<std::string>> tell(const std::string& name, const std::string& bytes) override {
    attempt<> done = blobs_->put(name, bytes);
    if (done) done = blobs_->fence(until_);
    std::vector<std::string> all;
    for (int r = 0; done && r < blobs_->size(); ++r) {
      auto one = blobs_->get(r, name, until_);
      if (!one) return std::unexpected(one.error());
      all.push_back(std::move(*one));
    }
    if (!done) return std::unexpected(done.error());
    return all;
  }

 private:
  std::unique_ptr<blobs> blobs_;
  deadline until_;
};

class by_sockets final : public meeting {
 public:
  explicit by_sockets(std::unique_ptr<userlib::bootstrap> b) : bootstrap_(std::move(b)) {}
  attempt<std::vector<std::string>> tell(const std::string& name, const std::string& bytes) override {
    const auto reported = bootstrap_->gather(name, bytes);
    if (!reported) return std::unexpected(reported.error());
    std::vector<std::string> all;
    for (const auto& one : *reported) all.push_back(one.bytes);
    return all;
  }

 private:
  std::unique_ptr<userlib::bootstrap> bootstrap_;
};

}  // namespace

attempt<std::unique_ptr<meeting>> make_meeting(const job& j, std::unique_ptr<blobs> met) {
  if (met) return std::make_unique<by_blobs>(std::move(met), userlib::after(j.timeout_ns));
  auto b = userlib::bootstrap::join(j);
  if (!b) return std::unexpected(b.error());
  return std::make_unique<by_sockets>(std::move(*b));
}

}  // namespace ggas::library::start
