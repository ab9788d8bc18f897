#include "experiments/sawtooth/support/provenance.hpp"

#include <ctime>
#include <ostream>

#include <sys/utsname.h>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "git_version.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view unknown = "unknown";

std::string joined(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

std::string host_system() {
  utsname name{};
  if (uname(&name) != 0) return std::string(unknown);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string installed_cupti() {
  try {
    return std::to_string(cupti::cupti_version().version);
  } catch (const cupti::CounterError& error) {
    return std::string(cupti::status_name(error.status()));
  }
}

}  // namespace

std::string Provenance::value(std::string_view key) const {
  for (const auto& [name, text] : entries) {
    if (name == key) return text;
  }
  return std::string(unknown);
}

Provenance program_provenance(std::span<const std::string> arguments) {
  Provenance result;
  result.add("tool-version", SAWTOOTH_VERSION);
  result.add("git-commit", SAWTOOTH_GIT_COMMIT);
  result.add("git-dirty", SAWTOOTH_GIT_DIRTY);
  result.add("compiler", SAWTOOTH_COMPILER);
  result.add("flags", SAWTOOTH_FLAGS);
  result.add("nvcc", SAWTOOTH_NVCC);
  result.add("cuda-architectures", SAWTOOTH_ARCHITECTURES);
  result.add("cupti", installed_cupti());
  result.add("arguments", joined(arguments));
  result.add("utc", utc_now());
  result.add("host", host_system());
  return result;
}

std::string version_text() {
  constexpr size_t digits = 12;
  const std::string commit = SAWTOOTH_GIT_COMMIT;
  std::string text = "sawtooth " SAWTOOTH_VERSION " (commit " + commit.substr(0, digits);
  if (std::string_view(SAWTOOTH_GIT_DIRTY) == "yes") text += ", with changes";
  return text + ")";
}

std::string hashed_uuid(std::string_view uuid) {
  return ContentHash().add(uuid).text();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

void write_provenance(std::ostream& out, std::string_view section, const Provenance& provenance) {
  out << '[' << section << "]\n";
  for (const auto& [key, value] : provenance.entries) out << key << " = " << value << '\n';
  out << '\n';
}

}  // namespace sawtooth::experiments
