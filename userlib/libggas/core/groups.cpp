// SPDX-License-Identifier: Apache-2.0
// Groups and collectives of ggas.h.
#include <algorithm>

#include "userlib/libggas/core/process.hpp"

using namespace ggas::library;

namespace {

// Finds the group and calls the body with it.
template <class Body>
ggas_rc with_group(const ggas_process* p, uint32_t id, Body&& body) {
  return call(p, [&] {
    const auto g = p->group(id);
    return g ? body(*g) : fail(GGAS_ERR_GROUP, "group ", id, ": does not exist");
  });
}

ggas_rc reduce(ggas_process* p, const reduction& how, const void* from, void* to, uint32_t group, uint64_t timeout_ns) {
  return with_group(p, group, [&](ggas::library::group& g) {
    ggas_rc rc = first_of([&] { return check_pointer(from, "from"); }, [&] { return check_pointer(to, "to"); });
    if (rc != GGAS_OK) return rc;
    if (how.elements == 0 || how.elements > SIZE_MAX / 2 / how.element_bytes)
      return fail(GGAS_ERR_SIZE, "elements ", how.elements, ": none, or more than an address space has");
    if (!how.reducer && reinterpret_cast<uintptr_t>(to) % how.element_bytes != 0)
      return fail(GGAS_ERR_ARGUMENT, "to: must be aligned to its elements of ", how.element_bytes, " bytes");
    rc = g.allreduce(how, from, to, p->transport->of_gpus(), limit::after(timeout_ns));
    if (rc == GGAS_OK) p->transfers.here().collectives.add(1);
    return rc;
  });
}

}  // namespace

ggas_rc ggas_group_create(ggas_process* p, uint32_t* group) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(group, "group"); rc != GGAS_OK) return rc;
    const std::lock_guard held(p->lock);
    const auto free = std::find(p->groups.begin(), p->groups.end(), nullptr);
    if (free == p->groups.end()) return fail(GGAS_ERR_GROUP, "no group is left: a rank has ", GGAS_GROUPS);
    *free = std::make_shared<ggas::library::group>(std::vector<unsigned>{});
    *group = static_cast<uint32_t>(free - p->groups.begin());
    return GGAS_OK;
  });
}

ggas_rc ggas_group_add(ggas_process* p, uint32_t group, uint32_t rank) {
  return with_group(p, group, [&](ggas::library::group& g) {
    const ggas_rc rc = check_rank(p, rank);
    return rc == GGAS_OK ? g.add(rank) : rc;
  });
}

ggas_rc ggas_group_commit(ggas_process* p, uint32_t group, uint64_t timeout_ns) {
  return with_group(p, group,
                    [&](ggas::library::group& g) { return g.commit(*p->transport, limit::after(timeout_ns)); });
}

ggas_rc ggas_group_delete(ggas_process* p, uint32_t group) {
  return with_group(p, group, [&](ggas::library::group&) {
    if (group == GGAS_GROUP_ALL) return fail(GGAS_ERR_GROUP, "group 0: is that of all ranks and stays");
    const std::lock_guard held(p->lock);
    p->groups[group].reset();
    return GGAS_OK;
  });
}

ggas_rc ggas_group_size(const ggas_process* p, uint32_t group, uint32_t* size) {
  return with_group(p, group, [&](const ggas::library::group& g) {
    if (ggas_rc rc = check_pointer(size, "size"); rc != GGAS_OK) return rc;
    *size = static_cast<uint32_t>(g.members().size());
    return GGAS_OK;
  });
}

ggas_rc ggas_group_ranks(const ggas_process* p, uint32_t group, uint32_t* ranks, size_t count) {
  return with_group(p, group, [&](const ggas::library::group& g) {
    if (ggas_rc rc = check_pointer(ranks, "ranks"); rc != GGAS_OK) return rc;
    if (count != g.members().size())
      return fail(GGAS_ERR_SIZE, "count ", count, ": the group has ", g.members().size(), " ranks");
    std::copy(g.members().begin(), g.members().end(), ranks);
    return GGAS_OK;
  });
}

ggas_rc ggas_group_barrier(ggas_process* p, uint32_t group, uint64_t timeout_ns) {
  return with_group(p, group, [&](ggas::library::group& g) {
    const ggas_rc rc = g.barrier(limit::after(timeout_ns));
    if (rc == GGAS_OK) p->transfers.here().collectives.add(1);
    return rc;
  });
}

ggas_rc ggas_group_allreduce(ggas_process* p, const void* from, void* to, size_t elements, ggas_element type,
                             ggas_operation operation, uint32_t group, uint64_t timeout_ns) {
  return call(p, [&] {
    const unsigned t = enum_number(type), o = enum_number(operation);
    if (t > GGAS_ELEMENT_DOUBLE)
      return fail(GGAS_ERR_ARGUMENT, "type ", t, ": does not exist; types are 0 to ", unsigned{GGAS_ELEMENT_DOUBLE});
    if (o > GGAS_OP_PRODUCT)
      return fail(GGAS_ERR_ARGUMENT, "operation ", o, ": does not exist; operations are 0 to ",
                  unsigned{GGAS_OP_PRODUCT});
    const size_t bytes = bytes_of(type);
    return reduce(p, {.elements = elements, .element_bytes = bytes, .type = type, .operation = operation}, from, to,
                  group, timeout_ns);
  });
}

ggas_rc ggas_group_allreduce_user(ggas_process* p, const void* from, void* to, size_t elements, size_t element_bytes,
                                  ggas_reducer reducer, void* state, uint32_t group, uint64_t timeout_ns) {
  return call(p, [&] {
    if (!reducer) return fail(GGAS_ERR_ARGUMENT, "reducer: must not be null");
    if (element_bytes == 0 || element_bytes > GGAS_ELEMENT_MOST)
      return fail(GGAS_ERR_SIZE, "element_bytes ", element_bytes, ": must be 1 ... ", GGAS_ELEMENT_MOST);
    return reduce(p, {.elements = elements, .element_bytes = element_bytes, .reducer = reducer, .state = state}, from,
                  to, group, timeout_ns);
  });
}
