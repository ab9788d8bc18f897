/* Attention forward for C: O = softmax(Q K^T * scale + mask) V on tensor cores, with the schedule
 * as a parameter. kernels/attention/attention.hpp is the same for C++ and says what the fields mean. */
#ifndef SAWTOOTH_ATTENTION_H
#define SAWTOOTH_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

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
  SAWTOOTH_LAUNCH_FAILED = 10
} sawtooth_status;

typedef enum sawtooth_dtype { SAWTOOTH_BF16 = 0, SAWTOOTH_FP16 = 1 } sawtooth_dtype;
typedef enum sawtooth_mask {
  SAWTOOTH_MASK_NONE = 0,
  SAWTOOTH_MASK_CAUSAL = 1,
  SAWTOOTH_MASK_WINDOW = 2
} sawtooth_mask;

/* Distances in elements, multiples of 8; all zero: contiguous [batch, head, length, dim]. */
typedef struct sawtooth_strides {
  int64_t batch, head, row;
} sawtooth_strides;

/* Set every field, or start from sawtooth_attention_defaults. */
typedef struct sawtooth_attention {
  int64_t batch, heads, kv_heads, seq_q, seq_kv, head_dim;
  sawtooth_dtype dtype;
  sawtooth_mask mask;
  int64_t window;          /* keys, read with SAWTOOTH_MASK_WINDOW */
  float scale;             /* > 0; 0 stands for 1 / sqrt(head_dim) */
  int64_t tile_q, tile_kv; /* zeros: the first of the head dim that fits */
  const char* launch;      /* "grid", "static" ...: names of `sawtooth schedules` */
  const char* scan;        /* "linear", "sawtooth", "attach" ... */
  const char* q_order;     /* "ascending", "descending", "fold" */
  int64_t section;         /* heads walked together */
  int64_t workers;         /* CTAs, but for grid */
  int64_t kv_split;
  int64_t prefetch; /* steps; 0 is off */
  uint64_t seed;
  const void *q, *k, *v; /* device memory, 16-byte aligned */
  void* o;
  float* lse; /* [batch, heads, seq_q], or null */
  sawtooth_strides q_strides, k_strides, v_strides, o_strides;
} sawtooth_attention;

/* One head, bf16, no mask, linear grid launch, no tensors. */
void sawtooth_attention_defaults(sawtooth_attention* call);

/* Device memory that the call needs; 0 bytes when the call is not valid (status says why). */
sawtooth_status sawtooth_attention_workspace_bytes(const sawtooth_attention* call, size_t* bytes);

/* Enqueues on `stream` and returns. A call that is not valid launches nothing and writes nothing.
 */
sawtooth_status sawtooth_attention_forward(const sawtooth_attention* call, void* workspace,
                                           size_t workspace_bytes, struct CUstream_st* stream);

/* What was wrong with this thread's last call; empty after SAWTOOTH_OK. */
const char* sawtooth_last_message(void);

#ifdef __cplusplus
}
#endif

#endif
