#include <algorithm>
#include <iterator>
#include <utility>

#include "aasm/schema/list_pieces.h"

#include "controls.h"

// From controls and canaries to records that hold them.
namespace aasm::backend_native {
namespace {

using schema::Control;
using schema::ControlPrepared;

bool is_done(const wire::StepReport& report) {
  return report.state == static_cast<std::uint32_t>(wire::StepState::kDone);
}

// What an inventory of names may take of one control.
struct Room {
  std::size_t names = 1000;
  std::size_t bytes = std::size_t{24} * 1024;
};

// Takes from `names` what there is room for.
std::vector<std::string> take_some(std::vector<std::string>& names, Room& room) {
  std::size_t count = 0;
  for (; count < names.size() && room.names > 0; ++count) {
    const std::size_t size = schema::json_write(schema::JsonValue(names[count])).size() + 1;
    const bool first = room.names == Room().names;
    if (size > room.bytes && !first) {
      room.names = 0;  // for the lists behind too: the order stays
      break;
    }
    room.bytes -= std::min(size, room.bytes);
    --room.names;
  }
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::string> some(std::make_move_iterator(names.begin()),
                                std::make_move_iterator(end));
  names.erase(names.begin(), end);
  return some;
}

// A control with too many names becomes several, `environment`, `environment.2` and so on, that
// differ in id and names only.
std::vector<Control> split_names(Control control) {
  std::vector<std::string> names = std::move(control.names);
  std::vector<std::string> removed = std::move(control.removed);
  std::vector<std::string> ambient = std::move(control.ambient_unremoved);
  std::vector<Control> pieces;
  do {
    Control piece = control;
    if (!pieces.empty()) {
      piece.id += "." + std::to_string(pieces.size() + 1);
    }
    Room room;
    piece.names = take_some(names, room);
    piece.removed = take_some(removed, room);
    piece.ambient_unremoved = take_some(ambient, room);
    pieces.push_back(std::move(piece));
  } while (!names.empty() || !removed.empty() || !ambient.empty());
  return pieces;
}

// Takes what is too much of the ids that denials may cite into further controls, which hold nothing
// else of their own. What is left has room beside a full list of grants or names.
std::vector<Control> take_further_rules(Control& control) {
  constexpr std::size_t kRules = 300;
  constexpr std::size_t kBytes = std::size_t{8} * 1024;
  std::vector<std::string> rules = std::exchange(control.rules, {});
  Control bare = control;
  bare.seccomp.reset();
  if (bare.landlock) {
    bare.landlock->grants.clear();
  }
  std::vector<Control> further;
  std::size_t bytes = 0;
  for (std::string& rule : rules) {
    std::vector<std::string>* list = further.empty() ? &control.rules : &further.back().rules;
    const std::size_t size = schema::json_write(schema::JsonValue(rule)).size() + 1;
    if (!list->empty() && (bytes + size > kBytes || list->size() == kRules)) {
      further.push_back(bare);
      list = &further.back().rules;
      bytes = 0;
    }
    bytes += size;
    list->push_back(std::move(rule));
  }
  return further;
}

// A control whose list of grants is too long becomes several that differ in nothing else.
std::vector<Control> split_grants(Control control) {
  if (!control.landlock) {
    return split_names(std::move(control));
  }
  std::vector<Control> pieces;
  for (auto& grants : schema::split_for_records(std::move(control.landlock->grants))) {
    pieces.push_back(control);
    pieces.back().landlock->grants = std::move(grants);
  }
  return pieces;
}

}  // namespace

std::vector<ControlPrepared> control_records(std::vector<Control> controls,
                                             std::vector<schema::PreparedImage> images,
                                             schema::BoundBy bound,
                                             const std::string& failed_step) {
  std::vector<Control> pieces;
  for (Control& control : controls) {
    std::vector<Control> further = take_further_rules(control);
    for (Control& piece : split_grants(std::move(control))) {
      pieces.push_back(std::move(piece));
    }
    std::move(further.begin(), further.end(), std::back_inserter(pieces));
  }
  std::vector<ControlPrepared> records;
  for (auto& piece : schema::split_for_records(std::move(pieces))) {
    ControlPrepared record;
    record.backend = "aasm-native";
    record.controls = std::move(piece);
    record.bound = bound;
    record.failed_step = failed_step;
    record.part = static_cast<std::int64_t>(records.size() + 1);
    records.push_back(std::move(record));
  }
  records.front().images = std::move(images);
  for (ControlPrepared& record : records) {
    record.parts = static_cast<std::int64_t>(records.size());
  }
  return records;
}

void report_steps(std::span<const wire::StepReport> steps, const std::string& failed_step,
                  std::vector<ControlPrepared>& records) {
  for (ControlPrepared& record : records) {
    record.failed_step = failed_step;
    for (Control& control : record.controls) {
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto step = static_cast<wire::Step>(i);
        if (step != wire::Step::kExec && control.step == wire::step_name(step)) {
          control.installed = is_done(steps[i]);
          control.os_errno = steps[i].os_errno;
        }
      }
    }
  }
}

std::vector<schema::BoundaryProved> proved_records(schema::BoundaryProved proved) {
  std::vector<schema::BoundaryProved> records;
  for (auto& piece : schema::split_for_records(std::move(proved.canaries))) {
    schema::BoundaryProved record;
    record.canaries = std::move(piece);
    record.part = static_cast<std::int64_t>(records.size() + 1);
    records.push_back(std::move(record));
  }
  records.front().no_canary = std::move(proved.no_canary);
  for (schema::BoundaryProved& record : records) {
    record.parts = static_cast<std::int64_t>(records.size());
  }
  return records;
}

}  // namespace aasm::backend_native
