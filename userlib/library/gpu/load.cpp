// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <cctype>

#include "userlib/library/gpu/device.hpp"

namespace ggas::library::gpu {

namespace {

// "/folder/of/this/library/", or "".
std::string own_folder() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&load), &here) || !here.dli_fname) return {};
  const std::string file = here.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

}  // namespace

device* load(const std::string& module, int number, int rank, std::string& why) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (module.empty() || module.size() > 32 || !std::ranges::all_of(module, letter)) {
    why = "module '" + module.substr(0, 32) + "': a name has 1 ... 32 letters and digits";
    return nullptr;
  }
  const std::string file = "libggas-gpu-" + module + ".so";
  void* library = dlopen((own_folder() + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  // It stays loaded: threads of its GPU's library may outlive any use of it.
  const auto make = library ? reinterpret_cast<maker>(dlsym(library, maker_name)) : nullptr;
  if (!make) {
    const char* const said = dlerror();
    why = "module '" + module + "': " + (said ? said : "is of another version");
    return nullptr;
  }
  return make(number, rank, why);
}

}  // namespace ggas::library::gpu
