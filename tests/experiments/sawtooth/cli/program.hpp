// Runs the program as a user does.
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include <sys/wait.h>

#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::test {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// `arguments` as a shell would take them; `before` is shell code in front of the program.
inline Outcome run_program(const std::string& arguments, const std::string& before = "") {
  const TemporaryFolder folder;
  const std::string command =
      before + std::string(SAWTOOTH_PROGRAM) + " " + arguments + " 2>" + folder.path("err");
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("the program cannot be started");
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.out.append(buffer.data(), n);
  }
  outcome.exit_code = WEXITSTATUS(pclose(pipe));
  outcome.err = folder.read("err");
  return outcome;
}

}  // namespace sawtooth::test
