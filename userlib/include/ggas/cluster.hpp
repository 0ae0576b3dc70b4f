// SPDX-License-Identifier: Apache-2.0
// A cluster of GPUs with one global address space, as a host program sees it: one interface for every provider, chosen
// by its name (docs/host.md). C++20, without headers of CUDA or of the host engine: any compiler compiles host
// programs. ggas/launch.hpp starts kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ggas/cluster_config.hpp"
#include "ggas/detail/platform/context.hpp"  // gpu_api: what a kernel knows of its node
#include "ggas/host.hpp"
#include "ggas/report.hpp"
#include "ggas/result.hpp"

struct CUstream_st;         // of CUDA: cudaStream_t points to it
struct CUmemPoolHandle_st;  // cudaMemPool_t points to it

namespace ggas {

template <class D>
concept has_sizes = requires(const D& d) {
  d.x + d.y + d.z;
};

// Sizes of a grid or a block. A number, or a value with x, y, z, such as dim3 of CUDA and of the host engine.
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

// A queue of a node's GPU: its work runs in order; other queues run concurrently. A number is the node's own stream.
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

// Launches and copies that are queued as one piece of work.
struct graph {
  int node;
  uintptr_t id;  // of the provider; 0: none
};

// How a node's host learns that its kernels have ended. Provider sim charges the time that the platform gives for each
// (gpu.sync_..._ns); providers on real memory have one method.
enum class host_sync {
  stream,          // polls for the end of the stream
  device,          // of everything on the GPU
  event,           // polls for an event after the last kernel
  event_blocking,  // sleeps until an interrupt informs it of that event
};

// The number of blocks that an idle GPU holds at once.
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

// A cluster is used by one thread at a time, except for abort() and report(); threads may use different clusters
// concurrently. Calls marked `all` are made by every process of a job, in the same order. They wait for each other, at
// most processes.timeout_ns, and fail in all processes if they fail in one. A node number that does not exist is
// errc::bad_argument.
class cluster {
 public:
  // all. If the program is not linked with the provider, the error names the providers that it is linked with.
  static result<std::unique_ptr<cluster>> create(const cluster_config& cfg);
  // Not a call of all processes: other processes keep their memory. cuda: if kernels of the cluster's streams still
  // run, their memory is kept until the process ends. Streams that the program made must be idle.
  virtual ~cluster() = default;
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  virtual const cluster_config& config() const = 0;
  int nodes() const { return static_cast<int>(device_context(local_nodes()[0]).nodes); }
  // The nodes that this process runs: all of them, or one.
  virtual std::span<const int> local_nodes() const = 0;
  bool local(int node) const;
  // The context of a node that kernels see. The node must exist.
  virtual const context& device_context(int node) const = 0;

  // ---- memory

  // The address of a node's segment in kernels of this process; null: no such node. shm, sim: the host may access it,
  // which costs no time. cuda: memory of the GPU; use read and write.
  virtual std::byte* segment(int node) = 0;
  size_t segment_bytes() const { return device_context(local_nodes()[0]).segment_bytes; }
  // Copies between the program's memory and an offset of a local node's segment, while kernels may run: for set-up and
  // verification. The copy has ended when the call returns.
  virtual result<> write(int node, uint64_t offset, const void* from, size_t bytes);
  virtual result<> read(int node, uint64_t offset, void* to, size_t bytes);
  // Pinned memory of a local node's host, of cluster_config::host_bytes. Kernels of the node use it at the same
  // address; with a NIC it is registered for put and get, as the segment is. Accesses of the host program cost no time.
  virtual host_region host_memory(int node) = 0;
  // all. Grows the segments to `bytes` bytes: a multiple of 4 KB, at least the present size and at most
  // most_segment_bytes. Contents and addresses stay; new memory is zero. The streams must be idle. On an error segments
  // are unchanged.
  virtual result<> grow(size_t bytes);

  // ---- streams and events. They live as long as the cluster. Make them while nothing runs.

