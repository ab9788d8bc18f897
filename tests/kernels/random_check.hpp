// What the programs share that check kernels on a GPU by random problems against the
// double-precision reference: judging results, running a plan from a graph, and the loop over
// seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/reference/attention_reference.hpp"

namespace sawtooth::kernels {

using Generator = std::mt19937_64;

template <class T>
T one_of(Generator& generator, std::initializer_list<T> values) {
  return values.begin()[generator() % values.size()];
}

inline void require(cudaError_t error) {
  SAWTOOTH_CUDA_CHECK(error);
}
inline void require(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

/// What is wrong, or an empty text, and the relative error of O.
struct Judged {
  std::string wrong;
  double error = 0;
};

struct Tolerance {
  double o = 0;  // Frobenius norm of the difference over that of the reference
  double lse = 0;
};

/// O and, unless it is empty, the log-sum-exp of one sequence; a row without a key has O 0 and lse
/// -inf.
inline Judged judge_rows(std::span<const float> o, std::span<const float> lse,
                         const ReferenceResult& expected, Tolerance tolerated) {
  Judged judged;
  double difference = 0, size = 0;
  for (size_t i = 0; i < o.size(); ++i) {
    if (!std::isfinite(o[i])) judged.wrong = "O is not finite";
    difference += std::pow(double(o[i]) - expected.o[i], 2);
    size += expected.o[i] * expected.o[i];
  }
  judged.error = size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
  if (!(judged.error <= tolerated.o)) judged.wrong = "O differs by " + std::to_string(judged.error);
  for (size_t i = 0; i < lse.size(); ++i) {
    const bool same = expected.lse[i] == -INFINITY
                          ? lse[i] == -INFINITY
                          : std::abs(double(lse[i]) - expected.lse[i]) < tolerated.lse;
    if (!same)
      judged.wrong =
          "lse is " + std::to_string(lse[i]) + ", expected " + std::to_string(expected.lse[i]);
  }
  return judged;
}

class Stream {
 public:
  Stream() { require(cudaStreamCreate(&stream_)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// One run of a plan, captured on a stream.
template <class Plan>
class CapturedRun {
 public:
  CapturedRun(Plan& plan, cudaStream_t stream) : stream_(stream) {
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    require(plan.run(stream));
    require(cudaStreamEndCapture(stream, &graph_));
    require(cudaGraphInstantiate(&replay_, graph_, 0));
  }
  ~CapturedRun() {
    if (replay_ != nullptr) cudaGraphExecDestroy(replay_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  CapturedRun(const CapturedRun&) = delete;
  CapturedRun& operator=(const CapturedRun&) = delete;

  void launch() { require(cudaGraphLaunch(replay_, stream_)); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t replay_ = nullptr;
};

/// A family of kernels, and the one compute capability it is for; 0: any.
struct CheckedFamily {
  std::string_view name;
  int capability = 0;
};

/// `NAME [points] [first seed] [FAMILY]`: random_point(seed, family), run(point, seed) and
/// describe(point) for each seed. The exit code: 0 all right, 1 a check failed, 2 wrong usage, 3 no
/// GPU.
template <class RandomPoint, class Run, class Describe>
int check_points(int argc, char** argv, const char* name,
                 std::initializer_list<CheckedFamily> families, RandomPoint random_point, Run run,
                 Describe describe) {
  constexpr uint64_t usual_points = 300;
  constexpr int most_failures = 20;
  if (argc > 4 || (argc > 1 && std::string_view(argv[1]) == "--help")) {
    std::fprintf(stderr, "%s [points] [first seed] [FAMILY]\n", name);
    return 2;
  }
  const int capability = current_device().compute_capability;
  if (capability == 0) {
    std::fprintf(stderr, "%s needs a GPU\n", name);
    return 3;
  }
  const uint64_t points = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : usual_points;
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::string_view only = argc > 3 ? argv[3] : "";
  int failures = 0;
  for (const CheckedFamily& family : families) {
    const bool runs = family.capability == 0 || family.capability == capability;
    if (only.empty() ? !runs : family.name != only) continue;
    double worst[2] = {0, 0};
    int done = 0;
    for (uint64_t seed = first; seed < first + points; ++seed, ++done) {
      auto point = random_point(seed, family.name);
      Judged judged;
      try {
        judged = run(point, seed);
      } catch (const std::exception& error) {
        judged.wrong = error.what();
      }
      double& of_type = worst[size_t(point.call.problem.dtype)];
      of_type = std::max(of_type, judged.error);
      if (judged.wrong.empty()) continue;
      std::printf("FAILED %llu %s: %s\n", static_cast<unsigned long long>(seed),
                  describe(point).c_str(), judged.wrong.c_str());
      std::fflush(stdout);
      if (++failures > most_failures || cudaGetLastError() != cudaSuccess) return 1;
    }
    std::printf("%s: %d points, worst relative error bf16 %.2e, fp16 %.2e\n",
                std::string(family.name).c_str(), done, worst[0], worst[1]);
  }
  std::printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace sawtooth::kernels
