// SPDX-License-Identifier: Apache-2.0
// Blobs over TCP: a star around rank 0, which listens at the address that all know (GGAS_ROOT). Each rank and rank 0
// prove to each other that they know the secret of the job; without a secret there are no blobs.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "userlib/start/blobs.hpp"
#include "userlib/start/modules/wire.hpp"

namespace ggas::library::start {

struct tcp_job {
  int rank = 0, size = 1;
  std::string host, port;  // where rank 0 listens
  userlib::secret secret;
};
// GGAS_RANK, GGAS_SIZE, GGAS_ROOT, GGAS_SECRET.
attempt<tcp_job> tcp_job_from_environment();

class tcp_blobs final : public blobs {
 public:
  static constexpr std::chrono::milliseconds handshake{2000};  // a unauthenticated peer has for it
  static constexpr size_t most_newcomers = 64;                 // at a time: the oldest gives way

  static attempt<std::unique_ptr<blobs>> join(const tcp_job& j, deadline until);

  int rank() const override { return job_.rank; }
  int size() const override { return job_.size; }
  attempt<> put(const std::string& name, const std::string& bytes) override;
  attempt<> fence(deadline until) override;
  attempt<std::string> get(int rank, const std::string& name, deadline until) override;

 private:
  using table = std::map<std::string, std::string>;
  struct unproved_peer {
    line to;
    deadline until;
    start::handshake said;  // rank_0s is empty: nothing yet
  };

  explicit tcp_blobs(const tcp_job& j) : job_(j), all_(size_t(j.size)) {}
  std::unexpected<std::string> stop(const std::string& why);

  // root.cpp: rank 0
  attempt<> accept_all(const std::vector<file>& doors, deadline until);
  attempt<> accept_one(const file& door);
  attempt<> look_at_members();
  // False: no part of the job, or in by now.
  bool receive(unproved_peer& s, attempt<>& outcome);
  attempt<> let_in(unproved_peer& s);
  attempt<> collect(deadline until);

  // tcp.cpp: the others
  attempt<> connect(deadline until);
  enum class handshake_result { in, later, dropped, never };
  handshake_result say_hello(line l, deadline until, std::string& why);
  attempt<> exchange(deadline until);
  attempt<> store(int rank, const std::string& part);

  tcp_job job_;
  std::vector<line> lines_;  // rank 0: to the others, by rank; others: to rank 0
  std::vector<unproved_peer> unproved_;
  int refused_ = 0;
  table mine_;              // not reported yet
  std::vector<table> all_;  // what each rank has reported
  std::string broken_;
};

// Sockets that listen at an address; never empty.
attempt<std::vector<file>> listen_at(const std::string& host, const std::string& port);

// Blobs of a rank in a frame.
std::string packed(const std::map<std::string, std::string>& blobs);
bool unpacked(const std::string& text, std::map<std::string, std::string>& blobs);
inline constexpr size_t most_packed = blobs::most_blobs * (blobs::most_bytes + blobs::most_name + 4);

}  // namespace ggas::library::start
