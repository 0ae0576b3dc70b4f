// SPDX-License-Identifier: Apache-2.0
// Start-up of the processes of a job on one computer: they find each other and exchange small data, also file
// descriptors, in a star of Unix-domain sockets around rank 0, which listens at an abstract name made of the user's
// number and the job's name. Processes of other users are refused, and in a job with a secret all that do not know it:
// rank 0 and each newcomer prove to each other that they know it, and the name depends on it too.
//
// A lost process, a wait that is too long or a call that does not match those of the others breaks the bootstrap: that
// call and every later one fail in all processes, with the same text if rank 0 could still send it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ggas/job.hpp"
#include "userlib/start/attempt.hpp"
#include "userlib/start/message.hpp"
#include "userlib/start/secret.hpp"

namespace ggas::userlib {

class bootstrap {
 public:
  struct part {
    std::string bytes;
    file handle;
  };

  // Waits until all processes have joined. j.rank is not -1. The error names the missing ranks, or the ranks that
  // disagree on the size of the job.
  static attempt<std::unique_ptr<bootstrap>> join(const job& j);
  // When rank 0 leaves and another process has ended before, the others learn of that one.
  ~bootstrap();

  int rank() const { return job_.rank; }
  int size() const { return job_.size; }

  // All processes call it with the same `what` (at most 48 letters) and get the parts of all, by rank, including their
  // own. A part is at most message::most_bytes and may have a file descriptor (-1: none), which remains the caller's.
  attempt<std::vector<part>> gather(std::string_view what, std::string_view bytes, int handle = -1);
  // All processes report how something went; it went well if it did everywhere. Does not break the bootstrap.
  attempt<> agree(std::string_view what, const attempt<>& here);
  // Compares a text of all processes (at most message::most_bytes). If they differ, the error names each process and
  // its text. Does not break the bootstrap.
  attempt<> same(std::string_view what, std::string_view text);
  // Waits until all processes have come here.
  attempt<> meet(std::string_view what);

 private:
  struct peer {
    file socket, process;  // process: end_of(pid)
    int pid = 0;
  };

  // A process that has connected; with what it said and was asked, where it has to prove something.
  struct newcomer {
    peer process;
    message hello;
    std::string asked;
  };

  explicit bootstrap(const job& j) : job_(j), peers_(static_cast<size_t>(j.size)) {}
  attempt<> listen();
  attempt<> accept_all(const file& listener, deadline until);
  bool hear(newcomer& n, deadline until, attempt<>& outcome);
  attempt<> answer_hello(peer& newcomer, const message& hello);
  io prove(message& answer, const std::string& mine, deadline until);
  attempt<> connect();
  attempt<std::vector<part>> collect(message mine, int handle, deadline until);
  attempt<> take(const message& mine, int rank, std::vector<part>& parts, deadline until);
  attempt<std::vector<part>> ask(message mine, int handle, deadline until);
  std::unexpected<std::string> stop(const std::string& why);
  std::string name(int rank) const;
  deadline until() const { return after(job_.timeout_ns); }

  job job_;
  secret secret_;
  std::vector<peer> peers_;  // rank 0: the others, by rank; others: rank 0
  uint64_t round_ = 0;
  std::string broken_;  // why; empty: it is not
};

}  // namespace ggas::userlib
