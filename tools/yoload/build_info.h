// What this binary is: for --version and for every benchmark result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace yoload::cli {

std::string_view version();
/// `git describe` of the source at configure time; "unknown" outside a repository.
std::string_view commit();
/// The best vector instruction set that this binary has code for and this machine can run.
std::string simd_target();
/// The text of `yoload --version`.
std::string version_text();
/// "Linux 6.1.0 x86_64"
std::string kernel_text();

}  // namespace yoload::cli
