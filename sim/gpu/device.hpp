// SPDX-License-Identifier: Apache-2.0
// Interface of a GPU in a simulated cluster. The model of this tree is gpu.hpp; another one is a class with a name
// (docs/how-to/own-gpu.md):
//
//   class my_gpu final : public ggas::gpu::device { ... };
//   const ggas::gpu::model mine("mine", [](const gpu_config& c, const surroundings& s) -> std::unique_ptr<device>
//   {...}); ggas-bench ... --set gpu.model=mine          (a program that is linked with it)
//
// It runs kernels on the host SIMT engine, and answers and makes requests at its PCIe port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_api/simt/engine.hpp"
#include "sim/gpu/config.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::gpu {

// A place in a stream that others wait for.
struct mark {
  bool reached = false;
  std::vector<std::function<void()>> waiters;  // called when it is reached
};

// Addresses that kernels use, and the bus addresses they stand for.
struct mapping {
  std::byte* base;
  uint64_t bytes, bus;
};
// The GPU's memory: kernels reach `bytes` of it, requests to bus addresses that come to its port `bus_bytes`.
struct own_memory {
  std::byte* base;
  uint64_t bytes, bus, bus_bytes;
};

// What a GPU knows of its node. Addresses of kernels are valid in this process.
struct surroundings {
  unsigned node;
  uint16_t bus_id;         // requester and completer id
  pcie::port_config port;  // receive buffers
  const void* context;     // what kernels see of their node: simt::environment::device_context
  std::vector<own_memory> own;
  std::vector<mapping> apertures;               // what PCIe reaches: the NIC's window and pages, host memory
  std::vector<std::span<std::byte>> forbidden;  // of others: an access is a fault
  uint64_t flush_address;                       // host memory whose read flushes what was written before
  uint64_t host_memory_bytes;                   // bus addresses below are host memory
  unsigned mps, mrrs;                           // of its PCIe port, negotiated
  std::function<void()> on_idle;                // to be called when the last kernel has ended, or cannot go on
};

// Its constructor makes SystemC modules. Streams have numbers, 0 is there always.
class device {
 public:
  struct fault {
    uint64_t count = 0;
    std::string first;  // what, where
  };

  // How many blocks of a shape are resident at once where nothing else is, and the keys that say so.
  struct room {
    unsigned blocks;
    std::string limit;
  };

  virtual ~device() = default;
  virtual pcie::port& port() = 0;
  virtual std::map<std::string, uint64_t> counters() const = 0;

  // Why this GPU cannot run a launch; nothing if it can.
  virtual std::optional<std::string> check(simt::dim3 grid, simt::dim3 block) const = 0;
  virtual room room_for(simt::dim3) const { return {0x7fffffff, "2^31 - 1 blocks of a grid"}; }
  // Queues a kernel on a stream. It starts with start(), or if the stream is already running, in its turn.
  virtual void launch(simt::launch l, unsigned stream) = 0;
  // Queues a copy between addresses of kernels: the GPU's memory and host memory. False: this GPU has no copy engine.
  virtual bool copy(void* /*to*/, const void* /*from*/, uint64_t /*bytes*/, unsigned /*stream*/) { return false; }
  // The mark is reached when all work now in the stream has ended; later work of a stream can wait for the mark, also
  // on another GPU. Costs no simulated time.
  virtual void record(std::shared_ptr<mark> m, unsigned stream) = 0;
  virtual void wait(std::shared_ptr<mark> m, unsigned stream) = 0;
  // Blocks of streams of higher priority are placed first; 0 if nothing is said.
  virtual void set_priority(unsigned stream, int priority) = 0;
  // The host launches what is queued, that much later. Returns how many calls that takes of it.
  virtual unsigned start(uint64_t delay_ps) = 0;
  virtual bool idle() const = 0;
  // Not empty: a kernel broke a rule of the engine and cannot go on.
  virtual const std::string& kernel_fault() const = 0;
  // What keeps the GPU from being idle, for people.
  virtual std::string blockage() const = 0;
  // Ends every kernel where it stands and empties the streams. What is on the bus stays there.
  virtual void reset() = 0;
  // Accesses that failed since the last call; a failed load reads as all ones.
  virtual fault take_fault() = 0;
};

using maker = std::unique_ptr<device> (*)(const gpu_config& cfg, const surroundings& s);

// A model under a name, as an object that lives as long as the program.
struct model {
  model(const char* its_name, maker its_make);
  const char* name;
  maker make;
  const model* next;
};
// The error names the models that this program has.
std::expected<maker, std::string> find_model(std::string_view name);

}  // namespace ggas::gpu
