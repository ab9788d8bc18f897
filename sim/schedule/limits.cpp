#include "sim/schedule/limits.hpp"

#include <stdexcept>

#include "sim/schedule/serving_limits.hpp"

namespace sawtooth::sim {

void require_limits(const Request& request) {
  auto fault = backward_fault(request);
  if (!fault) fault = timed_fault(request);
  if (!fault) fault = sequences_fault(request);
  if (!fault) fault = serving_fault(request);
  if (fault) throw std::invalid_argument(std::string(fault->key).append(": ").append(fault->what));
}

void require_one_length(const Request& request, const std::string& model) {
  if (request.sequences.lengths == nullptr) return;
  throw std::invalid_argument("lengths: " + model + " takes sequences of one length");
}

void require_forward(const Request& request, const std::string& model) {
  if (request.problem.pass == Pass::forward) return;
  throw std::invalid_argument(
      "pass: " + model +
      " does not model backward; allowed with it: l2 = lru, sets or halves in lockstep");
}

}  // namespace sawtooth::sim