  // Another stream of a local node. If two streams of a GPU have blocks to start, those of the stream with the higher
  // priority start first; 0 is the priority of the node's own stream, and values beyond the GPU's range are set to its
  // limit. shm: ignored.
  virtual result<stream> make_stream(int node, int priority = 0) = 0;
  // cuda: a stream whose work runs on `multiprocessors` of the node's GPU, or a few more: the GPU gives them out in
  // groups (of 8 on an H100). No other stream of this call has them; the streams of make_stream() have all. Error:
  // unsupported, if the driver cannot do this (before CUDA 12.5), if fewer multiprocessors are left, or with another
  // provider.
  virtual result<stream> make_stream_on(int node, unsigned multiprocessors);
  // Those of such a stream; 0: all that its GPU has.
  virtual unsigned multiprocessors(const stream& s) const;
  virtual result<event> make_event(int node) = 0;
  // The event is reached when all work that is in the stream now has ended. A new record replaces the one before.
  virtual result<> record(const event& e, const stream& s) = 0;
  // Later work of the stream begins when the event, as it was recorded last, is reached. It begins at once if the event
  // was never recorded. Stream and event may be of different nodes of this process.
  virtual result<> wait(const stream& s, const event& e) = 0;
  // Whether the event is reached; true also if it was never recorded. shm, sim: the state after the last poll() or
  // run().
  virtual result<bool> reached(const event& e) = 0;

  // ---- graphs. They live as long as the cluster.

  // Records the launches and copies that `queue` queues on that stream; nothing runs. The graph uses the same addresses
  // and values each time. `queue` does not wait and uses no events of the stream. An error of `queue` is returned.
  virtual result<graph> make_graph(const stream& s, const std::function<result<>()>& queue) = 0;
  // Queues a graph on a stream of its node. It must not run twice at the same time.
  virtual result<> launch_graph(const graph& g, const stream& s) = 0;
  // Frees a graph that has ended and is not launched again.
  virtual result<> drop_graph(const graph& g) = 0;

  // ---- running

  // Used by ggas::launch. Queues a kernel of the host engine; each of its threads runs `kernel`. `name` appears in
  // messages. Invalid shapes (no threads, more than 1024 in a block, more than 227 KB of shared memory) are refused
  // here. cuda: errc::unsupported.
  virtual result<> launch(const stream& s, extent grid, const block_shape& block, std::function<void()> kernel,
                          std::string name = "kernel") = 0;
  // Queues a copy between the node's segment and its host_memory, or inside one; the ranges do not overlap. Graphs may
  // contain it. cuda, sim: by the copy engine. sim, shm: also to and from context::window, as stores and loads.
  virtual result<> copy_on_stream(const stream& s, void* to, const void* from, size_t bytes) = 0;
  // Used by ggas::blocks_at_once. Returns the room for blocks of that shape on the GPU of a local node. cuda:
  // errc::unsupported, because it depends on the kernel.
  virtual result<block_room> room_for(const stream& s, extent block) const;
  // Queues a program of the node's processor. Programs begin with start() or run(), and run concurrently with each
  // other and with kernels. An exception that leaves a program is a device_fault. cuda: programs are threads; the
  // segment is copied for them. sim: a program may itself queue work for its node's streams (host::start).
  virtual result<> launch_host(int node, std::function<void(host&)> program, std::string name = "program") = 0;
  // Starts the queued work of the local nodes, and returns. On GPUs a kernel may begin as soon as it is launched.
  virtual result<> start() = 0;
  // Whether all started work has ended; does not wait. shm and sim do their work here, a millisecond of it (shm) or a
  // microsecond of simulated time (sim), so call it repeatedly. Errors as those of run().
  virtual result<bool> poll() = 0;
  // Calls start() and waits until all work has ended. Returns timed_out after `timeout_ns` of simulated (sim) or real
  // time (20 days or more: no limit), or cancelled when cluster_config::cancelled says so.
  //
  // * After an error unfinished kernels are gone, except on GPUs: there they run until their waits end. Memory keeps
  //   what they wrote.
  // * With kernels it is a step of a host: provider sim charges each launching call, and at the end the time until the
  //   hosts learn of it.
  // * Stores and puts that a kernel has not completed may still be in flight; run() does not report them.
  virtual result<run_stats> run(uint64_t timeout_ns, host_sync how = host_sync::stream) = 0;

  // ---- failures

  // Ends the waits of all kernels on all nodes, also of other processes and with GGAS_FOREVER. A wait returns
  // ggas_aborted some polls later, unless its condition has become true. This applies to later waits, too, until
  // reset(). May be called by any thread, also while another one is in run(), and by programs and on_progress.
  virtual result<> abort() = 0;
  // Failed waits of kernels of the local nodes, by a time-out or abort(), since the last reset(). May be called by any
  // thread, also while kernels run.
  virtual result<hang_report> report() = 0;
  // all. Repairs the cluster after a failure. Every barrier and collective works as in a new cluster, also those of
  // teams that the host made; nothing is broken or aborted; the nodes' memory is unchanged outside the library's areas.
  //
  // * It first runs queued work and waits until every node's stores have arrived, as run() with that time-out. If that
  //   fails, its error is returned, and nothing has changed.
  // * Streams that the program made must be idle.
  // * Puts, gets and atomics in queues of a NIC complete by themselves, also later; ggas_quiet reports them. Without a
  //   NIC rings of notifications are empty afterwards; with one its counts of failures stay.
  virtual result<> reset(uint64_t timeout_ns) = 0;

