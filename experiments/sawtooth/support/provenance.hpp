// Where numbers come from: everything that someone needs to judge or repeat a measurement.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

/// Keys and values in the order of writing. A value that could not be found is "unknown".
struct Provenance {
  std::vector<std::pair<std::string, std::string>> entries;

  void add(std::string key, std::string value) {
    entries.emplace_back(std::move(key), std::move(value));
  }
  /// The value of `key`, "unknown" when it is not there.
  std::string value(std::string_view key) const;
};

/// It describes this program: tool version, git commit and dirty flag, compiler and flags, nvcc,
/// CUPTI, command line, UTC time, host.
Provenance program_provenance(std::span<const std::string> arguments);

/// "sawtooth 0.1.0 (commit 0123456789ab, with changes)".
std::string version_text();

/// State of a GPU at this moment: driver, name, hashed UUID, clocks, power. `pci_bus_id` is CUDA's
/// ("0000:1b:00.0"). Read through NVML, opened at run time; without it values are "unknown".
Provenance gpu_state(const std::string& pci_bus_id);

/// 16 hexadecimal digits (FNV-1a, 64 bits) that stand for a GPU without naming it.
std::string hashed_uuid(std::string_view uuid);

/// UTC time as 2026-01-31T12:00:00Z.
std::string utc_now();

/// One section of an INI file: "[section]" and "key = value" lines.
void write_provenance(std::ostream& out, std::string_view section, const Provenance& provenance);

}  // namespace sawtooth::experiments
