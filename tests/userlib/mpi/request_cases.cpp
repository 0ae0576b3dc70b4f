// SPDX-License-Identifier: Apache-2.0
// Messages that were begun, and every way to their end.
#include <algorithm>
#include <ctime>
#include <thread>

#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

namespace {

constexpr int number = 12;

// Rank 0 sends `number` columns. Rank 1 receives each into its own area, with a receive begun before; every third
// message is contiguous, so it is left to the MPI. end(requests): until all are complete.
template <class F>
void many(F end) {
  const typed col = column(30, 2);
  std::vector<std::vector<double>> areas(number, std::vector<double>(60, -1));
  std::vector<MPI_Request> requests(number);
  for (int i = 0; i < number; ++i) {
    auto& area = areas[static_cast<size_t>(i)];
    auto& request = requests[static_cast<size_t>(i)];
    const int count = i % 3 == 2 ? 30 : 1;
    const MPI_Datatype type = i % 3 == 2 ? MPI_DOUBLE : col.type;
    if (rank() == 0) {
      area.assign(60, i);
      MPI_Isend(area.data(), count, type, 1, i, MPI_COMM_WORLD, &request);
    } else {
      MPI_Irecv(area.data(), count, type, 0, i, MPI_COMM_WORLD, &request);
    }
  }
  end(requests);
  for (const MPI_Request r : requests) CHECK(r == MPI_REQUEST_NULL);
  if (rank() == 0) return;
  for (int i = 0; i < number; ++i) {
    const auto& area = areas[static_cast<size_t>(i)];
    const bool line = i % 3 == 2;
    CHECK(area[0] == i && area[line ? 29 : 58] == i && area[line ? 30 : 1] == -1);
  }
}

void of_tag(const MPI_Status& s, int tag) {
  if (rank() == 1) CHECK(s.MPI_SOURCE == 0 && s.MPI_TAG == tag);
}

}  // namespace

