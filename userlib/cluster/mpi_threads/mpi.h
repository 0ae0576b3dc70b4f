/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * MPI for programs in C whose ranks are threads of the host engine, in one process: the calls of ggas/mpi.cuh with the
 * names and types of MPI-2. A program compiles unchanged and links with libggas_mpi_threads:
 *
 *     ./ggas run --ranks 64 program.c
 *
 * The header renames main(), which every rank calls. Ranks share global and static variables and files, as threads do;
 * exit() ends all. An error ends the program, unless MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) was
 * called before. What is there, and what is left out: docs/mpi-in-kernels.md.
 */
#ifndef GGAS_MPI_THREADS_H
#define GGAS_MPI_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/** A number, and the bytes of an element below. */
typedef int MPI_Datatype;
#define MPI_DATATYPE_NULL 0
#define MPI_PACKED 0x101
#define MPI_BYTE 0x201
#define MPI_CHAR 0x301
#define MPI_SIGNED_CHAR 0x401
#define MPI_UNSIGNED_CHAR 0x501
#define MPI_SHORT 0x602
#define MPI_UNSIGNED_SHORT 0x702
#define MPI_INT 0x804
#define MPI_UNSIGNED 0x904
#define MPI_LONG 0xa08
#define MPI_UNSIGNED_LONG 0xb08
#define MPI_LONG_LONG 0xc08
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_UNSIGNED_LONG_LONG 0xd08
#define MPI_FLOAT 0xe04
#define MPI_DOUBLE 0xf08
#define MPI_INT8_T MPI_SIGNED_CHAR
#define MPI_UINT8_T MPI_UNSIGNED_CHAR
#define MPI_INT16_T MPI_SHORT
#define MPI_UINT16_T MPI_UNSIGNED_SHORT
#define MPI_INT32_T MPI_INT
#define MPI_UINT32_T MPI_UNSIGNED
#define MPI_INT64_T MPI_LONG
#define MPI_UINT64_T MPI_UNSIGNED_LONG

typedef int MPI_Op;
enum { MPI_OP_NULL, MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR };
typedef int MPI_Comm;
enum { MPI_COMM_NULL, MPI_COMM_WORLD };
typedef struct ggas_mpi_group* MPI_Group;
#define MPI_GROUP_NULL ((MPI_Group)0)
enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };
typedef int MPI_Info;
enum { MPI_INFO_NULL };
typedef int MPI_Errhandler;
enum { MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN };
typedef long long MPI_Aint;
typedef long long MPI_Count;

enum {
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
  MPI_ERR_NO_SPACE,
  MPI_ERR_TIMEOUT,
  MPI_ERR_UNSUPPORTED_OPERATION,
  MPI_ERR_OTHER,
  MPI_ERR_GROUP,
  MPI_ERR_LASTCODE = MPI_ERR_GROUP
};
enum { MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -1, MPI_PROC_NULL = -2, MPI_UNDEFINED = -32766 };
enum { MPI_TAG_UB = 0x7ffffe, MPI_VERSION = 2, MPI_SUBVERSION = 1 };
enum { MPI_MAX_PROCESSOR_NAME = 256, MPI_MAX_ERROR_STRING = 256 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };

typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
  unsigned long long recv_bytes;
} MPI_Status;
typedef struct ggas_mpi_request* MPI_Request;
#define MPI_REQUEST_NULL ((MPI_Request)0)
typedef int MPI_Win;
#define MPI_WIN_NULL 0
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)1)
#define MPI_BOTTOM ((void*)0)

int MPI_Init(int* argc, char*** argv);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalize(void);
int MPI_Finalized(int* flag);
int MPI_Abort(MPI_Comm comm, int status);
int MPI_Get_version(int* version, int* subversion);
int MPI_Get_processor_name(char* name, int* length);
int MPI_Error_string(int error, char* text, int* length);
int MPI_Error_class(int error, int* error_class);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made);
int MPI_Comm_compare(MPI_Comm a, MPI_Comm b, int* how);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group);
int MPI_Group_size(MPI_Group group, int* size);
int MPI_Group_rank(MPI_Group group, int* rank);
int MPI_Group_incl(MPI_Group group, int n, const int* ranks, MPI_Group* made);
int MPI_Group_excl(MPI_Group group, int n, const int* ranks, MPI_Group* made);
int MPI_Group_union(MPI_Group a, MPI_Group b, MPI_Group* made);
int MPI_Group_intersection(MPI_Group a, MPI_Group b, MPI_Group* made);
int MPI_Group_difference(MPI_Group a, MPI_Group b, MPI_Group* made);
int MPI_Group_translate_ranks(MPI_Group a, int n, const int* ranks, MPI_Group b, int* there);
int MPI_Group_compare(MPI_Group a, MPI_Group b, int* how);
int MPI_Group_free(MPI_Group* group);
double MPI_Wtime(void);
double MPI_Wtick(void);

