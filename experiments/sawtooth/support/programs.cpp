#include "experiments/sawtooth/support/programs.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sawtooth::experiments {
namespace {

std::string all_of(int pipe) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t bytes = read(pipe, buffer.data(), buffer.size());
    if (bytes > 0)
      text.append(buffer.data(), static_cast<size_t>(bytes));
    else if (bytes == 0 || errno != EINTR)
      return text;
  }
}

}  // namespace

int run_program(std::vector<std::string> words, std::string* output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output != nullptr) {
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  }
  pid_t process = 0;
  const int failed =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (output != nullptr) {
    close(ends[1]);
    if (failed == 0) *output = all_of(ends[0]);
    close(ends[0]);
  }
  int status = 0;
  if (failed != 0 || waitpid(process, &status, 0) != process || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace sawtooth::experiments
