// SPDX-License-Identifier: Apache-2.0
#include "pipeline/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <numeric>
#include <vector>

namespace yoload {
namespace {

template <class Number>
bool read(std::string_view text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}
bool read(std::string_view text, bool* value) {
  *value = text == "1" || text == "true" || text == "True";
  return *value || text == "0" || text == "false" || text == "False";
}
bool read(std::string_view text, std::string* value) {
  *value = text;
  return true;
}
/// "0,2,5"; empty is none.
template <class Number>
bool read_list(std::string_view text, std::vector<Number>* values) {
  values->clear();
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    Number value{};
    if (!read(text.substr(0, end), &value)) return false;
    values->push_back(value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

struct Option {
  std::string name;
  std::string type;
  std::string initial;
  std::function<bool(std::string_view, LoaderOptions*)> set;
};

const char* type_of(const int&) {
  return "int";
}
const char* type_of(const uint32_t&) {
  return "int";
}
const char* type_of(const uint64_t&) {
  return "int";
}
const char* type_of(const float&) {
  return "float";
}
const char* type_of(const double&) {
  return "float";
}
const char* type_of(const bool&) {
  return "bool";
}
const char* type_of(const std::string&) {
  return "str";
}

class Table {
 public:
  Table() {
    plain(
        "data", [](auto& o) -> auto& { return o.data; });
    plain(
        "split", [](auto& o) -> auto& { return o.split; });
    plain(
        "task", [](auto& o) -> auto& { return o.task; });
    plain(
        "imgsz", [](auto& o) -> auto& { return o.imgsz; });
    plain(
        "batch_size", [](auto& o) -> auto& { return o.batch_size; });
    plain(
        "rank", [](auto& o) -> auto& { return o.rank; });
    plain(
        "world_size", [](auto& o) -> auto& { return o.world_size; });
    plain(
        "augment_enabled", [](auto& o) -> auto& { return o.augment_enabled; });
    plain(
        "shuffle", [](auto& o) -> auto& { return o.shuffle; });
    plain(
        "rect", [](auto& o) -> auto& { return o.rect; });
    plain(
        "rect_pad", [](auto& o) -> auto& { return o.rect_pad; });
    plain(
        "stride", [](auto& o) -> auto& { return o.stride; });
    plain(
        "seed", [](auto& o) -> auto& { return o.seed; });
    plain(
        "epochs", [](auto& o) -> auto& { return o.epochs; });
    plain(
        "workers", [](auto& o) -> auto& { return o.workers; });
    plain(
        "prefetch_factor", [](auto& o) -> auto& { return o.prefetch_factor; });
    plain(
        "drop_last", [](auto& o) -> auto& { return o.drop_last; });
    plain(
        "memory_budget", [](auto& o) -> auto& { return o.memory_budget_bytes; });
    plain(
        "cache_dir", [](auto& o) -> auto& { return o.cache_dir; });
    plain(
        "scale_16bit", [](auto& o) -> auto& { return o.scale_16bit; });
    plain(
        "error_budget", [](auto& o) -> auto& { return o.error_budget; });
    plain(
        "window", [](auto& o) -> auto& { return o.window; });
    plain(
        "mask_ratio", [](auto& o) -> auto& { return o.mask_ratio; });
    plain(
        "overlap_mask", [](auto& o) -> auto& { return o.overlap_mask; });
    plain(
        "single_cls", [](auto& o) -> auto& { return o.single_cls; });
    plain(
        "strict_labels", [](auto& o) -> auto& { return o.strict_labels; });
    plain(
        "fraction", [](auto& o) -> auto& { return o.fraction; });
    plain(
        "simd", [](auto& o) -> auto& { return o.simd; });
    plain(
        "max_pixels", [](auto& o) -> auto& { return o.limits.max_pixels; });
    plain(
        "max_scans", [](auto& o) -> auto& { return o.limits.max_scans; });
    plain(
        "max_memory_bytes", [](auto& o) -> auto& { return o.limits.max_memory_bytes; });
    plain(
        "max_seconds", [](auto& o) -> auto& { return o.limits.max_seconds; });
    plain(
        "value_scale", [](auto& o) -> auto& { return o.scale; });
    plain(
        "device", [](auto& o) -> auto& { return o.device; });
    plain(
        "device_memory_budget", [](auto& o) -> auto& { return o.device_memory_budget_bytes; });
    plain(
        "decode_batch", [](auto& o) -> auto& { return o.decode_batch; });
    plain(
        "hardware_decode", [](auto& o) -> auto& { return o.hardware_decode; });
    plain(
        "cpu_decode_share", [](auto& o) -> auto& { return o.cpu_decode_share; });
    plain(
        "sm_decode_share", [](auto& o) -> auto& { return o.sm_decode_share; });
    list("classes", [](std::vector<int>&& v, LoaderOptions* o) {
      o->classes = std::move(v);
      return true;
    });
    list("rect_order", [](std::vector<int>&& v, LoaderOptions* o) {
      o->rect_order = std::move(v);
      return true;
    });
    triple("mean", [](LoaderOptions* o) { return &o->mean; });
    triple("std", [](LoaderOptions* o) { return &o->std; });
    choice<ResizeMode>("resize",
                       {{"letterbox", ResizeMode::letterbox}, {"stretch", ResizeMode::stretch}},
                       [](LoaderOptions* o) { return &o->resize; });
    choice<Fidelity>("fidelity", {{"exact", Fidelity::exact}, {"fused", Fidelity::fused}},
                     [](LoaderOptions* o) { return &o->fidelity; });
    choice<CacheMode>(
        "cache",
        {{"none", CacheMode::none}, {"bytes", CacheMode::bytes}, {"pixels", CacheMode::pixels}},
        [](LoaderOptions* o) { return &o->cache; });
    choice<Validate>("validate", {{"scan", Validate::scan}, {"decode", Validate::decode}},
                     [](LoaderOptions* o) { return &o->validate; });
    choice<OnCorrupt>("on_corrupt", {{"reject", OnCorrupt::reject}, {"accept", OnCorrupt::accept}},
                      [](LoaderOptions* o) { return &o->on_corrupt; });
    choice<DType>("dtype",
                  {{"uint8", DType::uint8},
                   {"float16", DType::float16},
                   {"bfloat16", DType::bfloat16},
                   {"float32", DType::float32}},
                  [](LoaderOptions* o) { return &o->dtype; });
    augment(
        "mosaic", [](auto& a) -> auto& { return a.mosaic; });
    augment(
        "mosaic_tiles", [](auto& a) -> auto& { return a.mosaic_tiles; });
    augment(
        "mixup", [](auto& a) -> auto& { return a.mixup; });
    augment(
        "cutmix", [](auto& a) -> auto& { return a.cutmix; });
    augment(
        "copy_paste", [](auto& a) -> auto& { return a.copy_paste; });
    augment(
        "degrees", [](auto& a) -> auto& { return a.degrees; });
    augment(
        "translate", [](auto& a) -> auto& { return a.translate; });
    augment(
        "scale", [](auto& a) -> auto& { return a.scale; });
    augment(
        "shear", [](auto& a) -> auto& { return a.shear; });
    augment(
        "perspective", [](auto& a) -> auto& { return a.perspective; });
    augment(
        "hsv_h", [](auto& a) -> auto& { return a.hsv_h; });
    augment(
        "hsv_s", [](auto& a) -> auto& { return a.hsv_s; });
    augment(
        "hsv_v", [](auto& a) -> auto& { return a.hsv_v; });
    augment(
        "flipud", [](auto& a) -> auto& { return a.flipud; });
    augment(
        "fliplr", [](auto& a) -> auto& { return a.fliplr; });
    augment(
        "bgr", [](auto& a) -> auto& { return a.bgr; });
    augment(
        "blur", [](auto& a) -> auto& { return a.blur; });
    augment(
        "median_blur", [](auto& a) -> auto& { return a.median_blur; });
    augment(
        "to_gray", [](auto& a) -> auto& { return a.to_gray; });
    augment(
        "clahe", [](auto& a) -> auto& { return a.clahe; });
    augment(
        "multi_scale", [](auto& a) -> auto& { return a.multi_scale; });
    augment(
        "close_mosaic", [](auto& a) -> auto& { return a.close_mosaic; });
    augment(
        "min_box_px", [](auto& a) -> auto& { return a.min_box_px; });
    augment(
        "auto_augment", [](auto& a) -> auto& { return a.auto_augment; });
    augment(
        "erasing", [](auto& a) -> auto& { return a.erasing; });
    choice<CopyPasteMode>("copy_paste_mode",
                          {{"flip", CopyPasteMode::flip}, {"mixup", CopyPasteMode::mixup}},
                          [](LoaderOptions* o) { return &o->augment.copy_paste_mode; });
    choice<BoxFilter>("box_filter",
                      {{"reference", BoxFilter::reference}, {"keep", BoxFilter::keep}},
                      [](LoaderOptions* o) { return &o->augment.box_filter; });
  }

  const std::vector<Option>& options() const { return options_; }

 private:
  template <class Field>
  void plain(const char* name, Field field) {
    LoaderOptions defaults;
    options_.push_back(
        {name, type_of(field(defaults)), fmt::format("{}", field(defaults)),
         [field](std::string_view text, LoaderOptions* o) { return read(text, &field(*o)); }});
  }
  template <class Field>
  void augment(const char* name, Field field) {
    plain(
        name, [field](auto& o) -> auto& { return field(o.augment); });
  }
  template <class Enum>
  void choice(const char* name, std::vector<std::pair<std::string, Enum>> values,
              std::function<Enum*(LoaderOptions*)> field) {
    std::vector<std::string> names;
    for (const auto& value : values) names.push_back(value.first);
    LoaderOptions defaults;
    const Enum initial = *field(&defaults);
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& v) { return v.second == initial; });
    options_.push_back({name, fmt::format("{}", fmt::join(names, "|")), found->first,
                        [values, field](std::string_view text, LoaderOptions* o) {
                          for (const auto& [value_name, value] : values) {
                            if (text == value_name) {
                              *field(o) = value;
                              return true;
                            }
                          }
                          return false;
                        }});
  }
  template <class Set>
  void list(const char* name, Set set) {
    options_.push_back({name, "list of int", "", [set](std::string_view text, LoaderOptions* o) {
                          std::vector<int> values;
                          return read_list(text, &values) && set(std::move(values), o);
                        }});
  }
  void triple(const char* name, std::function<std::array<float, 3>*(LoaderOptions*)> field) {
    LoaderOptions defaults;
    options_.push_back({name, "three floats", fmt::format("{}", fmt::join(*field(&defaults), ",")),
                        [field](std::string_view text, LoaderOptions* o) {
                          std::vector<float> values;
                          if (!read_list(text, &values) || values.size() != 3) return false;
                          std::copy(values.begin(), values.end(), field(o)->begin());
                          return true;
                        }});
  }

  std::vector<Option> options_;
};

const std::vector<Option>& table() {
  static const Table all;
  return all.options();
}

/// Levenshtein's distance: how many letters to change, add or leave out.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t above = row[k];
      row[k] = std::min({row[k] + 1, row[k - 1] + 1, diagonal + (a[i - 1] == b[k - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

Status set_option(std::string_view name, std::string_view value, LoaderOptions* options) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const Option& option) { return option.name == name; });
  if (found == table().end()) {
    const auto nearest =
        std::min_element(table().begin(), table().end(), [&](const Option& a, const Option& b) {
          return distance(a.name, name) < distance(b.name, name);
        });
    return Status(Code::invalid_argument, Stage::none,
                  fmt::format("there is no option '{}'; did you mean '{}'?", name, nearest->name));
  }
  if (!found->set(value, options)) {
    return Status(Code::invalid_argument, Stage::none,
                  fmt::format("{} = '{}': expected {}", name, value, found->type));
  }
  return {};
}

std::string option_help() {
  std::string text;
  for (const Option& option : table()) {
    text += fmt::format("{}\t{}\t{}\n", option.name, option.type, option.initial);
  }
  return text;
}

}  // namespace yoload
