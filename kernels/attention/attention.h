/* Attention for C: O = softmax(Q K^T * scale + mask) V on tensor cores and its gradients, with the
 * schedule as a parameter. kernels/attention/attention.hpp and backward.hpp are the same for C++.
 *
 * Compatibility: from version 1 on a program runs with every later library of version 1. Fields are
 * only added at the end of a struct, where 0 means what was so before; struct_size says which of
 * them a program knows.
 * Device: calls and new plans use the thread's current device, plans run on theirs.
 * Streams: work is enqueued on `stream`, null being the default one, and nothing waits. Calls that
 * may overlap need workspaces of their own.
 * Alignment: tensors and workspace 16 bytes, lse 4; strides are multiples of 8 elements.
 * Graphs: calls and runs may be captured; a graph keeps the pointers of its calls.
 * Determinism: a call gives the same bits on the same device under every launch but with the scan
 * "attach", and with "sawtooth" under "dynamic", where the order of additions depends on time; so
 * it does for dQ unless dq_additions is "ordered" or "separate".
 * Sizes of 0: without a query (batch, heads or seq_q) a call does nothing and succeeds; without a
 * key (seq_kv) O is 0 and lse -inf. Gradients of a side without rows do not exist, those of the
 * other side are then 0. */
#ifndef SAWTOOTH_ATTENTION_H
#define SAWTOOTH_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SAWTOOTH_API __attribute__((visibility("default")))
#else
#define SAWTOOTH_API
#endif

#define SAWTOOTH_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

typedef enum sawtooth_status {
  SAWTOOTH_OK = 0,
  SAWTOOTH_NULL_POINTER = 1,
  SAWTOOTH_BAD_SIZE = 2,
  SAWTOOTH_UNSUPPORTED_HEAD_DIM = 3,
  SAWTOOTH_UNSUPPORTED_TYPE = 4,
  SAWTOOTH_UNSUPPORTED_TILING = 5,
  SAWTOOTH_MISALIGNED = 6,
  SAWTOOTH_BAD_SCHEDULE = 7,
  SAWTOOTH_WORKSPACE_TOO_SMALL = 8,
  SAWTOOTH_NO_DEVICE = 9,
  SAWTOOTH_LAUNCH_FAILED = 10,
  SAWTOOTH_BAD_VERSION = 11
} sawtooth_status;

/* SAWTOOTH_FP32: head dims 32, 64 and 128, in both passes. */
typedef enum sawtooth_dtype {
  SAWTOOTH_BF16 = 0,
  SAWTOOTH_FP16 = 1,
  SAWTOOTH_FP32 = 2
} sawtooth_dtype;
typedef enum sawtooth_mask {
  SAWTOOTH_MASK_NONE = 0,
  SAWTOOTH_MASK_CAUSAL = 1,
  SAWTOOTH_MASK_WINDOW = 2,
  SAWTOOTH_MASK_LISTS = 3 /* forward only */
} sawtooth_mask;

/* Distances in elements, multiples of 8; all zero: contiguous [batch, head, length, dim]. */
typedef struct sawtooth_strides {
  int64_t batch, head, row;
} sawtooth_strides;

/* Start from sawtooth_attention_defaults. */
typedef struct sawtooth_attention {
  uint32_t struct_size; /* sizeof(sawtooth_attention) of this header */
  uint32_t version;     /* SAWTOOTH_API_VERSION of this header */
  int64_t batch, heads, kv_heads, seq_q, seq_kv, head_dim;
  sawtooth_dtype dtype;
  sawtooth_mask mask;
  int64_t window;        /* keys, read with SAWTOOTH_MASK_WINDOW */
  const void *q, *k, *v; /* device memory */
  void* o;
  float* lse; /* [batch, heads, seq_q], or null; read by the backward pass */
  sawtooth_strides q_strides, k_strides, v_strides, o_strides;
  float scale; /* > 0; 0 stands for 1 / sqrt(head_dim) */
  /* Not 0: the workspace's first sawtooth_workspace_state_bytes were zero once, and since then only
   * calls of this library used it, of whatever shape. Spares a memset, some 3 us. */
  int32_t workspace_starts_zero;
  /* The schedule. Nulls and zeros: automatic, by shape and device. */
  const char* family;      /* of the kernel: "mma", "mma-tma", "mma-fp32", "hopper", "hopper-short" */
  int64_t tile_q, tile_kv; /* without a family: the fastest kernel here that has the tile */
  const char* launch;      /* "grid", "static" ...: names of `sawtooth schedules`; "balanced" needs
                              hopper or hopper-short, and at most 512 workers */
  const char* scan;        /* "linear", "sawtooth", "attach" ... */
  const char* q_order;     /* "ascending", "descending", "fold" */
  int64_t section;         /* heads walked together */
  int64_t workers;         /* persistent CTAs */
  int64_t kv_split;        /* parts of an item's scan */
  int64_t prefetch;        /* steps; 0 is off */
  uint64_t seed;           /* of the scan "random" */
  /* Sequences of different lengths, packed one after another, forward only: `batch` + 1 entries
   * each, from 0 on, in host memory; sequence b has rows packed_q[b] to packed_q[b + 1] of Q and O,
   * and packed_kv[b] to packed_kv[b + 1] of K and V. Read by the call, or when a plan is made,
   * whose workspace no other call may use then; calls outside of plans cannot be captured. Tensors
   * are [rows, heads, dim] where strides are zero, lse is [heads, rows]; seq_q and seq_kv are not
   * read. kernels/attention/attention.hpp says more. */
  const int32_t *packed_q, *packed_kv; /* null: one length */
  const char* sequence_order;          /* of the items: "longest" or null, "given" */
  int32_t packed_may_change;           /* not 0: of a plan that sawtooth_plan_set_rows changes */
  /* Elements of a row of V and O, where not head_dim: 128 with head_dim 192, forward only. 0: as
   * head_dim. */
  int32_t head_dim_v;
  /* Of SAWTOOTH_MASK_LISTS, in device memory that every run reads: which K/V tiles each Q tile sees,
   * of every head alike, in tiles of tile_q and tile_kv rows, which are given then. The entries of Q
   * tile t stand at list_begin[t] to list_begin[t + 1] - 1 of list_entries, ascending: twice the
   * number of a K/V tile, plus 1 where some row of the Q tile does not see some key of it, or the
   * K/V tile is shorter than tile_kv. Of such tiles row i sees the keys [b, e) of two ranges b, e, b, e
   * from list_spans[4 i] on (16-byte aligned, 0 to seq_kv), or all where list_spans is null. */
  const int64_t* list_begin;
  const int32_t* list_entries;
  const int32_t* list_spans;
} sawtooth_attention;

