// SPDX-License-Identifier: Apache-2.0
// Messages between GPUs of one host that receivers fetch out of the sender's GPU. Built with two settings: senders that
// wait for their receivers (GGAS_MPI_DIRECT_US is long), and senders that pack at once (0).
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "tests/userlib/mpi/gpu_area.hpp"

using namespace mpi_test;

namespace {

uint64_t counted(const char* name) {
  const auto f = reinterpret_cast<uint64_t (*)()>(dlsym(RTLD_DEFAULT, name));
  CHECK(f != nullptr);
  return f();
}
uint64_t straight() { return counted("ggas_mpi_types_straight"); }
uint64_t from_packed() { return counted("ggas_mpi_types_from_packed"); }
uint64_t fetched() { return straight() + from_packed(); }

// Senders wait for their receivers.
bool patient() { return std::string(std::getenv("GGAS_MPI_DIRECT_US")) != "0"; }

// Both have used their GPU, so they know of each other: from now on messages are fetched.
void acquaint(gpu_area& area) {
  for (int i = 0; i < 2; ++i) {
    const int peer = rank() ^ 1;
    CHECK(MPI_Sendrecv(area.at(), 8, MPI_CHAR, peer, 99, area.at(8), 8, MPI_CHAR, peer, 99, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE) == 0);
    PMPI_Barrier(MPI_COMM_WORLD);
  }
}

constexpr int many = 2000;  // doubles of a message
const bytes content = noise(77, 8 * many * 3);

// `n` doubles out of every third one of an area, by MPI's rules.
bytes column_of(const bytes& area, int n) {
  bytes all;
  for (int i = 0; i < n; ++i)
    all.insert(all.end(), &area[24 * static_cast<size_t>(i)], &area[24 * static_cast<size_t>(i)] + 8);
  return all;
}

}  // namespace

MPI_CASE(direct_layouts, 2) {
  generator make(51);
  gpu_area there(noise(0));
  acquaint(there);
  const uint64_t before = fetched();
  int long_ones = 0;
  for (int i = 0; i < 120; ++i) {
    const sample out = make.any(), in_layout = make.like(out);
    const bytes source = noise(static_cast<uint64_t>(i)), got = noise(1000);
    long_ones += out.size() >= 200;
    if (rank() == 0) {
      there.write(source);
      CHECK(MPI_Send(there.at(middle), out.count, out.of.type, 1, i, MPI_COMM_WORLD) == 0);
      there.write(noise(9));  // may be written to at once
    } else {
      there.write(got);
      MPI_Status s;
      CHECK(MPI_Recv(there.at(middle), 1, in_layout.of.type, 0, i, MPI_COMM_WORLD, &s) == 0);
      CHECK(there.read() == expected_of(out, source, in_layout, got));
      int n = 0;
      PMPI_Get_count(&s, in_layout.of.type, &n);
      CHECK(n == 1 && s.MPI_SOURCE == 0 && s.MPI_TAG == i);
    }
  }
  CHECK(long_ones > 20);
  if (rank() == 1) CHECK(fetched() - before >= static_cast<uint64_t>(long_ones));
  if (rank() == 1) CHECK(patient() ? straight() > 0 : from_packed() > 0);
}

MPI_CASE(direct_both_ways, 2) {
  // Sends that block in both ranks while the receives are begun; and all at once.
  gpu_area area(content), got(bytes(content.size()));
  acquaint(area);
  area.write(content);
  const typed col = column(many, 3);
  const int peer = 1 - rank();
  const uint64_t before = fetched();
  MPI_Request r[2];
  MPI_Status s[2];
  CHECK(MPI_Irecv(got.at(), 8 * many, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &r[0]) == 0);
  CHECK(MPI_Send(area.at(), 1, col.type, peer, 1, MPI_COMM_WORLD) == 0);
  CHECK(MPI_Wait(&r[0], &s[0]) == 0);
  int n = 0;
  PMPI_Get_count(&s[0], MPI_CHAR, &n);
  CHECK(n == 8 * many && s[0].MPI_SOURCE == peer && s[0].MPI_TAG == 1);
  const bytes expected = column_of(content, many);
  CHECK(std::equal(expected.begin(), expected.end(), got.read().begin()));
  got.write(bytes(content.size()));
  CHECK(MPI_Irecv(got.at(), 1, col.type, peer, 2, MPI_COMM_WORLD, &r[0]) == 0);
  CHECK(MPI_Isend(area.at(), 1, col.type, peer, 2, MPI_COMM_WORLD, &r[1]) == 0);
  CHECK(MPI_Waitall(2, r, s) == 0);
  CHECK(column_of(got.read(), many) == expected);
  CHECK(MPI_Sendrecv(area.at(), 1, col.type, peer, 3, got.at(), 8 * many, MPI_CHAR, peer, 3, MPI_COMM_WORLD, &s[0]) ==
        0);
  CHECK(std::equal(expected.begin(), expected.end(), got.read().begin()));
  CHECK(fetched() - before == 3);
}

