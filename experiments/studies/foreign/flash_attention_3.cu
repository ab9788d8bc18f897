// Launches FlashAttention-3's own kernels, without PyTorch, so that they can be timed and counted.
//
// Not part of the build: it compiles against two checkouts, hopper/ of Dao-AILab/flash-attention
// (its headers are the kernels) and include/ of NVIDIA/cutlass:
//
//   nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a --use_fast_math \
//     --expt-relaxed-constexpr --expt-extended-lambda -DCUTLASS_ENABLE_GDC_FOR_SM90 -DNDEBUG \
//     -I flash-attention/hopper -I cutlass/include -o flash_attention_3 \
//     experiments/studies/foreign/flash_attention_3.cu
//
//   ./flash_attention_3 LAUNCHES SEQ HEAD_DIM MASK [SEQ HEAD_DIM MASK ...]
//
// Batch 1, one head, bf16, forward. One launch of each shape is checked in a few rows against the
// CPU (exit 1 when they differ); LAUNCHES more follow, of which "seq head_dim mask us" is printed.
// census.py has `sawtooth record --flush` count them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "flash_fwd_launch_template.h"

namespace {

using Element = cutlass::bfloat16_t;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

struct Tensors {
  Element *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr;
  float* lse = nullptr;
  int* tickets = nullptr;
};

// As flash_api.cpp fills them for q, k, v of [1, seq, 1, head_dim].
Flash_fwd_params params_of(const Tensors& tensors, int seq, int head_dim, bool causal, int sms) {
  Flash_fwd_params p = {};
  p.is_bf16 = true;
  p.q_ptr = tensors.q;
  p.k_ptr = tensors.k;
  p.v_ptr = tensors.v;
  p.o_ptr = tensors.o;
  p.softmax_lse_ptr = tensors.lse;
  p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = head_dim;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = head_dim;
  p.q_batch_stride = p.k_batch_stride = p.v_batch_stride = p.o_batch_stride =
      int64_t(seq) * head_dim;
  p.v_dim_stride = 1;
  p.b = p.b_k = p.h = p.h_k = 1;
  p.seqlen_q = p.seqlen_k = p.seqlen_q_rounded = p.seqlen_k_rounded = p.total_q = p.total_k = seq;
  p.d = p.dv = p.d_rounded = p.dv_rounded = head_dim;
  p.scale_softmax = 1 / std::sqrt(float(head_dim));
  p.is_causal = causal;
  p.window_size_left = -1;
  p.window_size_right = causal ? 0 : -1;
  p.num_splits = 1;
  p.tile_count_semaphore = tensors.tickets;
  p.arch = 90;
  p.num_sm = sms;
  return p;
}

// The instances that run_mha_fwd_ takes for these shapes: clusters of two at head dim 128 without a
// mask where the number of Q tiles is even, tickets with a mask.
template <int HeadDim, bool Causal, int Cluster>
void run(Flash_fwd_params& params) {
  check(cudaMemsetAsync(params.tile_count_semaphore, 0, sizeof(int)), "cudaMemsetAsync");
  run_flash_fwd<90, HeadDim, HeadDim, Cluster, Element, Element, Causal, false, false, false, false,
                false, false, false, false, false>(params, nullptr);
}

void run(Flash_fwd_params& params) {
  if (params.d == 64) {
    params.is_causal ? run<64, true, 1>(params) : run<64, false, 1>(params);
  } else {
    params.is_causal ? run<128, true, 1>(params) : run<128, false, 2>(params);
  }
}

double difference(const std::vector<Element>& q, const std::vector<Element>& k,
                  const std::vector<Element>& v, const std::vector<Element>& o, int seq, int d,
                  bool causal) {
  double worst = 0;
  for (const int row : {0, 1, seq / 3, seq / 2 + 77, seq - 1}) {
    const int keys = causal ? row + 1 : seq;
    std::vector<double> weights(size_t(keys), 0.0);
    double largest = -1e300, total = 0;
    for (int j = 0; j < keys; ++j) {
      double dot = 0;
      for (int i = 0; i < d; ++i) {
        dot += double(float(q[size_t(row) * d + i])) * double(float(k[size_t(j) * d + i]));
      }
      weights[j] = dot / std::sqrt(double(d));
      largest = std::max(largest, weights[j]);
    }
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    double error = 0, norm = 0;
    for (int i = 0; i < d; ++i) {
      double sum = 0;
      for (int j = 0; j < keys; ++j) sum += weights[j] * double(float(v[size_t(j) * d + i]));
      const double wanted = sum / total;
      const double off = double(float(o[size_t(row) * d + i])) - wanted;
      error += off * off;
      norm += wanted * wanted;
    }
    worst = std::max(worst, std::sqrt(error / norm));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double largest_difference = 1e-2;  // bf16, relative, as a norm
  if (argc < 5 || (argc - 2) % 3 != 0) {
    std::fprintf(stderr, "usage: flash_attention_3 LAUNCHES SEQ HEAD_DIM MASK ...\n");
    return 2;
  }
  const int launches = std::atoi(argv[1]);
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  for (int at = 2; at < argc; at += 3) {
    const int seq = std::atoi(argv[at]), head_dim = std::atoi(argv[at + 1]);
    const bool causal = std::strcmp(argv[at + 2], "causal") == 0;
    if ((head_dim != 64 && head_dim != 128) || seq < 512 || seq % 512 != 0) {
      std::fprintf(stderr, "head dim is 64 or 128, lengths are multiples of 512\n");
      return 2;
    }
    const size_t count = size_t(seq) * head_dim;
    std::vector<Element> host[4];
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> pool(1 << 20);
    for (float& value : pool) value = normal(random);
    for (int i = 0; i < 4; ++i) {
      host[i].resize(count);
      size_t offset = random();
      for (Element& value : host[i]) value = Element(pool[offset++ % (pool.size() - 3)]);
    }
    Tensors tensors;
    Element** const places[] = {&tensors.q, &tensors.k, &tensors.v, &tensors.o};
    for (int i = 0; i < 4; ++i) {
      check(cudaMalloc(places[i], count * sizeof(Element)), "cudaMalloc");
      check(cudaMemcpy(*places[i], host[i].data(), count * sizeof(Element), cudaMemcpyDefault),
            "cudaMemcpy");
    }
    check(cudaMalloc(&tensors.lse, size_t(seq) * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&tensors.tickets, sizeof(int)), "cudaMalloc");
    Flash_fwd_params params = params_of(tensors, seq, head_dim, causal, device.multiProcessorCount);
    run(params);
    check(cudaDeviceSynchronize(), "launch");
    check(cudaMemcpy(host[3].data(), tensors.o, count * sizeof(Element), cudaMemcpyDefault),
          "cudaMemcpy");
    const double off = difference(host[0], host[1], host[2], host[3], seq, head_dim, causal);
    if (!(off <= largest_difference)) {
      std::fprintf(stderr, "S %d D %d %s: output is off by %g\n", seq, head_dim, argv[at + 2], off);
      return 1;
    }
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    for (int launch = 0; launch < launches; ++launch) {
      check(cudaEventRecord(begin), "cudaEventRecord");
      run(params);
      check(cudaEventRecord(end), "cudaEventRecord");
      check(cudaDeviceSynchronize(), "launch");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      std::printf("%d %d %s %.2f\n", seq, head_dim, argv[at + 2], double(ms) * 1000);
    }
    for (Element** place : places) check(cudaFree(*place), "cudaFree");
    check(cudaFree(tensors.lse), "cudaFree");
    check(cudaFree(tensors.tickets), "cudaFree");
  }
  return 0;
}
