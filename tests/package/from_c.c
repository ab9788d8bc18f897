/* The installed C API: a valid call knows its workspace, an invalid one says what is wrong. */
#include <kernels/attention/attention.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static char tensor[64] __attribute__((aligned(16)));
  sawtooth_attention call;
  sawtooth_gradients gradients;
  size_t bytes = 0;
  sawtooth_attention_defaults(&call);
  call.seq_q = call.seq_kv = 128;
  call.q = call.k = call.v = call.o = tensor;
  if (sawtooth_attention_workspace_bytes(&call, &bytes) != SAWTOOTH_OK || bytes == 0) {
    fprintf(stderr, "valid call refused: %s\n", sawtooth_last_message());
    return 1;
  }
  sawtooth_gradients_defaults(&gradients);
  gradients.d_o = gradients.dq = gradients.dk = gradients.dv = tensor;
  call.lse = (float*)tensor;
  if (sawtooth_backward_workspace_bytes(&call, &gradients, &bytes) != SAWTOOTH_OK || bytes == 0) {
    fprintf(stderr, "valid gradients refused: %s\n", sawtooth_last_message());
    return 1;
  }
  call.head_dim = 7;
  if (sawtooth_attention_forward(&call, tensor, sizeof tensor, NULL) !=
          SAWTOOTH_UNSUPPORTED_HEAD_DIM ||
      strstr(sawtooth_last_message(), "head_dim is 7") == NULL) {
    fprintf(stderr, "invalid call: %s\n", sawtooth_last_message());
    return 1;
  }
  return 0;
}
