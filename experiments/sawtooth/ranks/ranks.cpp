#include "experiments/sawtooth/ranks/ranks.hpp"

#include <cstdlib>
#include <thread>

#include <dlfcn.h>

#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

int64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

// OpenMPI's mpirun, those of MPICH and Intel, and srun --mpi=pmix, which has no size of its own.
bool has_launcher() {
  return number_in("OMPI_COMM_WORLD_SIZE") > 1 || number_in("PMI_SIZE") > 1 ||
         (std::getenv("PMIX_RANK") != nullptr && number_in("SLURM_NTASKS") > 1);
}

}  // namespace

std::optional<Ranks> Ranks::open() {
  if (!has_launcher()) return std::nullopt;
  std::string reason = "this build has no MPI (" + std::string(message_passing_plugin) + ")";
  if (const std::string place = library_beside_program(message_passing_plugin); !place.empty()) {
    // Plugins of OpenMPI look its own symbols up among the global ones.
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* entry = library == nullptr ? nullptr : dlsym(library, message_passing_entry);
    if (entry != nullptr) return Ranks(reinterpret_cast<MessagePassingEntry>(entry)());
    reason = dlerror();
  }
  throw UsageError("started by mpirun as several processes, but " + reason +
                   "; build with MPI (libopenmpi-dev), or start one process");
}

std::optional<std::pair<int, std::string>> Ranks::receive() const {
  int from = 0;
  const long count = table_->probe(&from);
  if (count < 0) return std::nullopt;
  std::string bytes(static_cast<size_t>(count), '\0');
  table_->receive(from, bytes.data(), bytes.size());
  return std::pair(from, std::move(bytes));
}

std::pair<int, std::string> Ranks::wait() const {
  for (;;) {
    if (auto message = receive()) return std::move(*message);
    std::this_thread::sleep_for(pause_between_looks);
  }
}

}  // namespace sawtooth::experiments
