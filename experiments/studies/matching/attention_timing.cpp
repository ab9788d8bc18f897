// Times kernel variants x schedules, interleaved, on random inputs: attention_timing [head dim].
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/attention/attention.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/common/device_buffer.hpp"
#include "scheduler/permutation.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

/// bf16 values in (-2, 2), uniform in sign, exponent and mantissa.
void fill_random(const DeviceBuffer& buffer, uint64_t seed) {
  std::vector<uint16_t> host(size_t(buffer.bytes() / 2));
  for (size_t i = 0; i < host.size(); ++i) {
    const uint64_t word = mix_seed(seed, i);
    host[i] = uint16_t((word & 0x807f) | (0x3f80 - ((word >> 16) % 3) * 0x80));
  }
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(buffer.as(), host.data(), size_t(buffer.bytes()), cudaMemcpyHostToDevice));
}

struct Candidate {
  std::string name;
  AttentionForward call;
  std::vector<float> times_ms;
};

double median(std::vector<float> values) {
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void time_shape(int64_t batch, int64_t heads, int64_t seq, int64_t head_dim, MaskKind mask) {
  constexpr int repetitions = 7;
  Problem problem{.batch = batch,
                  .heads = heads,
                  .kv_heads = heads,
                  .seq_q = seq,
                  .seq_kv = seq,
                  .head_dim = head_dim,
                  .dtype = ElementType::bf16,
                  .mask = {mask, 0}};
  const int64_t bytes = batch * heads * seq * problem.row_bytes();
  const DeviceBuffer q(bytes), k(bytes), v(bytes), o(bytes), workspace(int64_t{64} << 20);
  fill_random(q, 1);
  fill_random(k, 2);
  fill_random(v, 3);
  int sms = 0;
  SAWTOOTH_CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));

  std::vector<Candidate> candidates;
  for (const KernelVariant& variant : kernel_variants()) {
    if (variant.head_dim != head_dim || variant.dtype != ElementType::bf16 || variant.study)
      continue;
    const int resident = resident_ctas_per_sm(variant);
    const auto add = [&](const char* name, LaunchId launch, ScanId scan, QOrderId q_order,
                         int64_t prefetch) {
      AttentionForward call;
      call.problem = problem;
      call.tiling = variant.tiling;
      call.family = variant.family;
      call.q = q.as();
      call.k = k.as();
      call.v = v.as();
      call.o = o.as();
      call.schedule.order.section = 1;
      call.schedule.launch = launch;
      call.schedule.scan = scan;
      call.schedule.order.q_order = q_order;
      call.schedule.workers = int64_t(sms) * resident;
      call.schedule.prefetch = prefetch;
      candidates.push_back({std::to_string(variant.tiling.q_rows) + "x" +
                                std::to_string(variant.tiling.kv_rows) + " ctas " +
                                std::to_string(resident) + " " + name,
                            call,
                            {}});
    };
    const QOrderId ascending = q_order_id<AscendingQ>, descending = q_order_id<DescendingQ>;
    add("grid linear", launch_id<GridLaunch>, scan_id<LinearScan>, ascending, 0);
    add("grid linear descending", launch_id<GridLaunch>, scan_id<LinearScan>, descending, 0);
    add("static linear", launch_id<StaticLaunch>, scan_id<LinearScan>, ascending, 0);
    add("static sawtooth", launch_id<StaticLaunch>, scan_id<SawtoothScan>, ascending, 0);
    add("static sawtooth prefetch 2", launch_id<StaticLaunch>, scan_id<SawtoothScan>, ascending, 2);
    add("static linear prefetch 2", launch_id<StaticLaunch>, scan_id<LinearScan>, ascending, 2);
    add("static linear prefetch 8", launch_id<StaticLaunch>, scan_id<LinearScan>, ascending, 8);
    add("dynamic linear descending", launch_id<DynamicLaunch>, scan_id<LinearScan>, descending, 0);
  }
  cudaEvent_t start, stop;
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&start));
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&stop));
  for (int repetition = -1; repetition < repetitions; ++repetition)  // the first warms up
    for (Candidate& candidate : candidates) {
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(start));
      const Outcome outcome =
          attention_forward(candidate.call, workspace.as(), size_t(workspace.bytes()), nullptr);
      if (!outcome) throw std::runtime_error(outcome.message);
      SAWTOOTH_CUDA_CHECK(cudaEventRecord(stop));
      SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(stop));
      float ms = 0;
      SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
      if (repetition >= 0) candidate.times_ms.push_back(ms);
    }
  const double flop = 4.0 * double(batch * heads) * double(seq) * double(seq) * double(head_dim) /
                      (mask == MaskKind::causal ? 2 : 1);
  std::printf("B%lld H%lld S%lld D%lld %s\n", (long long)batch, (long long)heads, (long long)seq,
              (long long)head_dim, mask == MaskKind::causal ? "causal" : "none");
  for (const Candidate& candidate : candidates)
    std::printf("  %-44s %9.3f ms %7.1f TFLOP/s\n", candidate.name.c_str(),
                median(candidate.times_ms), flop / median(candidate.times_ms) / 1e9);
  std::fflush(stdout);
}

}  // namespace

int main() {
  try {
    for (const int64_t head_dim : {64, 128})
      for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
        time_shape(8, 16, 2048, head_dim, mask);
        time_shape(1, 16, 16384, head_dim, mask);
        time_shape(1, 1, 131072, head_dim, mask);
      }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attention_timing: %s\n", error.what());
    return 3;
  }
  return 0;
}
