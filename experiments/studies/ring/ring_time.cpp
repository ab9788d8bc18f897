// Times ring attention over the GPUs of a host beside the plain call of the whole problem on one of
// them, in one process and alternating, on random inputs; a CSV row a shape on standard output:
//   ring_time [GPUS [copy|nccl]]    (2 copy)
// of_ideal is time on one GPU / (GPUs x time of the ring): 1 where nothing is lost.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "experiments/sawtooth/support/statistics.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/common/device_buffer.hpp"
#include "kernels/ring/ring_attention.hpp"
#include "scheduler/permutation.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

constexpr int rounds = 5;  // after one that warms up
constexpr int64_t heads = 8;
constexpr int64_t random_values = int64_t{1} << 24;

/// bf16 values in (-2, 2), uniform in sign, exponent and mantissa.
std::vector<uint16_t> random_block() {
  std::vector<uint16_t> values(static_cast<size_t>(random_values));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t word = mix_seed(1, i);
    values[i] = uint16_t((word & 0x807f) | (0x3f80 - ((word >> 16) % 3) * 0x80));
  }
  return values;
}

/// Device memory of `bytes`, from a place in the block of random values that `seed` draws.
void fill(void* to, int64_t bytes, uint64_t seed) {
  static const std::vector<uint16_t> block = random_block();
  const auto block_bytes = int64_t(block.size() * sizeof block[0]);
  int64_t from = int64_t(mix_seed(seed, 0) % block.size()) * 2;
  for (int64_t at = 0; at < bytes;) {
    const int64_t piece = std::min(bytes - at, block_bytes - from);
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(static_cast<char*>(to) + at,
                                   reinterpret_cast<const char*>(block.data()) + from,
                                   size_t(piece), cudaMemcpyHostToDevice));
    at += piece;
    from = 0;
  }
}

/// The plain call of the whole problem on device 0.
class OneGpu {
 public:
  explicit OneGpu(const Problem& problem)
      : bytes_(problem.batch * problem.heads * problem.seq_q * problem.row_bytes()),
        q_(bytes_),
        k_(bytes_),
        v_(bytes_),
        o_(bytes_) {
    AttentionForward call;
    call.problem = problem;
    call.q = q_.as();
    call.k = k_.as();
    call.v = v_.as();
    call.o = o_.as();
    fill(q_.as(), bytes_, 1);
    fill(k_.as(), bytes_, 2);
    fill(v_.as(), bytes_, 3);
    const auto workspace = int64_t(workspace_bytes(call));
    workspace_ = DeviceBuffer(workspace);
    const Outcome made = plan_.make(call, workspace_.as(), size_t(workspace));
    if (!made) throw std::runtime_error(made.message);
    SAWTOOTH_CUDA_CHECK(cudaEventCreate(&start_));
    SAWTOOTH_CUDA_CHECK(cudaEventCreate(&stop_));
  }
  ~OneGpu() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  OneGpu(const OneGpu&) = delete;
  OneGpu& operator=(const OneGpu&) = delete;

  double run_ms() {
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(start_));
    const Outcome ran = plan_.run(nullptr);
    if (!ran) throw std::runtime_error(ran.message);
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(stop_));
    SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(stop_));
    float ms = 0;
    SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&ms, start_, stop_));
    return ms;
  }

 private:
  int64_t bytes_;
  DeviceBuffer q_, k_, v_, o_, workspace_;
  AttentionPlan plan_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

