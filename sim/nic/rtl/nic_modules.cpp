// SPDX-License-Identifier: Apache-2.0
// The Verilated NICs: each is a shared object, loaded when the first NIC of its width and number of links is made. It
// stays loaded.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "sim/nic/rtl/nic_rtl.hpp"

#define GGAS_TEXT_OF(x) #x
#define GGAS_TEXT(x) GGAS_TEXT_OF(x)

namespace ggas::nic {
namespace {

using maker = nic_core* (*)(const host_config&, const char*);

struct module {
  unsigned data_width, links;
  const char* name;
};
// Of a width, the one with the fewest links first.
constexpr module modules[] = {{64, 1, "ggas-nic-64"},   {256, 1, "ggas-nic-256"}, {512, 1, "ggas-nic-512"},
                              {64, 2, "ggas-nic-64x2"}, {64, 6, "ggas-nic-64x6"}, {512, 6, "ggas-nic-512x6"}};

// As installed with this program, else where the build leaves it.
std::string file_of(const std::string& module) {
  const std::string name = "lib" + module + ".so";
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
  const auto installed = program.parent_path() / GGAS_NICS_FROM_PROGRAM / name;
  return std::filesystem::exists(installed, none) ? installed.string() : GGAS_NIC_FOLDER "/" + name;
}

std::expected<maker, std::string> load(const std::string& module) {
  const std::string file = file_of(module);
  const auto remedy = [&] { return fmt::format("./ggas build {} makes it", module); };
  if (!std::filesystem::exists(file)) return std::unexpected(fmt::format("no {}: {}", file, remedy()));
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return std::unexpected(fmt::format("cannot load {}; {}", dlerror(), remedy()));
  const auto make = reinterpret_cast<maker>(dlsym(handle, GGAS_TEXT(GGAS_NIC_MAKER)));
  if (!make) return std::unexpected(fmt::format("{} is older or newer than this program; {}", file, remedy()));
  return make;
}

}  // namespace

std::string nic_module(unsigned data_width, unsigned links) {
  for (const module& m : modules)
    if (m.data_width == data_width && (links <= 1 ? m.links == 1 : m.links > 1 && links <= m.links)) return m.name;
  return {};
}

made_nic make_nic_rtl(unsigned data_width, const host_config& cfg, const char* name) {
  const std::string module = nic_module(data_width, cfg.links);
  if (module.empty())
    return std::unexpected(fmt::format("nic.data_width = {}: there is no NIC of that width with {} link{}", data_width,
                                       cfg.links, cfg.links == 1 ? "" : "s"));
  const auto make = load(module);
  if (!make) return std::unexpected(make.error());
  return std::unique_ptr<nic_core>((*make)(cfg, name));
}

}  // namespace ggas::nic
