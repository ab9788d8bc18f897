#include "experiments/sawtooth/calibrate/calibration_profile.hpp"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace sawtooth::experiments {
namespace {

class Profile {
 public:
  void parameter(std::string_view key, const std::string& value, const std::string& note) {
    text_ << '[' << key << "]\nvalue = " << value << "\nsource = measured\nnote = " << note
          << "\n\n";
  }

  /// The figure `name` times `factor`, as a whole number of `unit` when `whole`.
  void figure(const std::vector<Figure>& figures, std::string_view key, std::string_view name,
              double factor = 1) {
    const Figure* found = find_figure(figures, name);
    if (found == nullptr) return;
    parameter(key, std::to_string(std::llround(found->value * factor)), found->how);
  }

  std::ostringstream& text() { return text_; }

 private:
  std::ostringstream text_;
};

constexpr double mib_bytes = double(int64_t{1} << 20);

/// Where the edge begins and ends, for the note of a kept capacity.
void add_kept(Profile& profile, const std::vector<Figure>& figures, std::string_view key,
              const std::string& name) {
  const Figure* kept = find_figure(figures, name + "_kept");
  if (kept == nullptr) return;
  std::ostringstream note;
  note << kept->how;
  const Figure* begin = find_figure(figures, name + "_edge_10");
  const Figure* end = find_figure(figures, name + "_edge_90");
  if (begin != nullptr && end != nullptr) {
    note << std::fixed << std::setprecision(1)
         << "; soft edge: a linear second pass misses 10 % at " << begin->value
         << " MiB and 90 % at " << end->value << " MiB";
  }
  profile.parameter(key, std::to_string(std::llround(kept->value * mib_bytes)), note.str());
}

}  // namespace

std::string gpu_profile_ini(const MeasuredGpu& gpu, const std::vector<Figure>& figures) {
  Profile profile;
  profile.text() << "# Written by `sawtooth calibrate`; " << gpu.how << "\n"
                 << "# Ways of L2 cannot be told from these streams: sets are hashed.\n\n"
                 << "[gpu]\ndescription = " << gpu.description
                 << "\ncompute-capability = " << gpu.compute_capability << "\n\n";
  profile.parameter("sms", std::to_string(gpu.sms), "cudaDevAttrMultiProcessorCount");
  profile.parameter("l2-bytes", std::to_string(gpu.l2_bytes), "cudaDevAttrL2CacheSize");
  profile.figure(figures, "l2-halves", "halves");
  add_kept(profile, figures, "l2-shared-kept-bytes", "shared");
  add_kept(profile, figures, "l2-private-kept-bytes", "private");
  profile.figure(figures, "dram-gb-per-s", "dram_read_bandwidth");
  profile.figure(figures, "l2-gb-per-s", "l2_bandwidth");
  profile.figure(figures, "latency-near-ns", "latency_near_ns");
  profile.figure(figures, "latency-far-ns", "latency_far_ns");
  profile.figure(figures, "latency-dram-ns", "latency_dram_ns");
  if (gpu.max_sm_clock_mhz != "unknown") {
    profile.parameter("sm-clock-mhz", gpu.max_sm_clock_mhz, "NVML's largest SM clock");
  }
  profile.parameter("shared-memory-block-bytes", std::to_string(gpu.shared_memory_block_bytes),
                    "cudaDevAttrMaxSharedMemoryPerBlockOptin");
  profile.parameter("registers-per-sm", std::to_string(gpu.registers_per_sm),
                    "cudaDevAttrMaxRegistersPerMultiprocessor");
  profile.parameter("threads-per-sm", std::to_string(gpu.threads_per_sm),
                    "cudaDevAttrMaxThreadsPerMultiProcessor");
  return profile.text().str();
}

std::string die_ini(const std::string& uuid_hash, const std::string& name,
                    const std::vector<int>& half_of_sm, const std::string& how) {
  std::ostringstream text;
  text << "# Facts of one die, written by `sawtooth calibrate`; " << how
       << "\n[die]\nuuid-hash = " << uuid_hash << "\nname = " << name << "\n\n[sm-half]\nvalue = ";
  for (size_t i = 0; i < half_of_sm.size(); ++i) text << (i == 0 ? "" : ",") << half_of_sm[i];
  text << "\nsource = measured\nnote = half of L2 that each SM sits at, by SM rank (ascending SM "
          "id); the first SM defines half 0\n";
  return text.str();
}

}  // namespace sawtooth::experiments