enum { MPI_ORDER_C, MPI_ORDER_FORTRAN };
int MPI_Type_size(MPI_Datatype type, int* size);
int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent);
int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent);
int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_indexed(int count, const int* lengths, const int* places, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_create_hindexed(int count, const int* lengths, const MPI_Aint* offsets, MPI_Datatype type,
                             MPI_Datatype* made);
int MPI_Type_create_indexed_block(int count, int length, const int* places, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_create_hindexed_block(int count, int length, const MPI_Aint* offsets, MPI_Datatype type,
                                   MPI_Datatype* made);
int MPI_Type_create_struct(int count, const int* lengths, const MPI_Aint* offsets, const MPI_Datatype* types,
                           MPI_Datatype* made);
int MPI_Type_create_subarray(int dimensions, const int* sizes, const int* parts, const int* starts, int order,
                             MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_create_resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* made);
int MPI_Type_dup(MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_commit(MPI_Datatype* type);
int MPI_Type_free(MPI_Datatype* type);
int MPI_Get_address(const void* place, MPI_Aint* address);

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type, int dest, int send_tag, void* buffer,
                 int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int send_tag, int source, int tag,
                         MPI_Comm comm, MPI_Status* status);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses);
int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status);
int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int MPI_Cancel(MPI_Request* request);
int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request);
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Start(MPI_Request* request);
int MPI_Startall(int count, MPI_Request* requests);
int MPI_Request_free(MPI_Request* request);
int MPI_Psend_init(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request);
int MPI_Pready(int partition, MPI_Request request);
int MPI_Pready_range(int first, int last, MPI_Request request);
int MPI_Pready_list(int count, const int* partitions, MPI_Request request);
int MPI_Parrived(MPI_Request request, int partition, int* flag);
int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int* size);
int MPI_Pack(const void* from, int count, MPI_Datatype type, void* packed, int size, int* position, MPI_Comm comm);
int MPI_Unpack(const void* packed, int size, int* position, void* to, int count, MPI_Datatype type, MPI_Comm comm);

int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type, int root,
               MPI_Comm comm);
int MPI_Scatter(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type, int root,
                MPI_Comm comm);
int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                  MPI_Comm comm);
int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                 MPI_Comm comm);
int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts, const int* displacements,
                MPI_Datatype to_type, int root, MPI_Comm comm);
int MPI_Scatterv(const void* from, const int* counts, const int* displacements, MPI_Datatype type, void* to, int count,
                 MPI_Datatype to_type, int root, MPI_Comm comm);
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                   const int* displacements, MPI_Datatype to_type, MPI_Comm comm);
int MPI_Alltoallv(const void* from, const int* counts, const int* displacements, MPI_Datatype type, void* to,
                  const int* to_counts, const int* to_displacements, MPI_Datatype to_type, MPI_Comm comm);
int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter(const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/** What a program may say of a fence; not used. */
enum {
  MPI_MODE_NOCHECK = 1,
  MPI_MODE_NOSTORE = 2,
  MPI_MODE_NOPUT = 4,
  MPI_MODE_NOPRECEDE = 8,
  MPI_MODE_NOSUCCEED = 16
};
int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win);
int MPI_Win_free(MPI_Win* win);
int MPI_Win_fence(int assertion, MPI_Win win);
int MPI_Put(const void* from, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win win);
int MPI_Get(void* to, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win win);

#ifdef __cplusplus
}
#endif

/** The program's main(), called by every rank; the process's own main() is in the library. */
#define main ggas_mpi_main

#endif
