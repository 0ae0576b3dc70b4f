// SPDX-License-Identifier: Apache-2.0
// A cluster of GPUs with one global address space, seen from the host: one interface for every provider, chosen by its
// name (docs/host.md). C++20, without headers of CUDA or of the host engine: host programs are compiled by any
// compiler. Kernels are started by ggas/launch.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ggas/cluster_config.hpp"
#include "ggas/detail/platform/context.hpp"  // gpu_api: what a kernel knows of its node
#include "ggas/host.hpp"
#include "ggas/report.hpp"
#include "ggas/result.hpp"

struct CUstream_st;  // of CUDA: cudaStream_t points to it

namespace ggas {

template <class D>
concept has_sizes = requires(const D& d) {
  d.x + d.y + d.z;
};

// Sizes of a grid or a block. A number, or what has x, y, z: dim3 of CUDA and of the host engine.
struct extent {
  unsigned x, y, z;
  constexpr extent(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  template <has_sizes D>
  constexpr extent(const D& d) : x(d.x), y(d.y), z(d.z) {}
};

// A block of a launch: its threads, and bytes of dynamic shared memory (GGAS_DYNAMIC_SHARED in kernels).
struct block_shape : extent {
  size_t shared_bytes = 0;
  constexpr block_shape(unsigned x = 1, unsigned y = 1, unsigned z = 1) : extent(x, y, z) {}
  template <has_sizes D>
  constexpr block_shape(const D& d) : extent(d) {}
};
constexpr block_shape with_shared(const extent& threads, size_t bytes) {
  block_shape b(threads);
  b.shared_bytes = bytes;
  return b;
}

// A queue of a node's GPU: what it holds runs in order, other queues run next to it. A number is the node's own stream.
struct stream {
  int node;
  uintptr_t id;  // of the provider: 0 is the node's own; cuda: the cudaStream_t, also one that the program made
  constexpr stream(int node, uintptr_t id = 0) : node(node), id(id) {}
};

// A place in a stream, for others to wait for.
struct event {
  int node;
  uintptr_t id;
};

// How a node's host learns that its kernels have ended. Provider sim charges for each what the platform says
// (gpu.sync_..._ns); providers on real memory have one way.
enum class host_sync {
  stream,          // polls for the end of the stream
  device,          // of everything on the GPU
  event,           // polls for an event after the last kernel
  event_blocking,  // sleeps until an interrupt informs it of that event
};

// How many blocks a GPU that runs nothing else holds at once.
struct block_room {
  unsigned blocks;
  std::string limit;  // what sets it, as the provider names it
};

struct energy_part {
  std::string name;    // "processor", "gpu", …
  double idle_j = 0;   // what the time takes when nothing runs
  double above_j = 0;  // the rest
};

struct run_stats {
  uint64_t sim_ns = 0;      // simulated (sim) or elapsed time of this run
  uint64_t nic_cycles = 0;  // active core cycles, all NICs
  double wall_s = 0;
};

// Used by one thread at a time, but for abort() and report(); threads may use clusters of their own side by side. Calls
// marked `all` are made by every process of a job, in the same order; they wait for each other, at most
// processes.timeout_ns, and fail in all processes if they fail in one. A wrong number of a node is errc::bad_argument.
class cluster {
 public:
  // all. A provider that the program is not linked with is an error that names those that it is linked with.
  static result<std::unique_ptr<cluster>> create(const cluster_config& cfg);
  // Not `all`: a process that leaves takes nothing from the others. cuda: if kernels still run, their memory stays
  // until the process ends: it cannot be taken away from below them. That is known of streams of the cluster; streams
  // that the program made must be idle.
  virtual ~cluster() = default;
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  virtual const cluster_config& config() const = 0;
  int nodes() const { return static_cast<int>(device_context(local_nodes()[0]).nodes); }
  // The nodes that this process runs: all of them, or one.
  virtual std::span<const int> local_nodes() const = 0;
  bool local(int node) const;
  // What kernels of a node see of the cluster. Not of nodes that are none.
  virtual const context& device_context(int node) const = 0;

  // ---- memory

