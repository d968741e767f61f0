// SPDX-License-Identifier: Apache-2.0
#include "dataset/problem_codec.h"

#include <cstring>

namespace yoload {
namespace {

void put_u32(std::string& bytes, uint32_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& bytes, const std::string& text) {
  put_u32(bytes, static_cast<uint32_t>(text.size()));
  bytes += text;
}

bool take_u32(std::string_view& bytes, uint32_t& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return true;
}

bool take_text(std::string_view& bytes, std::string& text) {
  uint32_t length = 0;
  if (!take_u32(bytes, length) || length > bytes.size()) return false;
  text = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return true;
}

}  // namespace

std::string encode_problems(const std::vector<Problem>& problems) {
  std::string bytes;
  for (const Problem& problem : problems) {
    put_u32(bytes, static_cast<uint32_t>(problem.severity));
    put_u32(bytes, problem.line);
    for (const std::string* text :
         {&problem.kind, &problem.path, &problem.cause, &problem.reference}) {
      put_text(bytes, *text);
    }
  }
  return bytes;
}

bool decode_problems(std::string_view bytes, std::vector<Problem>& problems) {
  while (!bytes.empty()) {
    Problem problem;
    uint32_t severity = 0;
    if (!take_u32(bytes, severity) || severity > 2 || !take_u32(bytes, problem.line)) return false;
    problem.severity = static_cast<Problem::Severity>(severity);
    for (std::string* text : {&problem.kind, &problem.path, &problem.cause, &problem.reference}) {
      if (!take_text(bytes, *text)) return false;
    }
    problems.push_back(std::move(problem));
  }
  return true;
}

}  // namespace yoload
