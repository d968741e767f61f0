// SPDX-License-Identifier: Apache-2.0
#include "dataset/label_cache.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "dataset/problem_codec.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic = {'y', 'o', 'l', 'o', 'a', 'd', 'L', '1'};
constexpr size_t kAlignment = 64;
constexpr size_t kSections = 10;

struct Section {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct Header {
  std::array<char, 8> magic = kMagic;
  uint64_t checksum = 0;  ///< XXH3 of the whole file with this field zero
  uint64_t file_bytes = 0;
  std::array<Section, kSections> sections;
};

using Bytes = std::span<const std::byte>;

std::array<Bytes, kSections> sections_of(const ScanTables& tables, const std::string& identity,
                                         const std::string& problems) {
  return {std::as_bytes(tables.images),          std::as_bytes(tables.states),
          std::as_bytes(tables.left_out),        std::as_bytes(tables.rows),
          std::as_bytes(tables.polygon_offsets), std::as_bytes(tables.polygon_points),
          std::as_bytes(tables.keypoints),       std::as_bytes(tables.strings),
          std::as_bytes(std::span(identity)),    std::as_bytes(std::span(problems))};
}

size_t padding_after(uint64_t bytes) {
  return (kAlignment - bytes % kAlignment) % kAlignment;
}

Status io_error(const std::string& what, const std::string& path) {
  return Status(Code::io, Stage::dataset, what + ": " + std::generic_category().message(errno),
                path);
}

/// A file that is deleted again unless it was published under its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& final_path) : final_path_(final_path) {
    static std::atomic<unsigned> serial = 0;  // two loaders of one process may write at once
    path_ = final_path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(++serial);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  }
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (fd_ >= 0 && !published_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return fd_ >= 0; }

  bool write(Bytes bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return true;
  }

  bool publish() {
    published_ = ::fsync(fd_) == 0 && ::rename(path_.c_str(), final_path_.c_str()) == 0;
    return published_;
  }

 private:
  std::string final_path_, path_;
  int fd_ = -1;
  bool published_ = false;
};

/// Removes `*.tmp.PID.N` of processes that are gone.
void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const size_t at = name.rfind(".tmp.");
    if (at == std::string::npos || !name.starts_with("labels-")) continue;
    pid_t pid = 0;
    std::from_chars(name.data() + at + 5, name.data() + name.size(), pid);
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) ::unlink(it->path().c_str());
  }
}

struct Mapping {
  const std::byte* data = nullptr;
  size_t bytes = 0;
  ~Mapping() {
    if (data != nullptr) ::munmap(const_cast<std::byte*>(data), bytes);
  }
};

Result<std::shared_ptr<Mapping>> map_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    if (errno != ENOENT) return io_error("cannot open", path);
    return Status(Code::not_found, Stage::dataset, "no cache yet", path);
  }
  struct stat facts {};
  auto mapping = std::make_shared<Mapping>();
  void* data = MAP_FAILED;
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
    mapping->bytes = static_cast<size_t>(facts.st_size);
    data = ::mmap(nullptr, mapping->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  ::close(fd);
  if (data == MAP_FAILED) return Status(Code::corrupt, Stage::dataset, "empty or not a file", path);
  mapping->data = static_cast<const std::byte*>(data);
  return mapping;
}

/// The section as an array, or nothing if it does not fit the file.
template <class T>
bool take(const Mapping& file, const Section& section, std::span<const T>& array) {
  if (section.offset % alignof(T) != 0 || section.bytes % sizeof(T) != 0) return false;
  if (section.offset > file.bytes || section.bytes > file.bytes - section.offset) return false;
  array = {reinterpret_cast<const T*>(file.data + section.offset), section.bytes / sizeof(T)};
  return true;
}

bool offsets_hold(const ScanTables& tables, int kpt_count) {
  if (tables.states.size() != tables.images.size()) return false;
  const auto path_holds = [&](const ImageRecord& record) {
    return record.path_offset <= tables.strings.size() &&
           record.path_bytes <= tables.strings.size() - record.path_offset;
  };
  uint64_t next_row = 0;
  for (const ImageRecord& record : tables.images) {
    if (!path_holds(record) || record.first_row != next_row) return false;
    next_row += record.rows;
  }
  for (const ImageRecord& record : tables.left_out) {
    if (!path_holds(record)) return false;
  }
  if (next_row != tables.rows.size()) return false;
  const auto& offsets = tables.polygon_offsets;
  if (!offsets.empty()) {
    if (offsets.size() != tables.rows.size() + 1 || offsets.front() != 0) return false;
    for (size_t i = 1; i < offsets.size(); ++i) {
      if (offsets[i] < offsets[i - 1]) return false;
    }
    if (offsets.back() != tables.polygon_points.size() / 2) return false;
  }
  const size_t keypoints = tables.rows.size() * static_cast<size_t>(kpt_count) * 3;
  return tables.keypoints.empty() || tables.keypoints.size() == keypoints;
}

