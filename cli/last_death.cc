#include "last_death.h"

#include <cstddef>
#include <cstdint>

#include "aasm/ledger/reader.h"
#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

using schema::JsonValue;
using schema::Result;

constexpr std::size_t kRunsLookedAt = 20;
constexpr std::int64_t kStatusOfLoader = 127;  // of ld.so, when a library cannot be loaded

std::string text_of(const JsonValue& object, const char* key) {
  const JsonValue* value = object.find(key);
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr ? std::string() : *text;
}

std::int64_t number_of(const JsonValue& object, const char* key) {
  const JsonValue* value = object.find(key);
  const std::int64_t* number = value == nullptr ? nullptr : value->as_int();
  return number == nullptr ? 0 : *number;
}

// What is looked for in the records of one run.
struct Ending {
  bool same_document = false;
  std::string refused;  // the last call
  std::string ended;

  void add(const std::string& kind, const JsonValue& body, const std::string& document) {
    if (kind == "policy.resolved") {
      same_document = same_document || text_of(body, "document") == document;
    } else if (kind == "process.exited") {
      add_exit(body);
    } else if (const JsonValue* events = body.find("events"); kind == "decision.batch" && events) {
      for (const JsonValue& event : events->as_array() ? *events->as_array() : JsonValue::Array()) {
        add_event(event);
      }
    }
  }

 private:
  void add_exit(const JsonValue& body) {
    if (text_of(body, "cause") == "signalled") {
      ended = "by signal " + std::to_string(number_of(body, "signal"));
    } else if (number_of(body, "status") == kStatusOfLoader) {
      ended = "with status " + std::to_string(kStatusOfLoader);
    }
  }

  void add_event(const JsonValue& event) {
    const JsonValue* object = event.find("object");
    if (object != nullptr && text_of(event, "domain") == "syscall") {
      refused = text_of(event, "outcome") == "denied" ? text_of(*object, "name") : refused;
    }
  }
};

Result<std::string> find(const std::string& path, const std::string& document) {
  ledger::LedgerReader reader = AASM_TRY(ledger::LedgerReader::open(path));
  for (const ledger::RunSummary& run : AASM_TRY(reader.runs(kRunsLookedAt))) {
    Ending ending;
    AASM_TRY(reader.visit_run(run.run, [&](const ledger::StoredRecord& record) -> Result<void> {
      ending.add(record.statement.envelope.kind, record.statement.body, document);
      return {};
    }));
    if (ending.same_document) {
      return ending.ended.empty() || ending.refused.empty()
                 ? std::string()
                 : "the last run under this document (" + run.run.text() +
                       ", not verified) ended " + ending.ended + " after `" +
                       schema::escape_for_display(ending.refused) + "` was refused";
    }
  }
  return std::string();
}

}  // namespace

std::string last_death(const std::string& ledger, const schema::Sha256& document) {
  const Result<std::string> found = find(ledger, document.hex());
  return found ? *found : std::string();
}

}  // namespace aasm::cli