  // ---- jobs: the processes of a program

  // all. A barrier of the processes; `where` appears in messages, at most 48 letters.
  virtual result<> meet(const std::string& where);
  // all. Compares a text of all processes, of at most 8 KiB. If the texts differ, the error names each process and its
  // text.
  virtual result<> same(const std::string& text);

  // ---- GPUs of this computer

  // The CUDA number of a local node's GPU, and the CUDA stream of a stream, for work that other libraries queue. The
  // result is -1 or null if it does not exist, as with all other providers. The node's own stream is in order with the
  // GPU's default stream, those of make_stream are not.
  virtual int device(int node) const;
  virtual CUstream_st* cuda_stream(const stream& s) const;
  // cuda, several nodes in this process: what calls of the library use that run a part at their target. A stream of
  // the target's GPU with the highest priority, and memory there that all GPUs of this process reach. Empty: such calls
  // run at their own GPU alone.
  struct target_side {
    stream work;
    CUmemPoolHandle_st* memory;
  };
  virtual std::optional<target_side> at_target(int node) const;
  // Whether another node uses the same GPU. Then the processes take turns on it, and every wait is long.
  virtual bool shares_gpu(int node) const;
  // The reason why remote atomics and ggas_signal_add return ggas_no_queue in kernels: two GPUs that have no atomics on
  // each other's memory. It is empty if all GPUs have them. GPUs that are hidden from a process are not checked.
  virtual const std::string& lacks_atomics() const;
  // Writes the context of a node to the constant memory of kernels, at `at` on its GPU; ggas::launch does that. It must
  // be repeated when constants_number() has changed: each cluster of the program has another number, and grow() changes
  // it.
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
  // Changed bits of the signals of all simulated NICs since the cluster was made, by unit of the NIC. Empty unless
  // cluster_config::nic_toggles. all.
  virtual std::map<std::string, uint64_t> nic_toggles() const { return {}; }
  virtual std::vector<std::string> events(int node) const;  // NIC events so far, as text
  // Closes waves, trace and capture; nothing is recorded after that. The error (no_space) has a line for each
  // incomplete file. Without this call the destructor closes them and reports on standard error.
  virtual result<> end_observation() { return {}; }

  // ---- ranges of all segments, from one offset to another: for ggas::heap and ggas::team_space. A range is reserved
  // as long as the returned object lives.

  // Null: the range overlaps another heap, which `why` names.
  std::shared_ptr<void> keep_for_heap(uint64_t begin, uint64_t end, std::string& why);
  // The same of a local node's host_memory.
  std::shared_ptr<void> keep_for_host_heap(int node, uint64_t begin, uint64_t end, std::string& why);
  // Flags and channels of a team: zero after reset().
  std::shared_ptr<void> keep_for_team(uint64_t begin, uint64_t end);

  // ---- memory that the NIC reaches, for ggas::registrations

  // With a NIC: gives `bytes` bytes of a local node's segment or host_memory a separate translation. Returns the
  // network logical address of the first byte, which is valid on every node until unmap_memory. The NIC can reach whole
  // pages of 4 KB.
  virtual result<uint64_t> map_memory(int node, const void* at, size_t bytes);
  // `nla` came from map_memory. When it returns no access by that address is under way.
  virtual result<> unmap_memory(int node, uint64_t nla);
  // Calls `f` with the memory that a heap frees, for each local node that has it, before the memory is handed out
  // again. It does so as long as the returned object lives.
  using freed_memory = std::function<void(int node, const std::byte* at, size_t bytes)>;
  std::shared_ptr<void> when_freed(freed_memory f);
  void tell_freed(int node, const std::byte* at, size_t bytes) const;

 protected:
  using ranges = std::map<uint64_t, uint64_t>;  // begin, end
  cluster();
  const ranges& of_teams() const { return *of_teams_; }

 private:
  std::shared_ptr<ranges> of_heaps_, of_teams_;
  std::map<int, std::shared_ptr<ranges>> of_host_heaps_;  // by node
  std::shared_ptr<std::list<freed_memory>> when_freed_;
};

}  // namespace ggas
