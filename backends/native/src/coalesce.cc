#include "coalesce.h"

#include <utility>

namespace aasm::backend_native {
namespace {

// Field names, punctuation, words of the closed vocabularies, and 17 places for each number.
constexpr std::size_t kFixedBytes = 900;
constexpr std::size_t kBytesPerParent = 18;

// A string or path in JSON: at worst "\u00XX" for each byte (6); base64 takes less.
std::size_t string_bound(std::string_view text) {
  std::size_t bytes = 16;  // quotes, or the object that holds base64
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    bytes += byte < 0x20 ? 6 : (character == '"' || character == '\\' || byte >= 0x80 ? 2 : 1);
  }
  return bytes;
}

void append(std::string* key, std::string_view text) {
  *key += std::to_string(text.size());
  *key += ':';
  *key += text;
}

void append(std::string* key, std::int64_t number) {
  *key += std::to_string(number);
  *key += ';';
}

void append_path(std::string* key, const std::optional<schema::PathBytes>& path) {
  append(key, path.has_value() ? 1 : 0);
  append(key, path ? std::string_view(path->bytes()) : "");
}

template <class E>
std::int64_t ordinal(E value) {
  return static_cast<std::int64_t>(value);
}

bool is_unlisted(const schema::Event& event) {
  return event.object.type == schema::ObjectType::kUnlisted;
}

// All that makes two events the same (record_activity.h). Lengths stand before texts, so no two
// events share a key by accident.
std::string identity(EventKind kind, const schema::Event& event) {
  std::string key;
  key.reserve(256);
  append(&key, ordinal(kind));
  append(&key, ordinal(event.domain));
  append(&key, event.operation);
  append(&key, ordinal(event.object.type));
  append(&key, event.object.name);
  append(&key, event.object.number.has_value() ? 1 : 0);
  append(&key, event.object.number.value_or(0));
  append(&key, event.object.arch);
  append_path(&key, event.object.path);
  append_path(&key, event.object.given_path);
  append_path(&key, event.object.new_path);
  append(&key, std::to_string(event.object.device.value_or(0)));
  append(&key, std::to_string(event.object.inode.value_or(0)));
  append(&key, event.object.address.value_or(""));
  append(&key, event.object.port.value_or(-1));
  append(&key, event.object.protocol.value_or(""));
  append(&key, event.object.query.value_or(""));
  for (const std::string& answer : event.object.answers.value_or(std::vector<std::string>())) {
    append(&key, answer);
  }
  append(&key, event.object.address_class ? ordinal(*event.object.address_class) : -1);
  append(&key, ordinal(event.outcome));
  append(&key, event.os_errno);
  append(&key, ordinal(event.cause));
  append(&key, event.rule);
  append(&key, ordinal(event.reply));
  append(&key, ordinal(event.timing));
  append(&key, ordinal(event.synchrony));
  append(&key, event.mechanism);
  append(&key,
         is_unlisted(event) ? std::string_view() : std::string_view(event.executable.bytes()));
  append(&key, event.nested_filter ? 1 : 0);
  return key;
}

// Four paths of the longest kind, of bytes that JSON has to escape, do not fit into one record.
// What the caller wrote is left out then, and after that the path of its program.
bool fits_into_record(const schema::Event& event) {
  return encoded_size_bound(event) <= BatchLimits{}.max_bytes;
}

void fit_into_record(schema::Event& event) {
  if (!fits_into_record(event)) {
    event.object.given_path.reset();
  }
  if (!fits_into_record(event)) {
    event.executable = {};
  }
}

schema::Event unlisted(schema::Event event) {
  event.object = {};
  event.object.type = schema::ObjectType::kUnlisted;
  return event;
}

}  // namespace

std::size_t encoded_size_bound(const schema::Event& event) {
  std::size_t bytes = kFixedBytes + event.parents.size() * kBytesPerParent;
  for (const std::string_view text :
       {std::string_view(event.operation), std::string_view(event.object.name),
        std::string_view(event.object.arch), std::string_view(event.rule),
        std::string_view(event.mechanism), std::string_view(event.executable.bytes())}) {
    bytes += string_bound(text);
  }
  for (const auto* path : {&event.object.path, &event.object.given_path, &event.object.new_path}) {
    bytes += *path ? string_bound((*path)->bytes()) : 0;
  }
  for (const std::string& answer : event.object.answers.value_or(std::vector<std::string>())) {
    bytes += string_bound(answer) + 1;
  }
  return bytes;
}

