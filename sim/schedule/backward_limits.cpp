#include "sim/schedule/backward_limits.hpp"

#include <stdexcept>

namespace sawtooth::sim {

void require_backward_limits(const Request& request) {
  const auto fault = backward_fault(request);
  if (fault) throw std::invalid_argument(std::string(fault->key).append(": ").append(fault->what));
}

void require_forward(const Request& request, const std::string& model) {
  if (request.problem.pass == Pass::forward) return;
  throw std::invalid_argument(
      "pass: " + model +
      " does not model backward; allowed with it: l2 = lru, sets or halves in lockstep");
}

}  // namespace sawtooth::sim
