// SPDX-License-Identifier: Apache-2.0
// hapi.h over a dispatcher: a callback is a request that does nothing, after an event in the stream.
#include "hapi.h"

#include <atomic>
#include <map>
#include <stdexcept>

namespace {

struct session {
  ggas::dispatcher& work;
  ggas::runtime& rt;
  int node;
  std::vector<ggas::stream> streams;
  std::atomic<size_t> next = 0;

  std::mutex mutex;  // of what follows
  std::vector<ggas::event> events;
  std::map<void*, ggas::gpu_memory> on_gpu;
  std::map<void*, std::shared_ptr<std::byte>> pinned;
};
std::shared_ptr<session> opened;

session& current() {
  if (!opened) throw std::runtime_error("hapi: call hapiOpen first");
  return *opened;
}

void check(const ggas::result<>& ok, const char* call) {
  if (!ok) throw std::runtime_error(std::string(call) + ": " + ok.error().text);
}

// One that no callback uses.
ggas::result<ggas::event> take_event(session& s, ggas::cluster& c) {
  const std::lock_guard lock(s.mutex);
  if (s.events.empty()) return c.make_event(s.node);
  const ggas::event e = s.events.back();
  s.events.pop_back();
  return e;
}
void give_event(session& s, const ggas::event& e) {
  const std::lock_guard lock(s.mutex);
  s.events.push_back(e);
}

ggas::result<ggas::event> recorded(session& s, const ggas::stream& in) {
  return s.rt.with_cluster([&](ggas::cluster& c) -> ggas::result<ggas::event> {
    auto e = take_event(s, c);
    if (!e) return e;
    if (auto ok = c.record(*e, in); !ok) return ok.error();
    if (auto ok = c.start(); !ok) return ok.error();
    return e;
  });
}

// f(whether there was an error, what it returns) of CkCallback.
template <class Tell>
void add(hapiStream_t stream, Tell tell) {
  session& s = current();
  const auto e = recorded(s, hapiStreamOf(stream));
  check(e ? ggas::result<>() : e.error(), "hapiAddCallback");
  ggas::request r("hapiAddCallback", s.node,
                  [](ggas::cluster&, const ggas::stream&, std::span<void* const>) { return ggas::result<>(); });
  r.after(*e).then([of = opened, e = *e, tell](const ggas::result<>& end) {
    give_event(*of, e);
    tell(end);
  });
  check(s.work.enqueue(r), "hapiAddCallback");
}

void tell_of(const CkCallback& cb, const ggas::result<>& end, void* message) {
  if (message && cb.send_message) return cb.send_message(end, message);
  if (cb.send) cb.send(end);
}

// Gives back memory that hapiMalloc or hapiMallocHost has given out.
template <class Memory>
hapiError_t give(Memory& from, void* address) {
  if (!address) return cudaSuccess;
  const std::lock_guard lock(current().mutex);
  return from.erase(address) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

ggas::result<> hapiOpen(ggas::dispatcher& work, int node, int streams) {
  if (streams < 1 || streams > 128)
    return ggas::error{ggas::errc::bad_argument,
                       "hapiOpen: " + std::to_string(streams) + " streams: must be 1 ... 128"};
  auto s = std::make_shared<session>(work, work.of(), node);
  auto ok = s->rt.with_cluster([&](ggas::cluster& c) -> ggas::result<> {
    for (int i = 0; i < streams; ++i) {
      const auto made = c.make_stream(node);
      if (!made) return made.error();
      s->streams.push_back(*made);
    }
    return {};
  });
  if (ok) opened = std::move(s);
  return ok;
}
void hapiClose() { opened.reset(); }

int hapiCreateStreams() { return opened ? static_cast<int>(opened->streams.size()) : 0; }
hapiStream_t hapiGetStream() {
  if (!opened) return nullptr;
  return reinterpret_cast<hapiStream_t>(opened->streams[opened->next++ % opened->streams.size()].id);
}

void hapiAddCallback(hapiStream_t stream, const CkCallback& callback, void* message) {
  add(stream, [callback, message](const ggas::result<>& end) { tell_of(callback, end, message); });
}
void hapiAddCallback(hapiStream_t stream, void* callback, void* message) {
  add(stream, [callback, message](const ggas::result<>& end) {
    if (callback) tell_of(*static_cast<const CkCallback*>(callback), end, message);
  });
}

hapiError_t hapiMalloc(void** address, size_t bytes) {
  session& s = current();
  auto m = s.work.allocate(s.node, bytes);
  if (!m) return m.error().code == ggas::errc::out_of_memory ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
  *address = m->address();
  const std::lock_guard lock(s.mutex);
  s.on_gpu[*address] = std::move(*m);
  return cudaSuccess;
}
hapiError_t hapiFree(void* address) { return give(current().on_gpu, address); }

hapiError_t hapiMallocHost(void** address, size_t bytes) {
  session& s = current();
  auto m = s.work.allocate_pinned(s.node, bytes);
  if (!m) return m.error().code == ggas::errc::out_of_memory ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
  *address = m->get();
  const std::lock_guard lock(s.mutex);
  s.pinned[*address] = std::move(*m);
  return cudaSuccess;
}
hapiError_t hapiFreeHost(void* address) { return give(current().pinned, address); }

hapiError_t hapiMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, hapiStream_t stream) {
  const auto ok = current().rt.with_cluster(
      [&](ggas::cluster& c) { return c.copy_on_stream(hapiStreamOf(stream), to, from, bytes); });
  return ok ? cudaSuccess : cudaErrorInvalidValue;
}

void hapiErrorDie(hapiError_t code, const char* expression, const char* file, int line) {
  if (code == cudaSuccess) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + expression + ": error " +
                           std::to_string(static_cast<int>(code)) + " of CUDA");
}

ggas::runtime& hapiRuntime() { return current().rt; }
ggas::stream hapiStreamOf(hapiStream_t stream) { return {current().node, reinterpret_cast<uintptr_t>(stream)}; }
