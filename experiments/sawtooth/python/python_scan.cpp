#include "experiments/sawtooth/python/python_scan.hpp"

#include <array>
#include <string_view>

#include <nanobind/stl/vector.h>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace nb = nanobind;

namespace sawtooth::experiments {
namespace {

struct Field {
  std::string_view name;
  int64_t (*value)(const ScanContext&);
};
constexpr auto fields_of_a_context = std::to_array<Field>({
    {"tiles", [](const ScanContext& context) { return context.tiles; }},
    {"item", [](const ScanContext& context) { return context.item; }},
    {"items_before", [](const ScanContext& context) { return context.items_before; }},
    {"q_tile", [](const ScanContext& context) { return context.own_tile; }},
    {"workers", [](const ScanContext& context) { return context.workers; }},
    {"attach_position", [](const ScanContext& context) { return context.attach_position; }},
    {"seed", [](const ScanContext& context) { return static_cast<int64_t>(context.seed); }},
});

std::vector<int32_t> checked(const std::vector<int64_t>& positions, int64_t tiles) {
  std::vector<bool> seen(static_cast<size_t>(tiles), false);
  std::vector<int32_t> result;
  for (const int64_t position : positions) {
    if (position < 0 || position >= tiles || seen[static_cast<size_t>(position)]) break;
    seen[static_cast<size_t>(position)] = true;
    result.push_back(static_cast<int32_t>(position));
  }
  if (result.size() == positions.size() && static_cast<int64_t>(result.size()) == tiles)
    return result;
  throw UsageError("scan: the function visits " + std::to_string(positions.size()) +
                   " positions for " + std::to_string(tiles) + " tiles, and step " +
                   std::to_string(result.size()) +
                   " is wrong; allowed: each of 0 ... tiles - 1 once");
}

}  // namespace

PythonScan::PythonScan(nb::callable function, const std::vector<std::string>& fields)
    : function_(std::move(function)) {
  for (const std::string& name : fields) {
    const size_t before = fields_.size();
    std::string allowed = "step";
    for (const Field& field : fields_of_a_context) {
      allowed.append(", ").append(field.name);
      if (field.name == name) fields_.push_back(field.value);
    }
    if (fields_.size() == before)
      throw UsageError("scan: the function asks for '" + name + "'; allowed: " + allowed);
  }
}

const int32_t* PythonScan::positions(const ScanContext& context) {
  std::vector<int64_t> key{context.tiles};
  for (const auto& value : fields_) key.push_back(value(context));
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second.data();
  }
  std::vector<int64_t> asked;
  {
    const nb::gil_scoped_acquire gil;
    asked = nb::cast<std::vector<int64_t>>(
        function_(context.tiles, std::vector<int64_t>(key.begin() + 1, key.end())));
  }
  std::vector<int32_t> positions = checked(asked, context.tiles);
  const std::lock_guard lock(mutex_);
  return known_.try_emplace(std::move(key), std::move(positions)).first->second.data();
}

}  // namespace sawtooth::experiments
