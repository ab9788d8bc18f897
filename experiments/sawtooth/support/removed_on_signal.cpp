#include "experiments/sawtooth/support/removed_on_signal.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "experiments/sawtooth/support/exit_code.hpp"

namespace sawtooth::experiments {
namespace {

// A command opens fewer; what finds no slot is left behind by a signal, and harmless.
constexpr size_t slots = 32;
// Read by the handler, where nothing may be allocated or locked.
std::array<std::atomic<char*>, slots> paths;

void remove_and_end(int) {
  for (const std::atomic<char*>& path : paths)
    if (const char* name = path.load()) unlink(name);
  _exit(exit_interrupted);
}

}  // namespace

RemovedOnSignal::RemovedOnSignal(const std::string& path) : slot_(slots) {
  char* name = strdup(path.c_str());
  for (size_t slot = 0; slot < slots; ++slot) {
    char* empty = nullptr;
    if (!paths[slot].compare_exchange_strong(empty, name)) continue;
    slot_ = slot;
    return;
  }
  std::free(name);
}

RemovedOnSignal::~RemovedOnSignal() {
  if (slot_ < slots) std::free(paths[slot_].exchange(nullptr));
}

void remove_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A parent that ignores a signal, as nohup does, wants its children to.
    if (std::signal(signal, SIG_IGN) != SIG_IGN) std::signal(signal, remove_and_end);
  }
}

}  // namespace sawtooth::experiments
