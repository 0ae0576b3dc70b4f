// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/base/module.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>

namespace ggas::library {

namespace {

// "/folder/of/this/library/", or "".
std::string own_folder() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&from_module), &here) || !here.dli_fname) return {};
  const std::string file = here.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

}  // namespace

void* from_module(const std::string& kind, const std::string& name, const char* maker, std::string& why) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (name.empty() || name.size() > 32 || !std::ranges::all_of(name, letter)) {
    why = "module '" + name.substr(0, 32) + "': a name has 1 ... 32 letters and digits";
    return nullptr;
  }
  const std::string file = "libggas-" + kind + "-" + name + ".so";
  void* library = dlopen((own_folder() + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, maker) : nullptr;
  if (!found) {
    const char* const said = dlerror();
    why = "module '" + name + "': " + (said ? said : "is of another version");
  }
  return found;
}

}  // namespace ggas::library
