// Local search over explicit orders: from the best named schedule on, items are exchanged, moved
// and turned round, and what the deciding model finds better is kept. Launch, scan and all else
// stay.
#pragma once

#include <memory>
#include <string>

#include "experiments/sawtooth/search/staged_search.hpp"

namespace sawtooth::experiments {

struct OrderSearch {
  int64_t evaluations = 0;  // how many orders are predicted
  size_t threads = 1;       // the answer does not depend on it
  std::string path;         // where the order that was found is written
};

struct FoundOrder {
  std::unique_ptr<Candidate> candidate;  // with order-file; null where nothing better was found
  CsvRow row;
  std::string explanation;  // how it differs from what it began with, and what that gains
};

/// Keeps the constraints as far as `begin` does: what it improves, none of their columns rises
/// beyond its limit.
FoundOrder search_orders(const Verdict& begin, const Goal& goal, const OrderSearch& how,
                         const std::string& experiment, Catalog& catalog);

/// An order as lines of an order file.
std::string order_text(const std::vector<WorkCoordinates>& order, int64_t kv_split);

}  // namespace sawtooth::experiments
