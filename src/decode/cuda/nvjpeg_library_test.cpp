// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda/nvjpeg_library.h"

#include <gtest/gtest.h>

namespace yoload {
namespace {

// Both in one test: the library stays open once it was found.
TEST(NvjpegLibrary, NamesWhatIsMissingAndStaysOpenOnceFound) {
  if (!nvjpeg_library("/no/such/folder").ok()) {
    const Status status = nvjpeg_library("/no/such/folder").status();
    EXPECT_EQ(status.code(), Code::not_found);
    EXPECT_NE(status.message().find("YOLOAD_NVJPEG"), std::string::npos);
    EXPECT_NE(status.message().find("/no/such/folder"), std::string::npos);
  }
  const auto library = nvjpeg_library();
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  EXPECT_GE((*library)->version, 12000);
  EXPECT_FALSE((*library)->path.empty());
  EXPECT_EQ(nvjpeg_library("/no/such/folder").value(), *library);
}

}  // namespace
}  // namespace yoload