bool Coalescer::holds(EventKind kind, const schema::Event& event, Clock::time_point now) const {
  if (budget_.spent(event, now) && index_.contains(identity(kind, unlisted(event)))) {
    return true;
  }
  if (fits_into_record(event)) {
    return index_.contains(identity(kind, event));
  }
  schema::Event shortened = event;
  fit_into_record(shortened);
  return index_.contains(identity(kind, shortened));
}

bool Coalescer::batch_is_full(EventKind kind, std::size_t more_bytes) const {
  return !entries_.empty() && (kind != kind_ || entries_.size() >= limits_.max_events ||
                               bytes_ + more_bytes > limits_.max_bytes);
}

void Coalescer::add(EventKind kind, schema::Event event, Clock::time_point now) {
  flush_if_due(now);
  fit_into_record(event);
  std::string key = identity(kind, event);
  if (count_up(key, event)) {
    return;
  }
  std::size_t size = encoded_size_bound(event);
  if (!budget_.spent(event, now)) {
    budget_.take(event, size, now);
  } else {
    event = unlisted(std::move(event));
    key = identity(kind, event);
    if (count_up(key, event)) {
      return;
    }
    size = encoded_size_bound(event);
  }
  open_entry(kind, std::move(event), {std::move(key), size}, now);
}

bool Coalescer::count_up(const std::string& key, const schema::Event& event) {
  const auto found = index_.find(key);
  if (found == index_.end()) {
    return false;
  }
  Entry& entry = entries_[found->second];
  entry.pids.insert(event.pid);
  entry.event.count += event.count;
  entry.event.pids = static_cast<std::int64_t>(entry.pids.size());
  actions_ += event.count;
  return true;
}

void Coalescer::open_entry(EventKind kind, schema::Event event, Measured measured,
                           Clock::time_point now) {
  if (batch_is_full(kind, measured.size)) {
    ++full_batches_;
    flush();
  }
  if (!deadline()) {
    opened_at_ = now;
  }
  kind_ = kind;
  event.number = next_number_++;
  event.pids = 1;
  if (event.nested_filter && !nested_filter_event_) {
    nested_filter_event_ = event.number;
  }
  bytes_ += measured.size;
  actions_ += event.count;
  index_.emplace(std::move(measured.key), entries_.size());
  const std::int64_t pid = event.pid;
  entries_.push_back({std::move(event), {pid}});
}

void Coalescer::count_dropped(Clock::time_point now) {
  if (!deadline()) {
    opened_at_ = now;
  }
  ++dropped_pending_;
}

std::optional<Coalescer::Clock::time_point> Coalescer::deadline() const {
  if (entries_.empty() && dropped_pending_ == 0) {
    return std::nullopt;
  }
  return opened_at_ + limits_.max_age;
}

void Coalescer::flush_if_due(Clock::time_point now) {
  const std::optional<Clock::time_point> due = deadline();
  if (due && now >= *due) {
    flush();
  }
}

void Coalescer::flush() {
  if (entries_.empty() && dropped_pending_ == 0) {
    return;
  }
  schema::EventBatch batch;
  batch.first = next_number_ - static_cast<std::int64_t>(entries_.size());
  batch.dropped = dropped_pending_;
  batch.events.reserve(entries_.size());
  for (Entry& entry : entries_) {
    batch.events.push_back(std::move(entry.event));
  }
  dropped_ += dropped_pending_;
  dropped_pending_ = 0;
  entries_.clear();
  index_.clear();
  bytes_ = 0;
  if (!emit_) {
    for (const schema::Event& event : batch.events) {
      dropped_ += event.count;
    }
    return;
  }
  if (kind_ == EventKind::kDecision) {
    emit_(schema::DecisionBatch{std::move(batch)});
  } else {
    emit_(schema::ObservationBatch{std::move(batch)});
  }
}

schema::ChannelTotals Coalescer::totals() const {
  schema::ChannelTotals totals;
  totals.events = next_number_ - 1;
  totals.actions = actions_;
  totals.dropped = dropped_ + dropped_pending_;
  totals.nested_filter_event = nested_filter_event_;
  return totals;
}

}  // namespace aasm::backend_native
