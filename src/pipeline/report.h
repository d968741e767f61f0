// Gathers the engine's counters into the public Report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/dataset_index.h"
#include "core/json.h"
#include "pipeline/engine.h"
#include "yoload/loader.h"

namespace yoload {

Report make_report(const Engine& engine, const LoaderOptions& options, const DatasetIndex& index);

/// An array of stages under `key`.
void write_stages(const char* key, const std::vector<StageReport>& stages, JsonWriter* json);

}  // namespace yoload