void time_shape(int gpus, RingLayout layout, RingTransfer transfer, MaskKind mask, int64_t seq,
                int64_t head_dim) {
  RingProblem ring_problem;
  ring_problem.ring = {gpus, layout, mask, seq};
  ring_problem.transfer = transfer;
  for (int gpu = 0; gpu < gpus; ++gpu) ring_problem.devices.push_back(gpu);
  const Problem problem{.heads = heads,
                        .kv_heads = heads,
                        .seq_q = seq,
                        .seq_kv = seq,
                        .head_dim = head_dim,
                        .mask = {mask, 0}};
  ring_problem.call.problem = problem;
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
  OneGpu one(problem);
  RingAttention ring(ring_problem);
  const int64_t rank_bytes = heads * ring_problem.ring.rank_rows() * problem.row_bytes();
  for (int rank = 0; rank < gpus; ++rank) {
    fill(ring.q(rank), rank_bytes, uint64_t(10 + rank));
    fill(ring.k(rank), rank_bytes, uint64_t(20 + rank));
    fill(ring.v(rank), rank_bytes, uint64_t(30 + rank));
  }
  std::vector<double> one_ms, ring_ms, ratios, compute_ms, transfer_ms, alone_ms;
  for (int round = -1; round < rounds; ++round) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
    const double alone = one.run_ms();
    const RingTimes times = ring.run(true);
    const double moved = ring.transfer_alone();
    if (round < 0) continue;
    double slowest = 0, transfers = 0;
    for (int rank = 0; rank < gpus; ++rank) {
      double computes = 0, moves = 0;
      for (const double ms : times.compute[size_t(rank)]) computes += ms;
      for (const double ms : times.transfer[size_t(rank)]) moves += ms;
      slowest = std::max(slowest, computes);
      transfers = std::max(transfers, moves);
    }
    one_ms.push_back(alone);
    ring_ms.push_back(times.whole);
    ratios.push_back(alone / (gpus * times.whole));
    compute_ms.push_back(slowest);
    transfer_ms.push_back(transfers);
    alone_ms.push_back(moved);
  }
  std::printf("%d,%s,%s,%s,%lld,%lld,%lld,%.3f,%.3f,%.4f,%.4f,%.4f,%.3f,%.3f,%.3f\n", gpus,
              layout == RingLayout::zigzag ? "zigzag" : "plain",
              transfer == RingTransfer::copy ? "copy" : "nccl",
              mask == MaskKind::causal ? "causal" : "none", static_cast<long long>(heads),
              static_cast<long long>(seq), static_cast<long long>(head_dim),
              experiments::median_of(one_ms), experiments::median_of(ring_ms),
              experiments::median_of(ratios), std::ranges::min(ratios), std::ranges::max(ratios),
              experiments::median_of(compute_ms), experiments::median_of(transfer_ms),
              experiments::median_of(alone_ms));
  std::fflush(stdout);
}

void time_all(int gpus, RingTransfer transfer) {
  std::puts(
      "gpus,layout,transfer,mask,heads,seq,head_dim,one_gpu_ms,ring_ms,of_ideal,of_ideal_least,"
      "of_ideal_most,compute_ms,transfer_ms,transfer_alone_ms");
  for (const int64_t head_dim : {128, 64})
    for (const int64_t seq : {65536, 131072, 262144, 524288}) {
      const auto row = [&](RingLayout layout, MaskKind mask) {
        time_shape(gpus, layout, transfer, mask, seq, head_dim);
      };
      row(RingLayout::zigzag, MaskKind::causal);
      row(RingLayout::plain, MaskKind::causal);
      row(RingLayout::plain, MaskKind::none);
    }
}

}  // namespace

int main(int count, char** arguments) {
  const int gpus = count > 1 ? std::atoi(arguments[1]) : 2;
  const std::string mover = count > 2 ? arguments[2] : "copy";
  if (mover != "copy" && !(mover == "nccl" && has_nccl())) {
    std::fprintf(stderr, "ring_time: '%s' moves nothing here; allowed: copy%s\n", mover.c_str(),
                 has_nccl() ? ", nccl" : "");
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < gpus || gpus < 2) {
    std::fprintf(stderr, "ring_time: takes 2 or more GPUs, asked for %d, there are %d\n", gpus,
                 devices);
    return 3;
  }
  try {
    time_all(gpus, mover == "nccl" ? RingTransfer::nccl : RingTransfer::copy);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ring_time: %s\n", error.what());
    return 1;
  }
  return 0;
}
