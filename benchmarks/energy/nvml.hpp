// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, loaded when asked for: programs run without it. Only what the benchmarks need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ggas::bench {

class nvml {
 public:
  nvml();  // check missing()
  ~nvml();
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  // Why there is no library, or empty.
  const std::string& missing() const { return missing_; }
  std::string driver() const;  // version, or "unknown"

  // A GPU by its PCI address ("0000:17:00.0"); null if the library does not know it.
  using gpu = void*;
  gpu find(const std::string& pci_address) const;

  // Joules since the driver was loaded, in steps of up to 100 ms; nothing where the GPU or its driver does not report.
  std::optional<double> energy_j(gpu g) const;
  // Watts at this moment, not the average over a second that nvidia-smi shows by default; nothing likewise.
  std::optional<double> power_w(gpu g) const;
  unsigned count() const;         // GPUs that the library knows; 0 without it
  gpu at(unsigned number) const;  // null if there is no such GPU

  struct link {
    std::string version;  // of NVLink: "4"
    unsigned count = 0;   // links that are up
  };
  link nvlink(gpu g) const;
  struct slot {
    unsigned generation = 0, lanes = 0;  // PCIe; 0: not known
  };
  slot pcie(gpu g) const;

 private:
  template <class F>
  F* entry(const char* name) const;

  void* library_ = nullptr;
  std::string missing_;
};

}  // namespace ggas::bench
