#include <algorithm>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/hopper/fragment.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/permutation.hpp"
#include "tests/kernels/hopper/tensors.hpp"

namespace sawtooth::kernels::hopper {

namespace {

__global__ void fill_random(uint16_t* to, int64_t count, uint64_t seed, bool bf16) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint64_t word = mix_seed(seed, uint64_t(i));
  const float u = (float(word >> 40) + 0.5f) / 16777216.0f;
  const float w = float((word >> 8) & 0xffffff) / 16777216.0f;
  const float normal = sqrtf(-2 * logf(u)) * cospif(2 * w);
  to[i] = bf16 ? __bfloat16_as_ushort(__float2bfloat16(normal))
               : __half_as_ushort(__float2half(normal));
}

// Of a cut last wave: two places a worker, the H200's SMs at most; rows of two CTAs.
constexpr int64_t most_pieces = 2 * 132;
constexpr int64_t most_q_rows = 256;

Strides strides_of(Layout layout, int64_t heads, int64_t rows, int64_t dim) {
  if (layout == Layout::bhsd) return {heads * rows * dim, rows * dim, dim};
  return {rows * heads * dim, dim, heads * dim};
}

}  // namespace

Tensors::Tensors(const Problem& p, Layout layout, uint64_t seed)
    : q(p.batch * p.heads * p.seq_q * p.head_dim),
      k(p.batch * p.kv_heads * p.seq_kv * p.head_dim),
      v(k.size),
      o(q.size),
      lse(p.batch * p.heads * p.seq_q),
      ticket(1),
      attach(p.batch * p.kv_heads),
      pieces(most_pieces * most_q_rows * (p.head_dim + piece_floats_beside_o)),
      piece_arrivals(most_pieces * most_q_rows / warp_rows) {
  const bool bf16 = p.dtype == ElementType::bf16;
  const auto fill = [&](DeviceArray<uint16_t>& t, uint64_t s) {
    fill_random<<<unsigned(ceil_div(t.size, 256)), 256>>>(t.data, t.size, s, bf16);
  };
  fill(q, seed);
  fill(k, seed + 1);
  fill(v, seed + 2);
  arguments.problem = p;
  arguments.q = q.data;
  arguments.k = k.data;
  arguments.v = v.data;
  arguments.o = o.data;
  arguments.lse = lse.data;
  arguments.q_strides = arguments.o_strides = strides_of(layout, p.heads, p.seq_q, p.head_dim);
  arguments.k_strides = arguments.v_strides = strides_of(layout, p.kv_heads, p.seq_kv, p.head_dim);
  arguments.scale_log2 = float(scale(p) * 1.4426950408889634);
  constexpr uint64_t evict_first = 0x12F0000000000000;
  constexpr uint64_t evict_last = 0x14F0000000000000;
  arguments.policies = {evict_first, evict_last, evict_last};
  arguments.ticket = ticket.data;
  arguments.attach_tiles = attach.data;
  CHECK_CUDA(cudaMemset(pieces.data, 0xff, size_t(pieces.size) * sizeof(float)));  // NaN
  arguments.pieces = pieces.data;
  arguments.piece_arrivals = piece_arrivals.data;
  CHECK_CUDA(cudaGetLastError());
}

bool Tensors::state_is_dirty() const {
  unsigned long long drawn = 0;
  std::vector<unsigned> arrivals(static_cast<size_t>(piece_arrivals.size));
  CHECK_CUDA(cudaMemcpy(&drawn, ticket.data, sizeof drawn, cudaMemcpyDefault));
  CHECK_CUDA(cudaMemcpy(arrivals.data(), piece_arrivals.data, arrivals.size() * sizeof(unsigned),
                        cudaMemcpyDefault));
  return drawn != 0 || std::any_of(arrivals.begin(), arrivals.end(), [](unsigned n) { return n; });
}

std::string describe(const Case& c) {
  const Problem& p = c.problem;
  static const char* masks[] = {"none", "causal", "window"};
  char text[256];
  std::snprintf(text, sizeof text,
                "B%d H%d/%d Sq%d Skv%d %s%s %s scan %s launch %s pre %d W%d sec %d qo %d",
                int(p.batch), int(p.heads), int(p.kv_heads), int(p.seq_q), int(p.seq_kv),
                masks[int(p.mask.kind)],
                p.mask.kind == MaskKind::window ? std::to_string(p.mask.window).c_str() : "",
                c.layout == Layout::bhsd ? "bhsd" : "bshd",
                std::string(Scans::info()[size_t(c.schedule.scan.index)].name).c_str(),
                std::string(Launches::info()[size_t(c.schedule.launch.index)].name).c_str(),
                int(c.schedule.prefetch), int(c.schedule.workers), int(c.schedule.order.section),
                c.schedule.order.q_order.index);
  return text;
}

}  // namespace sawtooth::kernels::hopper
