// SPDX-License-Identifier: Apache-2.0
// Channels (docs/work.md): data of a GPU for an object that works on another GPU. They go from memory to memory of the
// GPUs; both objects get a callback. A file with kernels of the program includes ggas/channels.hpp, once.
#pragma once

#include "ggas/work.hpp"

namespace ggas {

// Moves bytes to an offset in the segment of node `to`. A function of workers, too, if their table has it.
GGAS_KERNEL(channel_move, int to, uint64_t offset, const std::byte* from, uint64_t bytes);

struct channel_config {
  unsigned blocks = 8, threads = 128;  // of the kernel that moves; workers have at least as many threads
};

// A piece of memory that is kept on a GPU.
struct gpu_piece {
  gpu_memory memory;
  size_t at = 0, bytes = 0;
};

// A channel from the GPU of one node to that of another node, or of the same node. It is made once, for any number of
// transfers. The k-th send and the k-th receive are one transfer. Copies of the object are the same channel. Calls may
// be made by any thread.
class gpu_channel {
 public:
  // `work` outlives the channel. Error: bad_argument for a node that is not of this process, or no blocks or threads.
  static result<gpu_channel> make(dispatcher& work, int from, int to, const channel_config& cfg = {});

  // The number of bytes that came. On an error the memory of the receiver is undefined.
  using end = std::function<void(const result<size_t>&)>;
  // The transfer begins when both were called and all requests in `after` have ended. Until the callback the sender
  // must not change its piece, and the receiver must not use its own. The callback is a message to the processor of the
  // caller, as that of a request. Errors at once: a piece of another node, outside of its memory, or freed; by both
  // callbacks: a piece longer than the receiver's, and what a request may report.
  result<> send(const gpu_piece& data, end then, const std::vector<request>& after = {}) const;
  result<> receive(const gpu_piece& room, end then, const std::vector<request>& after = {}) const;

 private:
  struct state;
  explicit gpu_channel(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

}  // namespace ggas