  // Where kernels of this process find a node's segment; null: no such node. shm, sim: the host may look at it, which
  // costs no time. cuda: memory of the GPU; read and write copy.
  virtual std::byte* segment(int node) = 0;
  size_t segment_bytes() const { return device_context(local_nodes()[0]).segment_bytes; }
  // Copies between the program's memory and an offset of a local node's segment, next to whatever runs: for set-up and
  // verification. When it returns the copy is done.
  virtual result<> write(int node, uint64_t offset, const void* from, size_t bytes);
  virtual result<> read(int node, uint64_t offset, void* to, size_t bytes);
  // Pinned memory of a local node's host, cluster_config::host_bytes of it: kernels of the node use it at the same
  // address; with a NIC it is registered for put and get, as the segment is. Looking at it costs no time.
  virtual host_region host_memory(int node) = 0;
  // all. Segments get `bytes` bytes, a multiple of 4 KB, not less than now and at most most_segment_bytes. What is in
  // them stays, at the same addresses; what is new is zero. The streams must be idle. On an error segments are as
  // before.
  virtual result<> grow(size_t bytes);

  // ---- streams and events, as long as the cluster. Make them while nothing runs.

  // A stream more of a local node. Of two streams of a GPU that have blocks to start those of the higher priority start
  // first; 0 is that of the node's own stream, numbers beyond what the GPU has are its last. shm: takes no notice.
  virtual result<stream> make_stream(int node, int priority = 0) = 0;
  virtual result<event> make_event(int node) = 0;
  // The event is reached when all that the stream holds now has ended. Recorded again it forgets that.
  virtual result<> record(const event& e, const stream& s) = 0;
  // What the stream gets from now on begins when the event, as it was recorded last, is reached; no one has recorded
  // it: at once. Stream and event may be of different nodes of this process.
  virtual result<> wait(const stream& s, const event& e) = 0;
  // Whether the event is reached; true also where no one has recorded it. shm, sim: as the last poll() or run() left
  // it.
  virtual result<bool> reached(const event& e) = 0;

  // ---- running

  // For ggas::launch: a kernel of the host engine, each of whose threads runs `kernel`. `name` stands in messages. Bad
  // shapes (no threads, more than 1024 in a block, more than 227 KB of shared memory) are refused here. cuda:
  // errc::unsupported.
  virtual result<> launch(const stream& s, extent grid, const block_shape& block, std::function<void()> kernel,
                          std::string name = "kernel") = 0;
  // Queues a copy that takes its turn in the stream: between the node's segment and its host_memory, or inside one of
  // them, between places that do not overlap. Graphs may hold it. cuda, sim: by the GPU's copy engine.
  virtual result<> copy_on_stream(const stream& s, void* to, const void* from, size_t bytes) = 0;
  // For ggas::blocks_at_once: room for blocks of that shape on the GPU of a local node. cuda: errc::unsupported, as it
  // depends on the kernel.
  virtual result<block_room> room_for(const stream& s, extent block) const;
  // Queues a program of the node's processor. Programs begin with start() or run(), side by side with each other and
  // the kernels. An exception that leaves one is a device_fault. cuda: as threads; the segment is copied for them. sim:
  // a program may itself queue work for its node's streams (host::start).
  virtual result<> launch_host(int node, std::function<void(host&)> program, std::string name = "program") = 0;
  // Lets what is queued on the local nodes begin, and returns. On GPUs a kernel may have begun when it was launched.
  virtual result<> start() = 0;
  // Whether all that was started has ended; does not wait. shm and sim do their work here, a millisecond of it (shm) or
  // a microsecond of simulated time (sim), so call it again and again. Errors as those of run().
  virtual result<bool> poll() = 0;
  // start(), and then waits until all has ended, or returns timed_out after that much simulated (sim) or real time (20
  // days or more: for ever), or cancelled when cluster_config::cancelled says so. After an error kernels that had not
  // ended are gone, but on GPUs: there they go on until their waits end. Memory keeps what they wrote. With kernels it
  // is a step of a host: provider sim charges each launching call, and at the end what the hosts need to learn of it.
  // It reports nothing of stores and puts that a kernel has not completed: they may still be in flight.
  virtual result<run_stats> run(uint64_t timeout_ns, host_sync how = host_sync::stream) = 0;

  // ---- failures

