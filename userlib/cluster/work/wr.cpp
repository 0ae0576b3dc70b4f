// SPDX-License-Identifier: Apache-2.0
#include "ggas/wr.h"

#include <memory>

struct workRequestQueue {
  ggas::dispatcher& work;
  int node;
};

workRequestQueue* wrQueue = nullptr;

namespace {

std::unique_ptr<workRequestQueue> opened;

// While kernelSelect() runs.
struct selection {
  ggas::cluster& cluster;
  const ggas::stream& stream;
  ggas::result<> launched;
};
thread_local selection* current = nullptr;

ggas::result<> select(workRequest* wr, ggas::cluster& c, const ggas::stream& s, std::span<void* const> device) {
  wr->readWriteDevicePtr = device[0];
  wr->readOnlyDevicePtr = device[1];
  wr->writeOnlyDevicePtr = device[2];
  selection now{c, s, {}};
  current = &now;
  kernelSelect(wr);
  current = nullptr;
  return now.launched;
}

struct length {
  const char* name;
  int bytes;
};

ggas::result<> check(const workRequestQueue* queue, const workRequest& wr) {
  if (!queue) return ggas::error{ggas::errc::bad_argument, "enqueue: no queue: call wrOpen first"};
  const length lengths[] = {{"readWriteLen", wr.readWriteLen},
                            {"readOnlyLen", wr.readOnlyLen},
                            {"writeOnlyLen", wr.writeOnlyLen},
                            {"smemSize", wr.smemSize}};
  for (const auto& [name, bytes] : lengths)
    if (bytes < 0)
      return ggas::error{ggas::errc::bad_argument, "work request of id " + std::to_string(wr.id) + ": " + name + " = " +
                                                       std::to_string(bytes) + ": must be 0 or more"};
  return {};
}

std::span<std::byte> bytes_of(void* p, int n) { return {static_cast<std::byte*>(p), static_cast<size_t>(n)}; }

}  // namespace

void wrOpen(ggas::dispatcher& work, int node) {
  opened = std::make_unique<workRequestQueue>(work, node);
  wrQueue = opened.get();
}
void wrClose() {
  wrQueue = nullptr;
  opened.reset();
}

void enqueue(workRequestQueue* queue, workRequest* wr) {
  const auto end = [wr](const ggas::result<>& how) {
    wr->executing = 0;
    if (wr->callbackFn) static_cast<CkCallback*>(wr->callbackFn)->send(how);
  };
  if (const auto good = check(queue, *wr); !good) return end(good);
  ggas::request r("of id " + std::to_string(wr->id), queue->node,
                  [wr](ggas::cluster& c, const ggas::stream& s, std::span<void* const> device) {
                    return select(wr, c, s, device);
                  });
  r.add(ggas::both(bytes_of(wr->readWriteHostPtr, wr->readWriteLen)))
      .add(ggas::in(bytes_of(wr->readOnlyHostPtr, wr->readOnlyLen)))
      .add(ggas::out(bytes_of(wr->writeOnlyHostPtr, wr->writeOnlyLen)));
  wr->executing = 1;
  if (const auto taken = queue->work.enqueue(r.in_own_stream().then(end)); !taken) end(taken);
}

ggas::cluster& wrCluster() { return current->cluster; }
const ggas::stream& wrStream() { return current->stream; }
void wrLaunched(const ggas::result<>& launched) {
  if (current->launched) current->launched = launched;
}
void wrUnknownId(const workRequest* wr) {
  wrLaunched(ggas::error{ggas::errc::bad_argument, "no kernel has the id " + std::to_string(wr->id)});
}
