// SPDX-License-Identifier: Apache-2.0
// Names of MPI: types, operations, errors, special ranks. Included by mpi.cuh.
#pragma once

#include "ggas/message.cuh"

// A number, and the bytes of an element below.
enum MPI_Datatype : int {
  MPI_DATATYPE_NULL = 0,
  MPI_PACKED = 0x101,
  MPI_BYTE = 0x201,
  MPI_CHAR = 0x301,
  MPI_SIGNED_CHAR = 0x401,
  MPI_UNSIGNED_CHAR = 0x501,
  MPI_SHORT = 0x602,
  MPI_UNSIGNED_SHORT = 0x702,
  MPI_INT = 0x804,
  MPI_UNSIGNED = 0x904,
  MPI_LONG = 0xa08,
  MPI_UNSIGNED_LONG = 0xb08,
  MPI_LONG_LONG = 0xc08,
  MPI_UNSIGNED_LONG_LONG = 0xd08,
  MPI_FLOAT = 0xe04,
  MPI_DOUBLE = 0xf08,
  MPI_LARGEST_TYPE = MPI_DOUBLE
};
constexpr MPI_Datatype MPI_LONG_LONG_INT = MPI_LONG_LONG, MPI_INT8_T = MPI_SIGNED_CHAR, MPI_UINT8_T = MPI_UNSIGNED_CHAR,
                       MPI_INT16_T = MPI_SHORT, MPI_UINT16_T = MPI_UNSIGNED_SHORT, MPI_INT32_T = MPI_INT,
                       MPI_UINT32_T = MPI_UNSIGNED, MPI_INT64_T = MPI_LONG, MPI_UINT64_T = MPI_UNSIGNED_LONG;
#define TYPE_SIZE(type) (static_cast<int>(type) & 0xff)

enum MPI_Op : int {
  MPI_OP_NULL,
  MPI_SUM,
  MPI_PROD,
  MPI_MIN,
  MPI_MAX,
  MPI_LAND,
  MPI_LOR,
  MPI_LXOR,
  MPI_BAND,
  MPI_BOR,
  MPI_BXOR
};
enum MPI_Comm : int { MPI_COMM_NULL, MPI_COMM_WORLD };
enum MPI_Info : int { MPI_INFO_NULL };

enum : int {
  MPI_SUCCESS,
  MPI_ERR_BUFFER,
  MPI_ERR_COUNT,
  MPI_ERR_TYPE,
  MPI_ERR_TAG,
  MPI_ERR_COMM,
  MPI_ERR_RANK,
  MPI_ERR_REQUEST,
  MPI_ERR_ROOT,
  MPI_ERR_OP,
  MPI_ERR_ARG,
  MPI_ERR_TRUNCATE,
  MPI_ERR_WIN,
  MPI_ERR_DISP,
  MPI_ERR_NO_SPACE,               // MPI_Send with GGAS_MPI_ORIGINAL: no room for the message
  MPI_ERR_TIMEOUT,                // GGAS_MPI_TIMEOUT_NS are over
  MPI_ERR_UNSUPPORTED_OPERATION,  // left out
  MPI_ERR_OTHER,
  MPI_ERR_GROUP,
  MPI_ERR_LASTCODE = MPI_ERR_GROUP
};
enum : int { MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -1, MPI_PROC_NULL = -2, MPI_ROOT = -3, MPI_UNDEFINED = -32766 };
enum : int { MPI_TAG_LB = 0, MPI_TAG_UB = 0x7ffffe, MPI_VERSION = 2, MPI_SUBVERSION = 1 };

enum : int { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };

using MPI_Aint = long long;
using MPI_Count = long long;

struct MPI_Status {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
  uint64_t recv_bytes;
};
namespace ggas::mpi {
struct packed_items;
struct partitioned;
}  // namespace ggas::mpi
// A request of the library; a persistent one also has the call that it starts. A partitioned one has `parts` instead.
struct MPI_Request {
  ggas_message_request active;
  void* buffer;
  uint64_t bytes;
  int peer, tag;
  uint32_t info;
  int kind;                         // 0: none, or of one message; 1, 2: persistent send, receive
  ggas::mpi::packed_items* packed;  // of a derived type
  ggas::mpi::partitioned* parts;    // of a partitioned one
  GGAS_DEVICE bool is_null() const { return active.number == 0 && kind == 0 && !parts; }
  GGAS_DEVICE bool operator==(const MPI_Request& other) const {
    return is_null() ? other.is_null()
                     : active.number == other.active.number && kind == other.kind && buffer == other.buffer &&
                           parts == other.parts;
  }
};
#define MPI_REQUEST_NULL \
  MPI_Request {}
#define MPI_STATUS_IGNORE static_cast<MPI_Status*>(nullptr)
#define MPI_STATUSES_IGNORE static_cast<MPI_Status*>(nullptr)
#define MPI_IN_PLACE reinterpret_cast<void*>(1)
#define MPI_BOTTOM static_cast<void*>(nullptr)
