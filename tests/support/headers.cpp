// No code: its target precompiles the headers of all tests (tests/CMakeLists.txt).