/* The gradients of a call, beside what a sawtooth_attention says of it: start from
 * sawtooth_gradients_defaults. */
typedef struct sawtooth_gradients {
  uint32_t struct_size; /* sizeof(sawtooth_gradients) of this header */
  uint32_t version;     /* SAWTOOTH_API_VERSION of this header */
  const void* d_o;      /* device memory, of the call's dtype, as the tensors below */
  void *dq, *dk, *dv;   /* laid out like what they are of; need not be initialised */
  sawtooth_strides d_o_strides, dq_strides, dk_strides, dv_strides;
  /* "atomic" or null: in any order; "ordered": the same bits every time; "separate": the same bits
   * too, by a kernel of dQ that adds nothing */
  const char* dq_additions;
} sawtooth_gradients;

/* A prepared call: checked once, with its kernel, attributes and tensor maps. */
typedef struct sawtooth_plan sawtooth_plan;

/* One head of dimension 64, bf16, no mask, no rows, all else automatic. `struct_size` is
 * sizeof(sawtooth_attention); sawtooth_attention_defaults passes it. */
SAWTOOTH_API void sawtooth_attention_init(sawtooth_attention* call, size_t struct_size);
static inline void sawtooth_attention_defaults(sawtooth_attention* call) {
  sawtooth_attention_init(call, sizeof(sawtooth_attention));
}

/* No tensors, dQ added up in any order. */
SAWTOOTH_API void sawtooth_gradients_init(sawtooth_gradients* gradients, size_t struct_size);
static inline void sawtooth_gradients_defaults(sawtooth_gradients* gradients) {
  sawtooth_gradients_init(gradients, sizeof(sawtooth_gradients));
}

/* Device memory that the call needs on the current device; 0 bytes when the call is not valid
 * (status says why). */
SAWTOOTH_API sawtooth_status sawtooth_attention_workspace_bytes(const sawtooth_attention* call,
                                                                size_t* bytes);
/* Of the state that begins every workspace. */
SAWTOOTH_API size_t sawtooth_workspace_state_bytes(void);

/* Enqueues on `stream` and returns. A call that is not valid launches nothing and writes nothing.
 */
SAWTOOTH_API sawtooth_status sawtooth_attention_forward(const sawtooth_attention* call,
                                                        void* workspace, size_t workspace_bytes,
                                                        struct CUstream_st* stream);

/* dQ, dK and dV from d_o and what the forward pass of the same problem took and left: q, k, v, o
 * and lse of `call` are read. Its schedule is that of the backward pass, whose items are K/V tiles:
 * q_order and section order these, scan orders the Q tiles of an item, kv_split deals the query
 * heads of a K/V head to so many items, whose dK and dV another kernel sums up; no prefetch or
 * "balanced". Workspace and stream as in the forward pass. */
SAWTOOTH_API sawtooth_status sawtooth_backward_workspace_bytes(const sawtooth_attention* call,
                                                               const sawtooth_gradients* gradients,
                                                               size_t* bytes);
SAWTOOTH_API sawtooth_status sawtooth_attention_backward(const sawtooth_attention* call,
                                                         const sawtooth_gradients* gradients,
                                                         void* workspace, size_t workspace_bytes,
                                                         struct CUstream_st* stream);