  // Ends the waits of all kernels on all nodes, those of other processes and those with GGAS_FOREVER too: with
  // ggas_aborted, some polls later, unless what they wait for has come. So it goes on until reset(). By any thread,
  // also while another one is in run(), and from programs and on_progress.
  virtual result<> abort() = 0;
  // Waits of kernels of the local nodes that ended without success, until now or the last reset(): by a time-out or
  // abort(). By any thread, also while kernels run.
  virtual result<hang_report> report() = 0;
  // all. After a failure: every barrier and collective works again as in a new cluster, those of teams that the host
  // made too, nothing is broken or aborted, and the nodes' memory is as it was but for what is the library's. First
  // runs what is queued and waits until every node's stores have arrived, as run() with that time-out; an error of it
  // is this one's, and nothing has changed. Streams that the program made must be idle. Puts, gets and atomics that
  // were posted to queues of a NIC complete by themselves, also afterwards: ggas_quiet reports. Without a NIC rings of
  // notifications are empty afterwards; with one counts of its failures stay.
  virtual result<> reset(uint64_t timeout_ns) = 0;

  // ---- jobs: the processes of a program

  // all. Waits until every process has come here; `where` is for messages, at most 48 letters.
  virtual result<> meet(const std::string& where);
  // all. Says who brings what unless all processes bring the same text, of at most 8 KiB.
  virtual result<> same(const std::string& text);

  // ---- GPUs of this computer

  // CUDA's number of a local node's GPU, and a stream of it as CUDA knows it, for work that is queued by other
  // libraries. Null and -1: there is none, as with all other providers. The node's own stream is in order with the
  // GPU's default stream, those of make_stream are not.
  virtual int device(int node) const;
  virtual CUstream_st* cuda_stream(const stream& s) const;
  // Whether another node has the same GPU: the processes then take turns on it, and every wait is long.
  virtual bool shares_gpu(int node) const;
  // Why remote atomics and ggas_signal_add return ggas_no_queue in kernels: two GPUs that have no atomics on each
  // other's memory. Empty: all of them have. Not known of GPUs that are hidden from a process.
  virtual const std::string& lacks_atomics() const;
  // Writes what kernels of a node see to their constant memory, at `at` on its GPU; ggas::launch does that. It is due
  // again when the number is another one: the program's clusters have all different ones, and grow() changes it.
  virtual result<> write_constants(int node, void* at);
  virtual uint64_t constants_number() const;

  // ---- simulated nodes and NICs

  // Contexts of the NIC for host programs of a node; empty without a NIC.
  virtual std::span<const rma_queue> host_queues(int node) const;
  virtual uint64_t now_ns() const = 0;
  // NIC counters of a node by register name (rtl/regs/ggas.rdl), and the GPU model's own ("gpu.pcie_reads", …). Empty
  // without a NIC.
  virtual std::map<std::string, uint64_t> counters(int node) const;
  // Joules of all simulated nodes since the cluster was made, by part (docs/energy.md). Empty with other providers.
  // all.
  virtual std::vector<energy_part> energy() const { return {}; }
  virtual std::vector<std::string> events(int node) const;  // NIC events so far, as text
  // Ends waves, trace and capture; nothing is observed any more. The error (no_space) has a line for each file that is
  // not whole. Without this call the destructor does it and reports on standard error.
  virtual result<> end_observation() { return {}; }

  // ---- ranges of all segments, from one offset to another: for ggas::heap and ggas::team_space. They last as long as
  // what is returned.

  // Null: another heap has some of it, which `why` names.
  std::shared_ptr<void> keep_for_heap(uint64_t begin, uint64_t end, std::string& why);
  // The same of a local node's host_memory.
  std::shared_ptr<void> keep_for_host_heap(int node, uint64_t begin, uint64_t end, std::string& why);
  // Flags and channels of a team: zero after reset().
  std::shared_ptr<void> keep_for_team(uint64_t begin, uint64_t end);

 protected:
  using ranges = std::map<uint64_t, uint64_t>;  // begin, end
  cluster();
  const ranges& of_teams() const { return *of_teams_; }

 private:
  std::shared_ptr<ranges> of_heaps_, of_teams_;
  std::map<int, std::shared_ptr<ranges>> of_host_heaps_;  // by node
};

}  // namespace ggas
