// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cuda/machine.hpp"

#include <fmt/format.h>

#include <array>

#include "benchmarks/energy/nvml.hpp"

namespace ggas::bench {

namespace {

int attribute(cudaDeviceAttr which) {
  int v = 0;
  return cudaDeviceGetAttribute(&v, which, 0) == cudaSuccess ? v : 0;
}

std::string version_text(int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); }

std::string why_none(cudaError_t e) {
  if (e == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0) return "no NVIDIA driver here (libcuda.so.1 is missing)";
    return fmt::format("the driver supports CUDA {}, too old for this program", version_text(driver));
  }
  if (e == cudaErrorNoDevice || e == cudaSuccess) return "no GPU here";
  return fmt::format("no GPU can be used: {}", cudaGetErrorString(e));
}

// Signalling rate of one NVLink in one direction. From version 2 on data travels in flits of 16 bytes; a store of a
// 128-byte line is a header flit and 8 flits of data.
double nvlink_bytes_per_s(const std::string& version) {
  if (version == "1") return 20e9;
  if (version.starts_with("5")) return 50e9;
  return version == "?" ? 0 : 25e9;
}
constexpr double nvlink_data_share = 8.0 / 9;
constexpr double nvlink_hop_ns = 600;  // measured between H200s over NVLink 4 with bare CUDA

double pcie_bytes_per_s(const nvml::slot& s) {
  constexpr std::array<double, 7> lane_by_generation{0, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9};
  return s.generation < lane_by_generation.size() ? lane_by_generation[s.generation] * s.lanes : 0;
}
constexpr double pcie_data_share = 128.0 / (128 + 26);  // header, sequence number, CRCs and framing of a line

void find_links(const nvml& library, nvml::gpu g, gpu_limits& l) {
  if (const nvml::link nv = library.nvlink(g); nv.count != 0) {
    l.link = fmt::format("NVLink {} x {}", nv.version, nv.count);
    l.link_bytes_per_s = nvlink_bytes_per_s(nv.version) * nv.count;
    l.payload_bytes_per_s = l.link_bytes_per_s * nvlink_data_share;
    l.hop_ns = nvlink_hop_ns;
  } else if (const nvml::slot s = library.pcie(g); s.generation != 0) {
    l.link = fmt::format("PCIe {} x{}", s.generation, s.lanes);
    l.link_bytes_per_s = pcie_bytes_per_s(s);
    l.payload_bytes_per_s = l.link_bytes_per_s * pcie_data_share;
  } else {
    l.link = "unknown links";
  }
}

}  // namespace

gpu_machine find_gpus() {
  gpu_machine m;
  const cudaError_t e = cudaGetDeviceCount(&m.gpus);
  if (e != cudaSuccess || m.gpus == 0) {
    m.absent = why_none(e);
    return m;
  }
  cudaDeviceProp gpu{};
  char address[32] = {};
  if (cudaError_t wrong = cudaGetDeviceProperties(&gpu, 0); wrong != cudaSuccess) {
    m.absent = why_none(wrong);
    return m;
  }
  const nvml library;
  if (cudaDeviceGetPCIBusId(address, sizeof address, 0) == cudaSuccess)
    find_links(library, library.find(address), m.limits);
  m.limits.multiprocessors = gpu.multiProcessorCount;
  // Two transfers a clock (kHz) over so many bits.
  m.limits.memory_bytes_per_s =
      2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  m.platform = fmt::format("{} at {} MHz, {}, driver {}, CUDA {}", gpu.name, attribute(cudaDevAttrClockRate) / 1000,
                           m.limits.link, library.driver(), version_text(runtime));
  return m;
}

}  // namespace ggas::bench