uint64_t checksum_of(const Mapping& file, Header header) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  header.checksum = 0;
  XXH3_64bits_update(state, &header, sizeof header);
  XXH3_64bits_update(state, file.data + sizeof header, file.bytes - sizeof header);
  const uint64_t sum = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return sum;
}

}  // namespace

std::string label_cache_folder(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/yoload";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.cache/yoload";
  }
  return {};
}

std::string label_cache_name(const std::string& key) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string name = "labels-";
  const uint64_t hash = XXH3_64bits(key.data(), key.size());
  for (int shift = 60; shift >= 0; shift -= 4) name += kDigits[(hash >> shift) & 15];
  return name + ".cache";
}

Result<ScanTables> load_label_cache(const std::string& path, const std::string& identity,
                                    int kpt_count) {
  const auto mapped = map_file(path);
  if (!mapped.ok()) return mapped.status();
  const Mapping& file = **mapped;
  const auto corrupt = [&](const char* why) {
    return Status(Code::corrupt, Stage::dataset, why, path);
  };
  Header header;
  if (file.bytes < sizeof header) return corrupt("cut short");
  std::memcpy(&header, file.data, sizeof header);
  if (header.magic != kMagic) return corrupt("not a label cache of this version");
  if (header.file_bytes != file.bytes) return corrupt("cut short");
  if (header.checksum != checksum_of(file, header)) return corrupt("checksum does not match");

  ScanTables tables;
  std::span<const char> stored_identity, problems;
  const auto& s = header.sections;
  const bool fits = take(file, s[0], tables.images) && take(file, s[1], tables.states) &&
                    take(file, s[2], tables.left_out) && take(file, s[3], tables.rows) &&
                    take(file, s[4], tables.polygon_offsets) &&
                    take(file, s[5], tables.polygon_points) && take(file, s[6], tables.keypoints) &&
                    take(file, s[7], tables.strings) && take(file, s[8], stored_identity) &&
                    take(file, s[9], problems);
  if (!fits) return corrupt("sections do not fit");
  if (std::string_view(stored_identity.data(), stored_identity.size()) != identity) {
    return corrupt("belongs to another scan");
  }
  if (!offsets_hold(tables, kpt_count)) return corrupt("offsets contradict each other");
  if (!decode_problems({problems.data(), problems.size()}, tables.problems)) {
    return corrupt("list of problems is damaged");
  }
  tables.storage = *mapped;
  return tables;
}

Status save_label_cache(const std::string& path, const std::string& identity,
                        const ScanTables& tables) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status(Code::io, Stage::dataset, error.message(), folder.string());
  remove_leftovers(folder);

  const std::string problems = encode_problems(tables.problems);
  const auto sections = sections_of(tables, identity, problems);
  static constexpr std::array<std::byte, kAlignment> kZeros{};
  std::vector<Bytes> pieces;
  Header header;
  uint64_t at = sizeof header;
  const auto add = [&](Bytes bytes) {
    pieces.push_back(bytes);
    at += bytes.size();
  };
  for (size_t i = 0; i < kSections; ++i) {
    add(Bytes(kZeros).first(padding_after(at)));
    header.sections[i] = {at, sections[i].size()};
    add(sections[i]);
  }
  header.file_bytes = at;
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  XXH3_64bits_update(state, &header, sizeof header);
  for (const Bytes piece : pieces) {
    if (!piece.empty()) XXH3_64bits_update(state, piece.data(), piece.size());
  }
  header.checksum = XXH3_64bits_digest(state);
  XXH3_freeState(state);

  TemporaryFile file(path);
  if (!file.is_open()) return io_error("cannot write", path);
  bool written = file.write(std::as_bytes(std::span(&header, 1)));
  for (const Bytes piece : pieces) written = written && file.write(piece);
  if (!written || !file.publish()) return io_error("cannot write", path);
  return {};
}

}  // namespace yoload
