// SPDX-License-Identifier: Apache-2.0
// Forms of a call: by a thread, a warp, a block, or the group that is the first argument; the same words for all of
// them. What a call takes: places as pointers or as global_ptr, and whatever converts to what lies there. Included by
// rma.cuh.
#pragma once

#include "ggas/detail/access/global_ptr.cuh"
#include "ggas/detail/sync/group.cuh"

namespace ggas {

// Who makes a call that takes a group.
using thread = detail::thread_group;
template <unsigned Lanes>
using tile = detail::tile_group<Lanes>;
using warp = detail::warp_group;
using warps = detail::warps_group;
using block = detail::block_group;
using blocks = detail::blocks_group;
using grid = detail::grid_group;

namespace detail {

template <class P>
struct place_of_type {
  static constexpr bool is_one = false;
};
template <class T>
struct place_of_type<T*> {
  static constexpr bool is_one = true;
  using element = T;
  GGAS_DEVICE static T* address(T* p) { return p; }
};
template <class T>
struct place_of_type<const T*> {
  static constexpr bool is_one = true;
  using element = T;
  GGAS_DEVICE static const T* address(const T* p) { return p; }
};
template <class T>
struct place_of_type<global_ptr<T>> {
  static constexpr bool is_one = true;
  using element = T;
  GGAS_DEVICE static T* address(const global_ptr<T>& p) { return p.get(); }
};

template <class P>
concept a_place = place_of_type<P>::is_one;
template <class G>
concept a_group = requires(const G& g) {
  g.rank();
  g.sync();
};
template <class P>
GGAS_DEVICE auto address_of(const P& p) {
  return place_of_type<P>::address(p);
}

}  // namespace detail

namespace detail {
// Which block of those of a call this is.
struct call_part {
  unsigned block, blocks;
};
GGAS_DEVICE call_part part_of(const block_group&) { return {0, 1}; }
GGAS_DEVICE call_part part_of(const grid_group&) { return {block_rank(), block_count()}; }
}  // namespace detail

// What lies at a place.
template <class P>
using element_at = typename detail::place_of_type<P>::element;

// A place whose type the call knows.
template <class T>
struct place_for {
  T* address;
  GGAS_DEVICE place_for(T* p) : address(p) {}
  GGAS_DEVICE place_for(const global_ptr<detail::without_const<T>>& p) : address(p.get()) {}
};

}  // namespace ggas

// GGAS_FORMS(name, (parameters), call): name by a thread, name_warp, name_block, and name with a group in front. `call`
// uses `group` and the parameters; P is the type of the place that the call is about.
#define GGAS_LIST(...) __VA_ARGS__
#define GGAS_FORM(name, who, parameters, ...) \
  template <ggas::detail::a_place P>          \
  GGAS_DEVICE ggas_status name parameters {   \
    using namespace ggas::detail;             \
    [[maybe_unused]] const ggas::who group;   \
    return __VA_ARGS__;                       \
  }
#define GGAS_FORM_OF_GROUP(name, parameters, ...)                      \
  template <ggas::detail::a_group G, ggas::detail::a_place P>          \
  GGAS_DEVICE ggas_status name(const G& group, GGAS_LIST parameters) { \
    using namespace ggas::detail;                                      \
    return __VA_ARGS__;                                                \
  }
#define GGAS_FORMS(name, parameters, ...)                 \
  GGAS_FORM(name, thread, parameters, __VA_ARGS__)        \
  GGAS_FORM(name##_warp, warp, parameters, __VA_ARGS__)   \
  GGAS_FORM(name##_block, block, parameters, __VA_ARGS__) \
  GGAS_FORM_OF_GROUP(name, parameters, __VA_ARGS__)
// The same of calls that may wait; `failed` records a wait that failed, by the leader.
#define GGAS_WAITING_FORM_OF(name, call, who, parameters, failed, ...) \
  template <ggas::detail::a_place P>                                   \
  GGAS_DEVICE ggas_status call parameters {                            \
    using namespace ggas::detail;                                      \
    [[maybe_unused]] const ggas::who group;                            \
    GGAS_CALL(name, group, if (group.leads()) failed, __VA_ARGS__);    \
  }
#define GGAS_WAITING_FORM(name, who, parameters, failed, ...) \
  GGAS_WAITING_FORM_OF(name, name, who, parameters, failed, __VA_ARGS__)
#define GGAS_WAITING_FORMS(name, parameters, failed, ...)                          \
  GGAS_WAITING_FORM_OF(name, name, thread, parameters, failed, __VA_ARGS__)        \
  GGAS_WAITING_FORM_OF(name, name##_warp, warp, parameters, failed, __VA_ARGS__)   \
  GGAS_WAITING_FORM_OF(name, name##_block, block, parameters, failed, __VA_ARGS__) \
  template <ggas::detail::a_group G, ggas::detail::a_place P>                      \
  GGAS_DEVICE ggas_status name(const G& group, GGAS_LIST parameters) {             \
    using namespace ggas::detail;                                                  \
    GGAS_CALL(name, group, if (group.leads()) failed, __VA_ARGS__);                \
  }
// GGAS_COLLECTIVE(name, (parameters), (facts), (arguments), call): name_block by one block of each member, name_grid by
// all blocks of the grid of each member, name with ggas::block{} or ggas::grid{} in front. `call` uses `part`, a
// call_part, and the parameters, among them `team` and `timeout_ns`; `facts` are what its guard looks at, `arguments`
// its call_arguments.
#define GGAS_COLLECTIVE_OF(name, call, caller, template_parameters, parameters, facts, arguments, ...)  \
  template <GGAS_LIST template_parameters>                                                              \
  GGAS_DEVICE ggas_status call parameters {                                                             \
    using namespace ggas::detail;                                                                       \
    const auto& calling = caller;                                                                       \
    const call_part part = part_of(calling);                                                            \
    constexpr uint32_t bytes = sizeof(ggas::element_at<P>);                                             \
    GGAS_GUARD(GGAS_LIST facts)                                                                         \
    GGAS_CALL(name, calling, record_call(this_call, {GGAS_LIST arguments}), GGAS_GUARDED(__VA_ARGS__)); \
  }
#define GGAS_COLLECTIVE(name, parameters, facts, arguments, ...)                                                 \
  GGAS_COLLECTIVE_OF(name, name##_block, ggas::block{}, (ggas::detail::a_place P), parameters, facts, arguments, \
                     __VA_ARGS__)                                                                                \
  GGAS_COLLECTIVE_OF(name, name##_grid, ggas::grid{}, (ggas::detail::a_place P), parameters, facts, arguments,   \
                     __VA_ARGS__)                                                                                \
  GGAS_COLLECTIVE_OF(name, name, group, (ggas::detail::a_group G, ggas::detail::a_place P),                      \
                     (const G& group, GGAS_LIST parameters), facts, arguments, __VA_ARGS__)