MPI_CASE(waitall, 2) {
  many([](auto& r) {
    std::vector<MPI_Status> s(number);
    CHECK(MPI_Waitall(number, r.data(), s.data()) == 0);
    for (int i = 0; i < number; ++i) of_tag(s[static_cast<size_t>(i)], i);
  });
}
MPI_CASE(waitall_without_status, 2) {
  many([](auto& r) { CHECK(MPI_Waitall(number, r.data(), MPI_STATUSES_IGNORE) == 0); });
}
MPI_CASE(wait_in_other_order, 2) {
  many([](auto& r) {
    for (int i = number; i-- > 0;) {
      MPI_Status s;
      CHECK(MPI_Wait(&r[static_cast<size_t>(i)], &s) == 0);
      of_tag(s, i);
    }
  });
}
MPI_CASE(waitany, 2) {
  many([](auto& r) {
    for (int n = 0; n < number; ++n) {
      int i = -1;
      MPI_Status s;
      CHECK(MPI_Waitany(number, r.data(), &i, &s) == 0 && i >= 0);
      of_tag(s, i);
    }
    int none = 0;
    CHECK(MPI_Waitany(number, r.data(), &none, MPI_STATUS_IGNORE) == 0 && none == MPI_UNDEFINED);
  });
}
MPI_CASE(waitsome, 2) {
  many([](auto& r) {
    for (int left = number; left > 0;) {
      int n = 0, places[number];
      MPI_Status s[number];
      CHECK(MPI_Waitsome(number, r.data(), &n, places, s) == 0);
      for (int k = 0; k < n; ++k) of_tag(s[k], places[k]);
      left -= n;
    }
  });
}
MPI_CASE(testall, 2) {
  many([](auto& r) {
    for (int done = 0; !done;) CHECK(MPI_Testall(number, r.data(), &done, MPI_STATUSES_IGNORE) == 0);
  });
}
MPI_CASE(testany, 2) {
  many([](auto& r) {
    for (int left = number; left > 0;) {
      int i = -1, done = 0;
      MPI_Status s;
      CHECK(MPI_Testany(number, r.data(), &i, &done, &s) == 0);
      if (done) of_tag(s, i), --left;
    }
  });
}
MPI_CASE(testsome, 2) {
  many([](auto& r) {
    for (int left = number; left > 0;) {
      int n = 0, places[number];
      CHECK(MPI_Testsome(number, r.data(), &n, places, MPI_STATUSES_IGNORE) == 0);
      left -= n;
    }
  });
}
MPI_CASE(request_get_status, 2) {
  const typed col = column(30, 2);
  std::vector<double> area(60, rank() == 0 ? 5 : -1);
  MPI_Request r;
  if (rank() == 0) MPI_Isend(area.data(), 1, col.type, 1, 0, MPI_COMM_WORLD, &r);
  if (rank() == 1) MPI_Irecv(area.data(), 1, col.type, 0, 0, MPI_COMM_WORLD, &r);
  MPI_Status s;
  for (int done = 0; !done;) CHECK(MPI_Request_get_status(r, &done, &s) == 0);
  CHECK(area[0] == 5 && area[58] == 5);  // complete: the data are there
  CHECK(r != MPI_REQUEST_NULL && MPI_Wait(&r, &s) == 0 && r == MPI_REQUEST_NULL);
}
MPI_CASE(request_free, 2) {
  const typed col = column(3000, 2);
  for (int i = 0; i < 20; ++i) {
    std::vector<double> area(6000, i);
    MPI_Request r;
    if (rank() == 0) {
      MPI_Isend(area.data(), 1, col.type, 1, i, MPI_COMM_WORLD, &r);
      CHECK(MPI_Request_free(&r) == 0 && r == MPI_REQUEST_NULL);
      ALONE(Recv)(nullptr, 0, MPI_BYTE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(area.data(), 1, col.type, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(area[5998] == i);
      ALONE(Send)(nullptr, 0, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    }
  }
}
MPI_CASE_ALONE(request_freed_to_the_end, 2) {
  // No one asks any more: MPI_Finalize ends it.
  const typed col = column(3000, 2);
  static std::vector<double> area(6000, 3);
  MPI_Request r;
  if (rank() == 0) MPI_Isend(area.data(), 1, col.type, 1, 0, MPI_COMM_WORLD, &r);
  if (rank() == 1) MPI_Recv(area.data(), 1, col.type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank() == 1) MPI_Irecv(area.data(), 1, col.type, 0, 77, MPI_COMM_WORLD, &r);  // of which no message comes
  MPI_Request_free(&r);
}
MPI_CASE(receive_freed, 2) {
  // A later message of the pair is there: so is the one whose request was freed.
  const typed col = column(30, 2);
  for (int i = 0; i < 20; ++i) {
    std::vector<double> area(60, rank() == 0 ? i : -1), later(60, -1);
    MPI_Request r;
    if (rank() == 0) {
      MPI_Send(area.data(), 1, col.type, 1, i, MPI_COMM_WORLD);
      MPI_Send(area.data(), 1, col.type, 1, 100, MPI_COMM_WORLD);
    } else {
      MPI_Irecv(area.data(), 1, col.type, 0, i, MPI_COMM_WORLD, &r);
      CHECK(MPI_Request_free(&r) == 0);
      MPI_Recv(later.data(), 1, col.type, 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(later[58] == i && area[58] == i);
    }
  }
}
MPI_CASE(cancel_receive, 2) {
  const typed col = column(30, 2);
  std::vector<double> area(60, rank() == 0 ? 5 : -1);
  if (rank() == 1) {
    MPI_Request r;
    MPI_Status s;
    int cancelled = 0;
    MPI_Irecv(area.data(), 1, col.type, 0, 77, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    CHECK(MPI_Wait(&r, &s) == 0);
    MPI_Test_cancelled(&s, &cancelled);
    CHECK(cancelled && area[0] == -1);
    MPI_Recv(area.data(), 1, col.type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(area[0] == 5);
  } else {
    MPI_Send(area.data(), 1, col.type, 1, 0, MPI_COMM_WORLD);
  }
}
MPI_CASE(persistent, 2) {
  const typed col = column(30, 2);
  std::vector<double> area(60, -1), other(60, -2);
  MPI_Request r[2];
  const int peer = 1 - rank();
  if (rank() == 0) MPI_Send_init(area.data(), 1, col.type, 1, 0, MPI_COMM_WORLD, &r[0]);
  if (rank() == 1) MPI_Recv_init(area.data(), 1, col.type, 0, 0, MPI_COMM_WORLD, &r[0]);
  for (int i = 0; i < 5; ++i) {
    if (rank() == 0) area.assign(60, i);
    MPI_Start(&r[0]);
    if (rank() == 0) MPI_Isend(area.data(), 1, col.type, peer, 1, MPI_COMM_WORLD, &r[1]);
    if (rank() == 1) MPI_Irecv(other.data(), 1, col.type, peer, 1, MPI_COMM_WORLD, &r[1]);
    CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == 0);
    CHECK(r[0] != MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    if (rank() == 1) CHECK(area[58] == i && other[58] == i && area[57] == -1 && other[57] == -2);
  }
  MPI_Request_free(&r[0]);
}
MPI_CASE_ALONE(persistent_ends, 2) {
  // A request that was cancelled, one that was never started, one that is freed while it is in flight, and one that is
  // never freed.
  const typed col = column(30, 2);
  std::vector<double> area(60, -1), late(60, -1);
  MPI_Request r[4];
  MPI_Status s;
  if (rank() == 1) {
    for (int i = 0; i < 4; ++i)
      CHECK(MPI_Recv_init(i == 2 ? late.data() : area.data(), 1, col.type, 0, i, MPI_COMM_WORLD, &r[i]) == 0);
    int cancelled = 0;
    CHECK(MPI_Start(&r[0]) == 0 && MPI_Cancel(&r[0]) == 0 && MPI_Wait(&r[0], &s) == 0);
    PMPI_Test_cancelled(&s, &cancelled);
    CHECK(cancelled && area[0] == -1);
    CHECK(MPI_Request_free(&r[0]) == 0 && MPI_Request_free(&r[1]) == 0);
    CHECK(MPI_Start(&r[2]) == 0 && MPI_Request_free(&r[2]) == 0 && r[2] == MPI_REQUEST_NULL);
    PMPI_Barrier(MPI_COMM_WORLD);
    for (int tries = 0; late[58] != 3 && tries < 10000000; ++tries) {  // a call of the library looks after it
      std::this_thread::yield();
      int there = 0;
      MPI_Iprobe(0, 9, MPI_COMM_WORLD, &there, &s);
      MPI_Request none = MPI_REQUEST_NULL;
      MPI_Test(&none, &there, &s);
    }
    CHECK(late[58] == 3 && late[57] == -1);
    CHECK(MPI_Start(&r[3]) == 0 && MPI_Wait(&r[3], &s) == 0 && area[58] == 4);
  } else {
    PMPI_Barrier(MPI_COMM_WORLD);
    area.assign(60, 3);
    MPI_Send(area.data(), 1, col.type, 1, 2, MPI_COMM_WORLD);
    area.assign(60, 4);
    MPI_Send(area.data(), 1, col.type, 1, 3, MPI_COMM_WORLD);
  }
}
MPI_CASE(type_freed_while_under_way, 2) {
  std::vector<double> area(6000, rank() == 0 ? 5 : -1);
  MPI_Request r;
  {
    const typed col = column(3000, 2);
    if (rank() == 0) MPI_Isend(area.data(), 1, col.type, 1, 0, MPI_COMM_WORLD, &r);
    if (rank() == 1) MPI_Irecv(area.data(), 1, col.type, 0, 0, MPI_COMM_WORLD, &r);
  }
  CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == 0 && area[5998] == 5);
  if (rank() == 1) CHECK(area[5997] == -1);
}
MPI_CASE(source_may_change_after_wait, 2) {
  const typed col = column(30, 2);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> area(60, i);
    MPI_Request r;
    if (rank() == 0) {
      MPI_Isend(area.data(), 1, col.type, 1, 0, MPI_COMM_WORLD, &r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      area.assign(60, -1);
    } else {
      MPI_Recv(area.data(), 1, col.type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(area[58] == i);
    }
  }
}
// The processor time of MPI_Waitall for n requests grows by n: here 8 times the requests, 64 times if it grew by n * n.
// The requests of both sizes are larger than a core's caches; if only the smaller ones fitted, the ratio would measure
// the caches and the load of the machine.
MPI_CASE(waitall_of_many, 1) {
  const typed col = column(2, 2);
  const auto time_of = [&](int n) {
    std::vector<double> in(4 * static_cast<size_t>(n)), out(4, 5);
    std::vector<MPI_Request> r;
    for (int i = 0; i < n; ++i)
      MPI_Irecv(&in[4 * static_cast<size_t>(i)], 1, col.type, 0, i, MPI_COMM_SELF, &r.emplace_back());
    for (int i = 0; i < n; ++i) MPI_Isend(out.data(), 1, col.type, 0, i, MPI_COMM_SELF, &r.emplace_back());
    const clock_t begin = clock();
    CHECK(MPI_Waitall(2 * n, r.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    const clock_t end = clock();
    for (size_t i = 0; i < in.size(); ++i) CHECK(in[i] == (i % 2 == 0 ? 5 : 0));
    return static_cast<double>(end - begin);
  };
  double few = time_of(16000), many = time_of(128000);  // the least of several: other processes disturb
  for (int i = 0; i < 4; ++i) few = std::min(few, time_of(16000)), many = std::min(many, time_of(128000));
  CHECK(many < 24 * few);
}
MPI_CASE(threads, 2, true, MPI_THREAD_MULTIPLE) {
  // Each thread of a rank exchanges messages with its counterpart in the other rank. Each pair has its own tags.
  int level = 0;
  PMPI_Query_thread(&level);
  CHECK(level == MPI_THREAD_MULTIPLE);
  const typed shared = column(500, 2);
  std::vector<std::thread> all;
  for (int t = 0; t < 7; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const typed own = column(10 + i, 3);
        std::vector<double> out(1000, 1000 * rank() + i), in(1000, -1);
        MPI_Request r[2];
        const MPI_Datatype type = i % 2 ? own.type : shared.type;
        MPI_Irecv(in.data(), 1, type, 1 - rank(), t, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out.data(), 1, type, 1 - rank(), t, MPI_COMM_WORLD, &r[1]);
        if (i % 3 == 0) {
          MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        } else {
          for (int left = 2, k = 0; left > 0; --left) MPI_Waitany(2, r, &k, MPI_STATUS_IGNORE);
        }
        CHECK(in[0] == 1000 * (1 - rank()) + i && in[1] == -1);
      }
    });
  for (std::thread& t : all) t.join();
}
