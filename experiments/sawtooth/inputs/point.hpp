// One point of a sweep with everything resolved: the keys, and the request of the simulator.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/inputs/system_file.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

struct Point {
  Keys keys;             // resolved; what was left open has its value
  sim::Request request;  // its order's list, if any, lives in `order_list`
  sim::Gpu gpu;          // nameless, with l2_bytes only, when no gpu was given
  std::shared_ptr<const std::vector<WorkCoordinates>> order_list;
  /// Name of the die's file.
  std::string die;
  /// Speeds of the kernel that were asked for beside those of its system: "step-ns=900 stages=3".
  std::string costs;

  /// The resolved value of `key` as rows and configurations print it; empty where it has none.
  std::string text(std::string_view key) const;
};

/// Reads each profile and system once.
class Catalog {
 public:
  /// `assignment` says where the name was written, for the message of a UsageError.
  const GpuFile& gpu(const Assignment& assignment);
  const ProfileFile& die(const std::string& path);
  /// Of profiles/kernels, or a path; `place` says where the name was written.
  const ProfileFile& kernel(const std::string& name, const std::string& place);
  /// The system behind an alias is returned for the alias; the limits of both are in `limits`.
  const SystemFile& system(const Assignment& assignment);

  /// Systems that were used, by name, with what their models leave out.
  const std::map<std::string, std::string>& limits() const { return limits_; }

 private:
  const SystemFile& read_system(const std::string& path);

  std::map<std::string, GpuFile> gpus_;
  std::map<std::string, ProfileFile> dies_, kernels_;
  std::map<std::string, SystemFile> systems_;
  std::map<std::string, std::string> limits_;
};

/// Resolves a point: command line and configuration (`given`) over the system's guarded sections
/// over its other keys over the defaults. Throws UsageError that names key, file and what is
/// allowed.
Point resolve(const Settings& given, Catalog& catalog);

}  // namespace sawtooth::experiments
