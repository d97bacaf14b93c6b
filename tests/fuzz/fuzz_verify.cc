#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"
#include "aasm/verifier/verifier.h"

#include "support/temp_dir.h"

// Any bytes as the file that `aasm verify` is given, a ledger or a receipt, judged by the trust
// files of the seeds' ledgers. These hold:
//   a report for a program that parses and says the verdict, and one for a person without raw
//   control characters;
//   VERIFIED only with a pinned origin, whose root key is the one of the trust file.
namespace {

namespace schema = aasm::schema;
namespace format = aasm::ledger_format;
namespace verifier = aasm::verifier;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

format::TrustSet seed_trust() {
  const std::string folder = AASM_SOURCE_DIR "/tests/fuzz/trust/";
  format::TrustSet trust;
  trust.policy = format::parse_trust_policy(file_text(folder + "trust")).value();
  trust.keys = format::parse_trust_keys(file_text(folder + "trust.keys")).value();
  return trust;
}

verifier::VerifyRequest request_for(const aasm::test::TempDir& place) {
  verifier::VerifyRequest request;
  request.target = place.file("target");
  request.trust = seed_trust();
  request.trust_source = "seeds";
  request.threads = 1;  // workers have their own tests; one thread reproduces
  request.scratch = place.path().string();
  return request;
}

void check_text(const std::string& text) {
  require(!text.empty());
  for (const char c : text) {
    require(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
  }
}

void check_verified(const verifier::VerifyReport& report, const format::TrustSet& trust) {
  const schema::JsonValue* said = report.json.find("trust");
  require(said != nullptr && *said->find("pinned")->as_bool());
  const format::TrustedRoot* root = trust.root_of(*said->find("origin")->as_string());
  require(root != nullptr);
  require(*said->find("root")->as_string() == format::key_id(root->key.public_key()).hex());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const aasm::test::TempDir place;
  static const verifier::VerifyRequest request = request_for(place);
  {
    std::ofstream target(request.target, std::ios::binary | std::ios::trunc);
    const std::string_view text = schema::as_text({data, size});
    target.write(text.data(), static_cast<std::streamsize>(text.size()));
    require(target.good());
  }
  const verifier::VerifyReport report = verifier::verify(request);
  const auto again = schema::json_parse(schema::json_write(report.json));
  require(again.has_value());
  require(*again->find("verdict")->as_string() == verifier::to_string(report.verdict));
  check_text(report.text);
  if (report.verdict == verifier::Verdict::kVerified) {
    check_verified(report, request.trust);
  }
  return 0;
}