MPI_CASE(direct_late, 2) {
  // The receiver comes late, and only when the sender has gone on: no one waits for the other for ever.
  gpu_area area(content);
  acquaint(area);
  area.write(content);
  const typed col = column(many, 3);
  const uint64_t before = from_packed();
  if (rank() == 0) {
    CHECK(MPI_Send(area.at(), 1, col.type, 1, 1, MPI_COMM_WORLD) == 0);
    area.write(noise(5, content.size()));
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 1) {
    CHECK(MPI_Recv(area.at(), 8 * many, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    const bytes expected = column_of(content, many), now = area.read();
    CHECK(std::equal(expected.begin(), expected.end(), now.begin()));
    CHECK(from_packed() - before == 1);
  }
}

MPI_CASE(direct_to_host, 2) {
  // Receives in memory of the host, also in pieces, and begun before the message is.
  gpu_area area(content);
  acquaint(area);
  area.write(content);
  const typed col = column(many, 3);
  const bytes expected = column_of(content, many);
  bytes flat(8 * many), apart(content.size());
  MPI_Request r;
  if (rank() == 1) CHECK(MPI_Irecv(apart.data(), 1, col.type, 0, 2, MPI_COMM_WORLD, &r) == 0);
  PMPI_Barrier(MPI_COMM_WORLD);
  const uint64_t before = fetched();
  if (rank() == 0) {
    CHECK(MPI_Send(area.at(), 1, col.type, 1, 2, MPI_COMM_WORLD) == 0);
    CHECK(MPI_Ssend(area.at(), 1, col.type, 1, 1, MPI_COMM_WORLD) == 0);
    bytes space(4096 + MPI_BSEND_OVERHEAD);
    PMPI_Buffer_attach(space.data(), static_cast<int>(space.size()));
    CHECK(MPI_Bsend(area.at(), 1, col.type, 1, 3, MPI_COMM_WORLD) == 0);
    void* old = nullptr;
    int n = 0;
    PMPI_Buffer_detach(&old, &n);
  } else {
    MPI_Status s;
    CHECK(MPI_Wait(&r, &s) == 0);
    CHECK(column_of(apart, many) == expected);
    CHECK(MPI_Recv(flat.data(), 8 * many, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s) == 0);
    int n = 0;
    PMPI_Get_count(&s, MPI_CHAR, &n);
    CHECK(n == 8 * many && s.MPI_SOURCE == 0 && s.MPI_TAG == 1 && flat == expected);
    bytes mine(8 * many);
    CHECK(MPI_Sendrecv_replace(mine.data(), 8 * many, MPI_CHAR, MPI_PROC_NULL, 0, 0, 3, MPI_COMM_WORLD, &s) == 0);
    CHECK(mine == expected && fetched() - before == 3);
  }
}

MPI_CASE(direct_to_items, 2) {
  // Received in many items of less than a ticket's length, in memory of the host.
  gpu_area area(content);
  acquaint(area);
  constexpr int together = 5;
  MPI_Datatype five, item;
  PMPI_Type_contiguous(together, MPI_DOUBLE, &five);
  PMPI_Type_create_resized(five, 0, 8 * (together + 1), &item);
  PMPI_Type_commit(&item);
  const uint64_t before = fetched();
  if (rank() == 0) {
    area.write(content);
    CHECK(MPI_Send(area.at(), many, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD) == 0);
  } else {
    bytes apart(size_t{8 * (together + 1)} * many / together), flat;
    CHECK(MPI_Recv(apart.data(), many / together, item, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    for (size_t at = 0; at < apart.size(); at += 8 * (together + 1))
      flat.insert(flat.end(), &apart[at], &apart[at] + 8 * together);
    CHECK(std::equal(flat.begin(), flat.end(), content.begin()) && fetched() - before == 1);
  }
  PMPI_Type_free(&five);
  PMPI_Type_free(&item);
}

MPI_CASE(direct_order, 3) {
  // Receives with wildcards match messages in their order, including messages from the host.
  gpu_area area(content);
  if (rank() < 2) {
    for (int i = 0; i < 2; ++i) {
      CHECK(MPI_Sendrecv(area.at(), 8, MPI_CHAR, 1 - rank(), 9, area.at(8), 8, MPI_CHAR, 1 - rank(), 9, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE) == 0);
      PMPI_Barrier(MPI_COMM_WORLD);
    }
  } else {
    PMPI_Barrier(MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);
  }
  const typed col = column(many, 3);
  if (rank() == 0) {
    for (int i = 0; i < 12; ++i) {
      const bytes now = noise(static_cast<uint64_t>(i), content.size());
      if (i % 3 == 0) {
        const bytes flat = column_of(now, many);
        CHECK(MPI_Send(flat.data(), 8 * many, MPI_CHAR, 1, 4, MPI_COMM_WORLD) == 0);
      } else {
        area.write(now);
        CHECK(MPI_Send(area.at(), 1, col.type, 1, 4, MPI_COMM_WORLD) == 0);
      }
    }
  } else if (rank() == 1) {
    for (int i = 0; i < 12; ++i) {
      CHECK(MPI_Recv(area.at(), 8 * many, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
            0);
      const bytes expected = column_of(noise(static_cast<uint64_t>(i), content.size()), many), now = area.read();
      CHECK(std::equal(expected.begin(), expected.end(), now.begin()));
    }
    CHECK(fetched() >= 8);
  }
}

MPI_CASE(direct_probe, 2) {
  gpu_area area(content);
  acquaint(area);
  area.write(content);
  const typed col = column(many, 3);
  const bytes expected = column_of(content, many);
  if (rank() == 0) {
    MPI_Request r[3];
    for (int i = 0; i < 3; ++i) CHECK(MPI_Isend(area.at(), 1, col.type, 1, i, MPI_COMM_WORLD, &r[i]) == 0);
    CHECK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE) == 0);
  } else {
    const auto is_whole = [](const MPI_Status& s) {
      int n = 0;
      PMPI_Get_count(&s, MPI_DOUBLE, &n);
      return n == many;
    };
    MPI_Status s;
    CHECK(MPI_Probe(0, 0, MPI_COMM_WORLD, &s) == 0 && is_whole(s));
    bytes flat(8 * many);
    CHECK(MPI_Recv(flat.data(), many, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &s) == 0 && is_whole(s) && flat == expected);
    int there = 0;
    while (!there) CHECK(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &there, &s) == 0);
    CHECK(is_whole(s));
    flat.assign(flat.size(), 0);
    CHECK(MPI_Recv(flat.data(), many, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &s) == 0 && flat == expected);
    MPI_Message m;
    CHECK(MPI_Mprobe(0, 2, MPI_COMM_WORLD, &m, &s) == 0 && is_whole(s));
    CHECK(MPI_Mrecv(area.at(), many, MPI_DOUBLE, &m, &s) == 0 && is_whole(s));
    const bytes now = area.read();
    CHECK(std::equal(expected.begin(), expected.end(), now.begin()));
  }
}

MPI_CASE(direct_truncated, 2) {
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  gpu_area area(content);
  acquaint(area);
  area.write(content);
  const typed col = column(many, 3);
  if (rank() == 0) {
    for (int i = 0; i < 3; ++i) CHECK(MPI_Send(area.at(), 1, col.type, 1, i, MPI_COMM_WORLD) == 0);
  } else {
    bytes flat(8 * many, 7);
    const bytes before = flat;
    CHECK(is_class(MPI_Recv(flat.data(), many - 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                   MPI_ERR_TRUNCATE));
    CHECK(std::equal(flat.end() - 8, flat.end(), before.end() - 8));  // nothing after its end
    const bytes gpu_before = area.read();
    CHECK(
        is_class(MPI_Recv(area.at(), many - 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE));
    CHECK(area.read() == gpu_before);
    // Longer than the message is right.
    MPI_Status s;
    CHECK(MPI_Recv(area.at(), many + 5, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &s) == 0);
    int n = 0;
    PMPI_Get_count(&s, MPI_DOUBLE, &n);
    CHECK(n == many);
  }
}

MPI_CASE(direct_requests, 2) {
  // All ways to ask for a request; a receive that was cancelled; sends that were given up.
  gpu_area area(content), got(bytes(content.size()));
  acquaint(area);
  area.write(content);
  const typed col = column(many, 3);
  const bytes expected = column_of(content, many);
  constexpr int n = 6;
  const auto came = [&] {
    const bytes now = got.read();
    CHECK(std::equal(expected.begin(), expected.end(), now.begin()));
    got.write(bytes(content.size()));
  };
  if (rank() == 0) {
    MPI_Request r;
    for (int i = 0; i < n; ++i) {
      CHECK(MPI_Isend(area.at(), 1, col.type, 1, i, MPI_COMM_WORLD, &r) == 0);
      int done = 0;
      if (i == 5)
        CHECK(MPI_Request_free(&r) == 0 && r == MPI_REQUEST_NULL);
      else
        while (!done) CHECK(MPI_Test(&r, &done, MPI_STATUS_IGNORE) == 0);
    }
  } else {
    MPI_Request r;
    MPI_Status s;
    int done = 0, place = 0;
    const auto begin = [&](int tag) { CHECK(MPI_Irecv(got.at(), many, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &r) == 0); };
    const auto whole = [&] {
      int count = 0;
      PMPI_Get_count(&s, MPI_DOUBLE, &count);
      CHECK(count == many);
    };
    begin(50);
    CHECK(MPI_Cancel(&r) == 0 && MPI_Wait(&r, &s) == 0);
    begin(0);
    CHECK(MPI_Wait(&r, &s) == 0);
    whole(), came();
    begin(1);
    while (!done) CHECK(MPI_Test(&r, &done, &s) == 0);
    whole(), came();
    begin(2);
    done = 0;
    while (!done) CHECK(MPI_Request_get_status(r, &done, &s) == 0);
    whole(), came();
    CHECK(MPI_Wait(&r, &s) == 0);
    whole();
    begin(3);
    CHECK(MPI_Waitany(1, &r, &place, &s) == 0 && place == 0);
    whole(), came();
    begin(4);
    int some = 0;
    while (some == 0) CHECK(MPI_Testsome(1, &r, &some, &place, &s) == 0);
    whole(), came();
    begin(5);
    CHECK(MPI_Waitall(1, &r, &s) == 0);
    whole(), came();
  }
  PMPI_Barrier(MPI_COMM_WORLD);  // the data of the send that was given up are there until now
}

MPI_CASE(direct_persistent, 2) {
  // Receives that are started again and again fetch what is on offer: also what was sent before there was one of them.
  gpu_area area(content), got(bytes(content.size()));
  acquaint(area);
  area.write(content);
  const typed col = column(many, 3);
  const bytes expected = column_of(content, many);
  constexpr int rounds = 3;
  const uint64_t before = fetched();
  if (rank() == 0) {
    std::vector<MPI_Request> sent(2 * rounds);
    for (int i = 0; i < 2 * rounds; ++i)
      CHECK(MPI_Isend(area.at(), 1, col.type, 1, i % 2, MPI_COMM_WORLD, &sent[static_cast<size_t>(i)]) == 0);
    PMPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Waitall(2 * rounds, sent.data(), MPI_STATUSES_IGNORE) == 0);
  } else {
    PMPI_Barrier(MPI_COMM_WORLD);
    bytes flat(8 * many);
    MPI_Request r[2];
    MPI_Status s[2];
    CHECK(MPI_Recv_init(flat.data(), 8 * many, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &r[0]) == 0);
    CHECK(MPI_Recv_init(got.at(), many, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[1]) == 0);
    for (int i = 0; i < rounds; ++i) {
      flat.assign(flat.size(), 0);
      got.write(bytes(content.size()));
      CHECK(MPI_Startall(2, r) == 0 && MPI_Waitall(2, r, s) == 0);
      int n = 0;
      PMPI_Get_count(&s[0], MPI_CHAR, &n);
      CHECK(n == 8 * many && s[0].MPI_SOURCE == 0 && s[0].MPI_TAG == 0);
      const bytes now = got.read();
      CHECK(flat == expected && std::equal(expected.begin(), expected.end(), now.begin()));
    }
    CHECK(fetched() - before == 2 * rounds);
    CHECK(MPI_Request_free(&r[0]) == 0 && r[0] == MPI_REQUEST_NULL && MPI_Request_free(&r[1]) == 0);
  }
}

MPI_CASE(direct_persistent_sends, 2) {
  // Persistent sends from memory of the GPU, each with the contents at its start; completed in all ways.
  gpu_area area(content);
  acquaint(area);
  const typed col = column(many, 3);
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Status s;
  if (rank() == 0) CHECK(MPI_Ssend_init(area.at(), 1, col.type, 1, 5, MPI_COMM_WORLD, &r) == 0);
  if (rank() == 1) CHECK(MPI_Recv_init(area.at(), 1, col.type, 0, 5, MPI_COMM_WORLD, &r) == 0);
  for (int i = 0; i < 5; ++i) {
    const bytes sent = noise(static_cast<uint64_t>(i), content.size());
    area.write(rank() == 0 ? sent : bytes(content.size()));
    CHECK(MPI_Start(&r) == 0);
    int done = 0, place = -1;
    if (i == 0) CHECK(MPI_Wait(&r, &s) == 0);
    while (i == 1 && !done) CHECK(MPI_Test(&r, &done, &s) == 0);
    if (i == 2) CHECK(MPI_Waitany(1, &r, &place, &s) == 0 && place == 0);
    while (i == 3 && !done) CHECK(MPI_Testall(1, &r, &done, &s) == 0);
    while (i == 4 && place != 0) CHECK(MPI_Testany(1, &r, &place, &done, &s) == 0);
    CHECK(r != MPI_REQUEST_NULL);
    if (rank() == 1) CHECK(column_of(area.read(), many) == column_of(sent, many));
    CHECK(MPI_Wait(&r, &s) == 0);  // of one that is not started: at once, and nothing moves
    PMPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK(MPI_Request_free(&r) == 0);
}

MPI_CASE(direct_allocations, 2) {
  // Memory that is freed and made again, at the same address or not.
  const typed col = column(many, 3);
  gpu_area first(content);
  acquaint(first);
  for (int i = 0; i < 100; ++i) {
    const bytes now = noise(static_cast<uint64_t>(i), content.size());
    gpu_area area(rank() == 0 ? now : bytes(content.size()));
    if (rank() == 0) {
      CHECK(MPI_Send(area.at(), 1, col.type, 1, i, MPI_COMM_WORLD) == 0);
    } else {
      CHECK(MPI_Recv(area.at(), 1, col.type, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
      CHECK(column_of(area.read(), many) == column_of(now, many));
    }
  }
  if (rank() == 1) CHECK(fetched() >= 100);
}

MPI_CASE(direct_many, 4) {
  // More messages than there are slots, received in the other order, on communicators of their own.
  gpu_area area(content), got(bytes(content.size()));
  acquaint(area);
  area.write(content);
  MPI_Comm other;
  PMPI_Comm_split(MPI_COMM_WORLD, rank() / 2, -rank(), &other);  // the ranks the other way round
  int mine = 0;
  PMPI_Comm_rank(other, &mine);
  constexpr int n = 100;
  const typed col = column(many, 3);
  const bytes expected = column_of(content, many);
  std::vector<MPI_Request> r;
  if (mine == 0) {
    for (int i = 0; i < n; ++i) CHECK(MPI_Isend(area.at(), 1, col.type, 1, i, other, &r.emplace_back()) == 0);
    CHECK(MPI_Waitall(n, r.data(), MPI_STATUSES_IGNORE) == 0);
  } else {
    for (int i = n; i-- > 0;) {
      CHECK(MPI_Recv(got.at(), many, MPI_DOUBLE, 0, i, other, MPI_STATUS_IGNORE) == 0);
      const bytes now = got.read();
      CHECK(std::equal(expected.begin(), expected.end(), now.begin()));
      got.write(bytes(content.size()));
    }
    CHECK(fetched() >= 40);
  }
  PMPI_Comm_free(&other);
}
MPI_CASE(direct_threads, 2, true, MPI_THREAD_MULTIPLE) {
  int level = 0;
  PMPI_Query_thread(&level);
  gpu_area first(content);
  acquaint(first);
  if (level < MPI_THREAD_MULTIPLE) return;
  std::vector<std::thread> all;
  for (int k = 0; k < 3; ++k)
    all.emplace_back([k] {
      const bytes mine = noise(static_cast<uint64_t>(10 * k + rank()), content.size()),
                  theirs = noise(static_cast<uint64_t>(10 * k + 1 - rank()), content.size());
      gpu_area area(mine), got(bytes(content.size()));
      const typed col = column(many, 3);
      for (int i = 0; i < 10; ++i) {
        CHECK(MPI_Sendrecv(area.at(), 1, col.type, 1 - rank(), 100 * k + i, got.at(), 1, col.type, 1 - rank(),
                           100 * k + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
        CHECK(column_of(got.read(), many) == column_of(theirs, many));
        got.write(bytes(content.size()));
      }
    });
  for (std::thread& t : all) t.join();
}
