/*
 * fuzzer_main.cpp - libFuzzer's entry. PS_FUZZ_TARGET names the target.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "targets.hpp"

namespace {

const privacy_score::fuzz::Target* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("PS_FUZZ_TARGET");
  for (const auto& each : privacy_score::fuzz::Targets())
    if (name != nullptr && std::strcmp(name, each.name) == 0) target = &each;
  if (target == nullptr) {
    std::fprintf(stderr, "PS_FUZZ_TARGET must name a target of test/fuzz/targets.hpp\n");
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
