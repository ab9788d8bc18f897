#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

const GpuFile& Catalog::gpu(const Assignment& assignment) {
  const std::string& name = assignment.values.front();
  const auto known = gpus_.find(name);
  if (known != gpus_.end()) return known->second;
  const std::string path = resource_path("profiles/gpus", name, place_of("gpu", assignment.origin));
  return gpus_.emplace(name, read_gpu_file(path)).first->second;
}

const ProfileFile& Catalog::kernel(const std::string& name, const std::string& place) {
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  const std::string path = resource_path("profiles/kernels", name, place);
  return kernels_.emplace(name, read_kernel_file(path)).first->second;
}

const SystemFile& Catalog::read_system(const std::string& path) {
  const auto known = systems_.find(path);
  return known != systems_.end() ? known->second
                                 : systems_.emplace(path, read_system_file(path)).first->second;
}

const SystemFile& Catalog::system(const Assignment& assignment) {
  const std::string& name = assignment.values.front();
  const std::string place = place_of("system", assignment.origin);
  const SystemFile& named = read_system(resource_path("profiles/systems", name, place));
  if (!named.limits.empty()) limits_[name] = named.limits;
  if (named.alias_of.empty()) return named;
  const SystemFile& meant =
      read_system(resource_path("profiles/systems", named.alias_of, named.path + ": alias-of"));
  if (!meant.alias_of.empty()) {
    throw UsageError(named.path + ": alias-of: '" + named.alias_of + "' is an alias itself");
  }
  if (!meant.limits.empty()) limits_[named.alias_of] = meant.limits;
  return meant;
}

}  // namespace sawtooth::experiments
