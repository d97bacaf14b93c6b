#include "judge.h"

#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/sqlite/connection.h"

#include "support/temp_dir.h"

namespace aasm::verifier::test {
namespace {

using schema::JsonValue;

std::set<std::string> codes_where(const VerifyReport& report, bool notice) {
  std::set<std::string> found;
  for (const JsonValue& group : *value_at(report.json, "findings/groups")->as_array()) {
    if ((*group.find("weight")->as_string() == "notice") == notice) {
      found.insert(*group.find("code")->as_string());
    }
  }
  return found;
}

}  // namespace

VerifyRequest request_for(const std::string& path, const ledger_format::TrustSet& trust) {
  VerifyRequest request;
  request.target = path;
  request.trust = trust;
  request.trust_source = "test";
  request.threads = 2;
  return request;
}

HeadNote head_of(const std::string& note) {
  const std::string origin = note.substr(0, note.find('\n'));
  return {crypto::sha256(schema::as_bytes(origin)).hex(), note};
}

const JsonValue* value_at(const JsonValue& json, const std::string& path) {
  const JsonValue* at = &json;
  std::size_t begin = 0;
  while (at != nullptr && begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    at = at->find(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return at;
}

std::set<std::string> codes(const VerifyReport& report) {
  return codes_where(report, false);
}
std::set<std::string> notices(const VerifyReport& report) {
  return codes_where(report, true);
}

std::int64_t count_of(const VerifyReport& report, const std::string& code) {
  for (const JsonValue& group : *value_at(report.json, "findings/groups")->as_array()) {
    if (*group.find("code")->as_string() == code) {
      return *group.find("count")->as_int();
    }
  }
  return 0;
}

std::int64_t number_at(const VerifyReport& report, const std::string& path) {
  const JsonValue* value = value_at(report.json, path);
  return value == nullptr || value->as_int() == nullptr ? -1 : *value->as_int();
}

VerifyReport verify_forged(const Forge& forge, VerifyRequest request) {
  const aasm::test::TempDir dir;
  const std::string path = dir.file("ledger.db");
  forge.write(path);
  request.target = path;
  request.trust = trust_in(forge.keys(), forge.origin());
  request.trust_source = "test";
  request.threads = 2;
  return verify(request);
}

VerifyReport verify_forged(const Forge& forge) {
  return verify_forged(forge, VerifyRequest());
}

void doctor(const std::string& path, const std::string& sql) {
  sqlite::Connection db = sqlite::Connection::open(path, sqlite::OpenMode::kReadWrite).value();
  db.execute("PRAGMA synchronous=OFF").value();
  db.execute(sql).value();
}

std::string verdict_from_json(const JsonValue& report) {
  std::set<std::string> weights;
  for (const JsonValue& group : *value_at(report, "findings/groups")->as_array()) {
    weights.insert(*group.find("weight")->as_string());
  }
  if (weights.count("fails") != 0) {
    return "FAILED";
  }
  if (weights.count("unreadable") != 0) {
    return "UNREADABLE";
  }
  return weights.count("inconclusive") != 0 ? "INCONCLUSIVE" : "VERIFIED";
}

}  // namespace aasm::verifier::test
