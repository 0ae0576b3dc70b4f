// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/hw/device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "userlib/libggas/hw/faults.hpp"

namespace ggas::library::hw {

namespace {

constexpr unsigned most_domain = 65535;

uint64_t whole_pages(uint64_t bytes) {
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

ggas_rc read_domain(unsigned& number) {
  const char* const text = std::getenv("GGAS_DOMAIN");
  number = 1;
  if (!text) return GGAS_OK;
  char* end = nullptr;
  const unsigned long n = std::strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || n == 0 || n > most_domain)
    return fail(GGAS_ERR_ARGUMENT, "GGAS_DOMAIN = '", std::string(text).substr(0, 64), "': must be 1 ... ",
                most_domain);
  number = static_cast<unsigned>(n);
  return GGAS_OK;
}

}  // namespace

ggas_rc device::open() {
  if (ggas_rc rc = read_domain(domain_number_); rc != GGAS_OK) return rc;
  const char* const text = std::getenv("GGAS_DEVICE");
  path_ = text && *text ? text : "/dev/ggas0";
  io_ = {.self = this, .write = store, .read = load};
  if (const int rc = ggas_device_open(&nic_, path_.c_str()); rc < 0) {
    if (rc == -ENOENT)
      return fail(GGAS_ERR_SYSTEM, "NIC '", path_, "': does not exist: no NIC, or no driver (GGAS_DEVICE)");
    if (rc == -ENOTTY) return fail(GGAS_ERR_SYSTEM, "NIC '", path_, "': is no NIC of GGAS (GGAS_DEVICE)");
    if (rc == -EPROTO) return fail(GGAS_ERR_SYSTEM, "NIC '", path_, "': its driver is older than this library");
    return refused("opening", rc);
  }
  domain_ = ggas_domain_join(&nic_, domain_number_);
  if (domain_ == -EPERM)
    return fail(GGAS_ERR_SYSTEM, "NIC '", path_, "': domain ", domain_number_,
                " is not granted to this user (GGAS_DOMAIN, docs/drivers.md)");
  return domain_ < 0 ? refused("domain " + std::to_string(domain_number_), domain_) : GGAS_OK;
}

// What was begun ends with the file, too; but mappings are this process's.
device::~device() {
  unguard(&lost_);
  for (size_t i = 0; i < begun_; ++i) ggas_context_end(&contexts_[i]);
  for (const auto& r : regions_) end(r);
  if (nic_.fd >= 0) ggas_device_close(&nic_);
}

ggas_rc device::refused(const std::string& what, int error) {
  if (error == -ENODEV) {
    lost_ = true;
    gone();
  }
  const std::string text = "NIC '" + path_ + "': " + what + ": " + std::strerror(-error);
  if (error == -ENOMEM || error == -EDQUOT || error == -ENOSPC || error == -EFAULT)
    return fail(GGAS_ERR_MEMORY, text, error == -ENOMEM ? " (pinned memory: ulimit -l)" : "");
  return fail(GGAS_ERR_SYSTEM, text);
}

void device::gone() const {
  throw failure(GGAS_ERR_SYSTEM,
                "NIC '" + path_ + "': has gone: it was reset or removed; stop the process and start it again");
}

// ---------------------------------------------------------------------------------------------- contexts

void device::store(void* self, volatile void* to, const void* from, uint32_t bytes) {
  const auto& d = *static_cast<const device*>(self);
  ggas_rma_direct_write(nullptr, to, from, bytes);
  d.expect();
}

uint64_t device::load(void* self, const volatile void* from) {
  const auto& d = *static_cast<const device*>(self);
  const uint64_t v = ggas_rma_direct_read(nullptr, from);
  d.expect();
  return v;
}

ggas_rc device::guard_all(const ggas_context& c) {
  const size_t page = whole_pages(1);
  if (guard(c.rings, whole_pages(c.rings_bytes), &lost_) && guard(c.rma.page, page, &lost_) &&
      guard(c.rma.descriptors, page, &lost_))
    return GGAS_OK;
  return fail(GGAS_ERR_MEMORY, "NIC '", path_, "': this process uses too many NICs at a time");
}

ggas_rc device::begin_context(ggas_context*& c, bool sleeps, unsigned mailbox_log2) {
  ggas_context_options o{};
  o.mailbox_log2 = mailbox_log2;
  o.sleeps = sleeps;
  if (const int rc = ggas_context_begin(&contexts_[begun_], &nic_, domain_, &o); rc < 0)
    return refused("a context", rc);
  c = &contexts_[begun_++];
  c->rma.io = &io_;
  return guard_all(*c);
}

// ---------------------------------------------------------------------------------------------- memory

ggas_rc device::take(uint64_t bytes, void* bound, nic::memory& m) {
  void* at = bound;
  if (!bound) at = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return fail(GGAS_ERR_MEMORY, "there is not enough room for ", bytes, " bytes");
  region r{{}, bytes, bound != nullptr};
  const int rc = ggas_region_begin(&r.handle, &nic_, domain_, at, bytes, GGAS_READ | GGAS_WRITE);
  if (rc < 0) {
    if (!bound) munmap(at, whole_pages(bytes));
    return refused(std::to_string(bytes) + " bytes" + (bound ? " of the user" : ""), rc);
  }
  m = {static_cast<std::byte*>(at), r.handle.nla, bytes};
  regions_.emplace(reinterpret_cast<uintptr_t>(at), r);
  return GGAS_OK;
}

ggas_rc device::take(const buffer& b, nic::memory& m, bool& elsewhere) {
  region r{{}, b.bytes, true};
  const int rc = ggas_region_begin_dmabuf(&r.handle, &nic_, domain_, b.fd, b.offset, b.bytes, GGAS_READ | GGAS_WRITE);
  elsewhere = rc == 0;
  if (rc == -EINVAL) return take(b.bytes, b.at, m);  // no dma-buf: pages of a file
  if (rc < 0) return refused("dma-buf of fd " + std::to_string(b.fd), rc);
  m = {static_cast<std::byte*>(b.at), r.handle.nla, b.bytes};
  regions_.emplace(reinterpret_cast<uintptr_t>(b.at), r);
  return GGAS_OK;
}

void device::end(const regions::value_type& r) {
  ggas_region handle = r.second.handle;
  ggas_region_end(&handle);
  if (!r.second.bound) munmap(reinterpret_cast<void*>(r.first), whole_pages(r.second.bytes));
}

void device::give(const nic::memory& m) {
  const auto [first, last] = regions_.equal_range(reinterpret_cast<uintptr_t>(m.start));
  for (auto r = first; r != last; ++r) {
    if (r->second.handle.nla != m.nla) continue;
    end(*r);
    regions_.erase(r);
    return;
  }
}

// The first that is asked holds the bytes, but where regions of the user lie in one another.
device::regions::const_iterator device::find(uintptr_t at, uint64_t bytes) const {
  auto r = regions_.upper_bound(at);
  while (r != regions_.begin()) {
    --r;
    const uint64_t offset = at - r->first;
    if (offset <= r->second.bytes && bytes <= r->second.bytes - offset) return r;
  }
  return regions_.end();
}

uint64_t device::nla_of(const void* at, uint64_t bytes) const {
  const auto here = reinterpret_cast<uintptr_t>(at);
  const auto r = find(here, bytes);
  return r == regions_.end() ? 0 : r->second.handle.nla + (here - r->first);
}

}  // namespace ggas::library::hw