/* Prepares a forward call for the current device; `*plan` is null unless this succeeds. Tensors and
 * workspace stay where they are. Any thread may run a plan, on any stream of its device. */
SAWTOOTH_API sawtooth_status sawtooth_plan_create(const sawtooth_attention* call, void* workspace,
                                                  size_t workspace_bytes, sawtooth_plan** plan);
SAWTOOTH_API sawtooth_status sawtooth_plan_run(const sawtooth_plan* plan,
                                               struct CUstream_st* stream);
/* Other lengths of a plan whose call has packed_may_change: as many sequences, and no more rows of
 * Q and of K and V than it was made for, in host memory that is read now. They hold for what comes
 * behind it on `stream`, of runs as of replays of graphs that have captured one; lse stays
 * [heads, rows that the plan was made for]. No captured stream. */
SAWTOOTH_API sawtooth_status sawtooth_plan_set_rows(const sawtooth_plan* plan,
                                                    const int32_t* packed_q,
                                                    const int32_t* packed_kv,
                                                    struct CUstream_st* stream);
/* What the plan has enqueued goes on. Null does nothing. */
SAWTOOTH_API void sawtooth_plan_destroy(sawtooth_plan* plan);

/* Few queries against many keys: decode. `q` and `o` are [batch, heads, seq_q, dim], and K and V
 * [batch, kv_heads, seq_kv, dim] or pages [page_count, kv_heads, page_rows, dim]; strides as above,
 * `batch` of K and V being from page to page. kernels/attention/decode.hpp says more.
 * Start from sawtooth_decode_defaults. */
typedef struct sawtooth_decode {
  uint32_t struct_size; /* sizeof(sawtooth_decode) of this header */
  uint32_t version;     /* SAWTOOTH_API_VERSION of this header */
  int64_t batch, heads, kv_heads, seq_q, seq_kv, head_dim;
  sawtooth_dtype dtype;
  sawtooth_mask mask;    /* none or causal: the last query sees all keys of its sequence */
  const void *q, *k, *v; /* device memory */
  void* o;
  float* lse; /* [batch, heads, seq_q], or null */
  sawtooth_strides q_strides, k_strides, v_strides, o_strides;
  const int32_t*
      lengths; /* device memory: keys of each sequence, read by every run; null: seq_kv */
  const int32_t* page_table; /* device memory, read by every run; null: no pages */
  int64_t table_stride;      /* entries from one sequence to the next */
  int64_t page_rows, page_count;
  float scale;                   /* > 0; 0 stands for 1 / sqrt(head_dim) */
  int32_t workspace_starts_zero; /* as of sawtooth_attention, and of the same workspaces */
  const char* family;            /* "mma", "mma-tma"; null: automatic */
  int64_t workers;               /* CTAs; 0: automatic */
  int32_t drawn_percent; /* was removed: 0 or less */
  int32_t drawn_shares;  /* was removed: 0 */
  /* Cascade: the first prefix_keys keys of groups of neighbouring sequences are those of the first
   * of them, and are read once for the rows of as many sequences as fit a tile; 0: none. */
  int64_t prefix_keys, prefix_group;
} sawtooth_decode;

typedef struct sawtooth_decode_plan sawtooth_decode_plan;

SAWTOOTH_API void sawtooth_decode_init(sawtooth_decode* call, size_t struct_size);
static inline void sawtooth_decode_defaults(sawtooth_decode* call) {
  sawtooth_decode_init(call, sizeof(sawtooth_decode));
}
SAWTOOTH_API sawtooth_status sawtooth_decode_workspace_bytes(const sawtooth_decode* call,
                                                             size_t* bytes);
/* A debug check: waits for `stream`, reads lengths and page table, and refuses what lies outside.
 */
SAWTOOTH_API sawtooth_status sawtooth_decode_check_tables(const sawtooth_decode* call,
                                                          struct CUstream_st* stream);
SAWTOOTH_API sawtooth_status sawtooth_decode_forward(const sawtooth_decode* call, void* workspace,
                                                     size_t workspace_bytes,
                                                     struct CUstream_st* stream);
SAWTOOTH_API sawtooth_status sawtooth_decode_plan_create(const sawtooth_decode* call,
                                                         void* workspace, size_t workspace_bytes,
                                                         sawtooth_decode_plan** plan);
SAWTOOTH_API sawtooth_status sawtooth_decode_plan_run(const sawtooth_decode_plan* plan,
                                                      struct CUstream_st* stream);
SAWTOOTH_API void sawtooth_decode_plan_destroy(sawtooth_decode_plan* plan);

/* SAWTOOTH_API_VERSION of the library. */
SAWTOOTH_API uint32_t sawtooth_api_version(void);

/* What was wrong with this thread's last call that returned a status; empty after SAWTOOTH_OK. */
SAWTOOTH_API const char* sawtooth_last_message(void);

#ifdef __cplusplus
}
#endif

#endif
