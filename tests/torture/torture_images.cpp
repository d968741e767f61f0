// torture_images DIR: decodes every picture that DIR/MANIFEST.tsv lists and compares verdict, size,
// mean colour and the luma of the four quarters with what the manifest says.
//
// Exit 0 when all agree, or when at most five differ and each is argued in EXCEPTIONS.md beside
// this file (its path must occur there); 1 otherwise; 2 when the folder cannot be read.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "decode/decoder.h"

namespace {

using namespace yoload;
using Row = std::map<std::string, std::string>;

constexpr int kMaxDifferences = 5;
constexpr double kBombMs = 50;
constexpr long kBombKb = 64 << 10;

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
  return fields;
}

bool read_manifest(const std::string& path, std::vector<Row>* rows) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return false;
  const std::vector<std::string> names = split(line, '\t');
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split(line, '\t');
    Row row;
    for (size_t i = 0; i < names.size(); ++i) row[names[i]] = i < fields.size() ? fields[i] : "";
    rows->push_back(row);
  }
  return true;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Peak resident size in KB; -1 where /proc does not tell.
long peak_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return -1;
}

long reset_peak_kb() {
  std::ofstream("/proc/self/clear_refs") << "5";
  return peak_kb();
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> values;
  for (const std::string& field : split(text, ',')) values.push_back(std::stod(field));
  return values;
}

struct Statistics {
  std::array<double, 3> mean{};
  std::array<double, 4> quarter_luma{};
};

Statistics measure(const ImageView& view) {
  Statistics result;
  std::array<double, 4> pixels{};
  for (int y = 0; y < view.height_px; ++y) {
    for (int x = 0; x < view.width_px; ++x) {
      const double red = view.at(0, y, x);
      const double green = view.at(1, y, x);
      const double blue = view.at(2, y, x);
      result.mean[0] += red;
      result.mean[1] += green;
      result.mean[2] += blue;
      const double luma = 0.299 * red + 0.587 * green + 0.114 * blue;
      // The reference leaves the middle row and column of odd sides out.
      const int half_width_px = std::max(1, view.width_px / 2);
      const int half_height_px = std::max(1, view.height_px / 2);
      for (size_t q = 0; q < 4; ++q) {
        const int left = q % 2 == 0 ? 0 : view.width_px - half_width_px;
        const int right = left + half_width_px;
        const int top = q < 2 ? 0 : view.height_px - half_height_px;
        const int bottom = top + half_height_px;
        if (x < left || x >= right || y < top || y >= bottom) continue;
        result.quarter_luma[q] += luma;
        ++pixels[q];
      }
    }
  }
  const double all = static_cast<double>(view.width_px) * view.height_px;
  for (double& value : result.mean) value /= all;
  for (size_t q = 0; q < 4; ++q) result.quarter_luma[q] /= std::max(1.0, pixels[q]);
  return result;
}

// "" when the picture is the expected one.
std::string compare_picture(const Row& row, const Decoded& decoded) {
  const ImageView view = decoded.image.view();
  if (!row.at("display_w").empty()) {
    const int width_px = std::stoi(row.at("display_w"));
    const int height_px = std::stoi(row.at("display_h"));
    if (view.width_px != width_px || view.height_px != height_px) {
      return fmt::format("size {}x{}, expected {}x{}", view.width_px, view.height_px, width_px,
                         height_px);
    }
  }
  if (row.at("ref_mean_rgb").empty()) return "";
  const double tolerance = row.at("mean_tol").empty() ? 2 : std::stod(row.at("mean_tol"));
  const Statistics found = measure(view);
  const std::vector<double> mean = numbers(row.at("ref_mean_rgb"));
  const std::vector<double> luma = numbers(row.at("ref_quad_luma"));
  for (size_t i = 0; i < mean.size() && i < 3; ++i) {
    if (std::abs(found.mean[i] - mean[i]) > tolerance) {
      return fmt::format("mean of channel {} is {:.1f}, expected {}", i, found.mean[i], mean[i]);
    }
  }
  for (size_t i = 0; i < luma.size() && i < 4; ++i) {
    if (std::abs(found.quarter_luma[i] - luma[i]) > tolerance) {
      return fmt::format("luma of quarter {} is {:.1f}, expected {}", i, found.quarter_luma[i],
                         luma[i]);
    }
  }
  return "";
}

