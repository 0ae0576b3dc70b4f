// SPDX-License-Identifier: Apache-2.0
// The table of memory that programs have registered with the NIC, for puts and gets by network logical addresses
// (docs/ranks.md#registered-memory). C++20.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace ggas {

class cluster;

struct registration_counts {
  uint64_t entries;     // that a node has now
  uint64_t made;        // translations: of new addresses, and of known ones that had to be longer
  uint64_t lengthened;  // of these the known ones
  uint64_t found;       // calls that found an entry that is long enough
  uint64_t dropped;     // entries, by drop or because their memory was freed
};

// Tables of a cluster's local nodes, of `most` addresses each. Used by one thread at a time while no kernel or program
// runs. Memory that a heap of the cluster (heap_of, host_heap_of) frees loses its entries. Errors are texts; on an
// error nothing has changed.
class registrations {
 public:
  static constexpr size_t usual_entries = 256;
  // `c` outlives it.
  explicit registrations(cluster& c, size_t most = usual_entries);
  ~registrations();  // drops all
  registrations(const registrations&) = delete;
  registrations& operator=(const registrations&) = delete;

  // Returns the network logical address of `bytes` bytes of the node's segment or host_memory. If the table has the
  // address with as many bytes or more, that entry is used. If it has fewer bytes, it is registered again in the same
  // entry, under another logical address. Empty on an error, for example if the table is full: see `why`.
  std::optional<uint64_t> add(int node, const void* at, size_t bytes, std::string& why);
  // Empty: it is out of the table, and no put or get by its address is under way.
  std::string drop(int node, const void* at);

  registration_counts counts(int node) const;

 private:
  struct entry {
    size_t bytes;
    uint64_t nla;
  };
  struct table {
    std::map<const std::byte*, entry> entries;
    uint64_t made = 0, lengthened = 0, found = 0, dropped = 0;
  };
  void freed(int node, const std::byte* at, size_t bytes);
  std::string undo(int node, table& t, std::map<const std::byte*, entry>::iterator which);

  cluster& cluster_;
  const size_t most_;
  std::map<int, table> tables_;  // by node
  std::shared_ptr<void> informed_;
};

}  // namespace ggas
