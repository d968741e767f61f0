// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda/nvjpeg_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <vector>

namespace yoload {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so"};

// The first version with interpolated chroma upsampling that was seen to work here.
constexpr int kOldestVersion = 12000;

struct Search {
  std::vector<std::string> tried;
  void* library = nullptr;

  bool open(const std::string& path, int mode = RTLD_NOW | RTLD_LOCAL) {
    library = dlopen(path.c_str(), mode);
    if (library == nullptr && (mode & RTLD_NOLOAD) == 0) {
      const char* why = dlerror();
      tried.push_back(why != nullptr ? why : path);
    }
    return library != nullptr;
  }
  bool open_in(const fs::path& folder) {
    for (const char* name : kNames) {
      std::error_code ignored;
      if (fs::exists(folder / name, ignored) && open(folder / name)) return true;
    }
    tried.push_back(folder.string() + ": not there");
    return false;
  }
};

// site-packages/yoload/lib/libyoload.so -> site-packages.
fs::path packages_folder() {
  Dl_info info{};
  static const char own_address = 0;
  if (dladdr(&own_address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path().parent_path().parent_path();
}

bool find(const std::string& where, Search* search) {
  const char* environment = std::getenv("YOLOAD_NVJPEG");
  const std::string named = !where.empty() ? where : environment != nullptr ? environment : "";
  std::error_code ignored;
  if (!named.empty()) {  // what the user names is taken or refused, never replaced
    return fs::is_directory(named, ignored) ? search->open_in(named) : search->open(named);
  }
  for (const char* name : kNames) {
    if (search->open(name, RTLD_NOW | RTLD_NOLOAD)) return true;
  }
  if (const fs::path packages = packages_folder(); !packages.empty()) {
    for (const char* folder : {"nvidia/cu13/lib", "nvidia/nvjpeg/lib"}) {
      if (fs::is_directory(packages / folder, ignored) && search->open_in(packages / folder)) {
        return true;
      }
    }
  }
  for (const char* name : kNames) {
    if (search->open(name)) return true;
  }
  return search->open_in("/usr/local/cuda/lib64");
}

std::string path_of(void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "libnvjpeg";
}

// Collects what a version of the library lacks.
class Binder {
 public:
  explicit Binder(void* library) : library_(library) {}
  template <class Function>
  void need(const char* name, Function** function) {
    want(name, function);
    if (*function == nullptr && missing_.empty()) missing_ = name;
  }
  template <class Function>
  void want(const char* name, Function** function) {
    *function =
        reinterpret_cast<Function*>(dlsym(library_, (std::string("nvjpeg") + name).c_str()));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

std::string bind(void* library, nvjpeg::Api* api) {
  Binder binder(library);
  binder.need("GetProperty", &api->GetProperty);
  binder.need("CreateExV2", &api->CreateExV2);
  binder.need("Destroy", &api->Destroy);
  binder.need("SetDeviceMemoryPadding", &api->SetDeviceMemoryPadding);
  binder.need("SetPinnedMemoryPadding", &api->SetPinnedMemoryPadding);
  binder.need("JpegStateCreate", &api->JpegStateCreate);
  binder.need("JpegStateDestroy", &api->JpegStateDestroy);
  binder.need("DecodeBatchedInitialize", &api->DecodeBatchedInitialize);
  binder.need("DecodeBatched", &api->DecodeBatched);
  binder.need("JpegStreamCreate", &api->JpegStreamCreate);
  binder.need("JpegStreamDestroy", &api->JpegStreamDestroy);
  binder.need("JpegStreamParse", &api->JpegStreamParse);
  binder.need("DecodeParamsCreate", &api->DecodeParamsCreate);
  binder.need("DecodeParamsDestroy", &api->DecodeParamsDestroy);
  binder.need("DecodeParamsSetOutputFormat", &api->DecodeParamsSetOutputFormat);
  binder.need("DecoderCreate", &api->DecoderCreate);
  binder.need("DecoderDestroy", &api->DecoderDestroy);
  binder.need("DecoderStateCreate", &api->DecoderStateCreate);
  binder.need("BufferPinnedCreateV2", &api->BufferPinnedCreateV2);
  binder.need("BufferPinnedDestroy", &api->BufferPinnedDestroy);
  binder.need("BufferDeviceCreateV2", &api->BufferDeviceCreateV2);
  binder.need("BufferDeviceDestroy", &api->BufferDeviceDestroy);
  binder.need("StateAttachPinnedBuffer", &api->StateAttachPinnedBuffer);
  binder.need("StateAttachDeviceBuffer", &api->StateAttachDeviceBuffer);
  binder.need("DecodeJpegHost", &api->DecodeJpegHost);
  binder.need("DecodeJpegTransferToDevice", &api->DecodeJpegTransferToDevice);
  binder.need("DecodeJpegDevice", &api->DecodeJpegDevice);
  binder.want("GetHardwareDecoderInfo", &api->GetHardwareDecoderInfo);
  return binder.missing();
}

Status missing(const Search& search) {
  std::string message =
      "nvJPEG was not found; install nvidia-nvjpeg (pip) or the CUDA toolkit, or name the folder "
      "of "
      "libnvjpeg.so in YOLOAD_NVJPEG. Tried:";
  for (const std::string& what : search.tried) message += "\n  " + what;
  return {Code::not_found, Stage::decode, std::move(message)};
}

Result<const NvjpegLibrary*> open(const std::string& where) {
  Search search;
  if (!find(where, &search)) return missing(search);
  static NvjpegLibrary library;
  const std::string lacking = bind(search.library, &library.api);
  if (!lacking.empty()) {
    return Status(Code::unsupported, Stage::decode,
                  "this nvJPEG is too old: it lacks nvjpeg" + lacking);
  }
  library.path = path_of(reinterpret_cast<void*>(library.api.GetProperty));
  int major = 0, minor = 0;
  library.api.GetProperty(nvjpeg::Property::major, &major);
  library.api.GetProperty(nvjpeg::Property::minor, &minor);
  library.version = major * 1000 + minor;
  if (library.version < kOldestVersion) {
    return Status(Code::unsupported, Stage::decode,
                  library.path + " is version " + std::to_string(major) + "." +
                      std::to_string(minor) + "; 12.0 or newer is needed");
  }
  return &library;
}

}  // namespace

Result<const NvjpegLibrary*> nvjpeg_library(const std::string& where) {
  static std::mutex mutex;
  static const NvjpegLibrary* opened = nullptr;
  const std::lock_guard lock(mutex);
  if (opened != nullptr) return opened;
  auto library = open(where);
  if (library.ok()) opened = library.value();
  return library;
}

}  // namespace yoload
