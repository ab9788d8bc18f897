// Property tests inside GoogleTest. rapidcheck's header needs GoogleTest's before it.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