Result<Decoded> decode_file(const std::string& bytes, OnCorrupt on_corrupt) {
  DecodeOptions options;
  options.on_corrupt = on_corrupt;
  Decoder decoder(options);
  return decoder.decode({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr);
}

std::string must_decode(const Row& row, const Result<Decoded>& strict) {
  if (!strict.ok()) return "refused: " + strict.status().to_string();
  if (strict->damaged) return "counted as damaged: " + strict->warning;
  return compare_picture(row, *strict);
}

// A refusal has to say why.
std::string clear_refusal(const Result<Decoded>& result) {
  return result.status().message().empty() ? "refused without a reason" : "";
}

std::string check_bomb(double ms, long growth_kb) {
  if (ms > kBombMs) return fmt::format("refused only after {:.0f} ms", ms);
  if (growth_kb > kBombKb) return fmt::format("took {} MB to refuse", growth_kb >> 10);
  return "";
}

// "" when the row holds, otherwise what is different.
std::string check(const Row& row, const std::string& bytes) {
  const std::string& verdict = row.at("verdict");
  const long base_kb = reset_peak_kb();
  const auto start = std::chrono::steady_clock::now();
  const Result<Decoded> strict = decode_file(bytes, OnCorrupt::reject);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const long growth_kb = peak_kb() - base_kb;

  if (verdict == "decode" || verdict == "warn") return must_decode(row, strict);
  if (verdict == "flag_corrupt") {
    if (strict.ok()) return "passed as good";
    const Result<Decoded> lenient = decode_file(bytes, OnCorrupt::accept);
    if (lenient.ok() && !lenient->damaged) return "passed as good under on_corrupt=accept";
    return clear_refusal(strict);
  }
  if (verdict == "reject") {
    if (strict.ok()) return "decoded, but there is no usable picture";
    if (row.at("category") == "bombs") {
      if (std::string late = check_bomb(ms, growth_kb); !late.empty()) return late;
    }
    return clear_refusal(strict);
  }
  if (verdict == "optional") {
    if (strict.ok()) return must_decode(row, strict);
    return strict.status().code() == Code::unsupported
               ? clear_refusal(strict)
               : "refused, but not as unsupported: " + strict.status().to_string();
  }
  if (verdict == "either") return strict.ok() ? must_decode(row, strict) : clear_refusal(strict);
  return "unknown verdict " + verdict;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && !(argc == 3 && std::string(argv[1]) == "-v")) {
    fmt::print(stderr, "usage: torture_images [-v] DIR\n");
    return 2;
  }
  const bool verbose = argc == 3;
  const std::string folder = argv[argc - 1];
  std::vector<Row> rows;
  if (!read_manifest(folder + "/MANIFEST.tsv", &rows)) {
    fmt::print(stderr, "{}/MANIFEST.tsv cannot be read\n", folder);
    return 2;
  }
  const std::string exceptions = read_file(YOLOAD_SOURCE_DIR "/tests/torture/EXCEPTIONS.md");
  int differences = 0;
  int unargued = 0;
  for (const Row& row : rows) {
    const std::string& file = row.at("file");
    const std::string bytes = read_file(folder + "/" + file);
    const std::string difference = check(row, bytes);
    if (verbose) {
      const auto result = decode_file(bytes, OnCorrupt::reject);
      fmt::print("{} [{}]: {}\n", file, row.at("verdict"),
                 result.ok() ? "decoded " + result->warning : result.status().to_string());
    }
    if (difference.empty()) continue;
    ++differences;
    const bool argued = exceptions.find(file) != std::string::npos;
    if (!argued) ++unargued;
    fmt::print("{} [{}]: {}{}\n", file, row.at("verdict"), difference,
               argued ? " (argued in EXCEPTIONS.md)" : "");
  }
  fmt::print("{} of {}\n", static_cast<int>(rows.size()) - differences, rows.size());
  return differences <= kMaxDifferences && unargued == 0 ? 0 : 1;
}
