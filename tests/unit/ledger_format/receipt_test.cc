#include "aasm/ledger_format/receipt.h"

#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/merkle_proof.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/schema/base64.h"

#include "../crypto/vectors.h"

namespace aasm::ledger_format {
namespace {

using schema::as_bytes;
using schema::ErrorCode;

constexpr const char* kOrigin = "aasm.example/ledger/0123456789abcdef";

// A ledger of six records with a receipt for record 4 that carries 0, 3 and 4.
struct Ledger {
  std::vector<DsseEnvelope> records;
  std::vector<schema::LeafHash> leaves;
  Receipt receipt;

  Ledger() {
    const crypto::SigningKey key = test::test_key(3);
    for (int i = 0; i < 6; ++i) {
      DsseEnvelope record;
      record.payload = "{\"n\":" + std::to_string(i) + "}";
      const schema::Bytes encoded = pae(as_bytes(record.payload));
      record.signature = key.sign(encoded).value();
      records.push_back(record);
      leaves.push_back(leaf_hash(encoded));
    }
    const std::vector<std::uint64_t> indexes = {0, 3, 4};
    const InclusionProofs proofs = make_inclusion_proofs(indexes, 6, leaf_source(leaves)).value();
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      receipt.records.push_back(
          {records[static_cast<std::size_t>(indexes[i])], indexes[i], proofs.paths[i]});
    }
    receipt.index = 4;
    receipt.path = proofs.paths[2];
    receipt.checkpoint = sign_checkpoint({kOrigin, 6, proofs.root}, test::test_key(1)).value();
  }
};

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t found = text.find(from);
  if (found == std::string::npos) {
    ADD_FAILURE() << "nothing to replace: " << from;
    return text;
  }
  return text.replace(found, from.size(), to);
}

// The receipt's text with its `extra` decoded, one replacement made, and encoded again.
std::string with_extra(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find("extra ") + 6;
  const std::size_t end = text.find('\n', begin);
  const schema::Bytes extra = schema::from_base64(text.substr(begin, end - begin)).value();
  const std::string changed = with(std::string(schema::as_text(extra)), from, to);
  return text.substr(0, begin) + schema::to_base64(as_bytes(changed)) + text.substr(end);
}

TEST(ReceiptTest, RoundTripsInBothDirections) {
  const Receipt receipt = Ledger().receipt;
  const std::string text = format_receipt(receipt).value();
  const Receipt parsed = parse_receipt(text).value();
  EXPECT_EQ(parsed, receipt);
  EXPECT_EQ(format_receipt(parsed).value(), text);
}

TEST(ReceiptTest, HasTheFormOfTlogProof) {
  const Ledger ledger;
  const std::string text = format_receipt(ledger.receipt).value();
  EXPECT_TRUE(text.starts_with("c2sp.org/tlog-proof@v1\nextra eyJyZWNvcmRzIjpb"));
  std::string tail = "\nindex 4\n";
  for (const schema::TreeHash& hash : ledger.receipt.path) {
    tail += schema::to_base64(hash.bytes) + "\n";
  }
  EXPECT_TRUE(text.ends_with(tail + "\n" + ledger.receipt.checkpoint));
}

TEST(ReceiptTest, WhatItCarriesProvesItsRecords) {
  const Receipt receipt = parse_receipt(format_receipt(Ledger().receipt).value()).value();
  const SignedCheckpoint head = parse_signed_checkpoint(receipt.checkpoint).value();
  for (const ReceiptRecord& record : receipt.records) {
    const schema::LeafHash leaf = leaf_hash(pae(as_bytes(record.dsse.payload)));
    EXPECT_TRUE(verify_inclusion(leaf, record.index, head.checkpoint.size, record.path,
                                 head.checkpoint.root));
  }
}

TEST(ReceiptTest, TheReceiptOfTheSecondImplementationIsReadAndProvesItsRecords) {
  const std::string text = test::text_at(test::ledger_vectors(), {"receipt"});
  const Receipt receipt = parse_receipt(text).value();
  EXPECT_EQ(format_receipt(receipt).value(), text);
  const SignedCheckpoint head = parse_signed_checkpoint(receipt.checkpoint).value();
  ASSERT_EQ(receipt.records.size(), 2U);
  for (const ReceiptRecord& record : receipt.records) {
    const schema::Bytes encoded = pae(as_bytes(record.dsse.payload));
    EXPECT_TRUE(
        verify_inclusion(leaf_hash(encoded), record.index, 2, record.path, head.checkpoint.root));
    EXPECT_TRUE(crypto::verify(test::test_key(3).public_key(), encoded, record.dsse.signature));
  }
}

TEST(ReceiptTest, AReceiptForTheOnlyRecordHasNoHashes) {
  const Ledger ledger;
  Receipt receipt;
  receipt.records.push_back({ledger.records[0], 0, {}});
  receipt.checkpoint =
      sign_checkpoint({kOrigin, 1, as_node(ledger.leaves[0])}, test::test_key(1)).value();
  const std::string text = format_receipt(receipt).value();
  EXPECT_NE(text.find("\nindex 0\n\naasm.example"), std::string::npos);
  EXPECT_EQ(parse_receipt(text).value(), receipt);
}

TEST(ReceiptTest, MakingOneRefusesWhatCouldNotBeRead) {
  struct Row {
    const char* why;
    ErrorCode code;
    Receipt receipt;
  };
  std::vector<Row> rows;
  const auto add = [&rows](const char* why, ErrorCode code, auto change) {
    rows.push_back({why, code, Ledger().receipt});
    change(rows.back().receipt);
  };
  using enum schema::ErrorCode;
  add("no records", kInvalidArgument, [](Receipt& r) { r.records.clear(); });
  add("order", kInvalidArgument, [](Receipt& r) { std::swap(r.records[0], r.records[1]); });
  add("twice", kInvalidArgument, [](Receipt& r) { r.records[1] = r.records[0]; });
  add("own record missing", kInvalidArgument, [](Receipt& r) { r.records.pop_back(); });
  add("own path differs", kInvalidArgument, [](Receipt& r) { r.path.pop_back(); });
  add("index differs", kInvalidArgument, [](Receipt& r) { r.index = 5; });
  add("path too long", kInvalidArgument, [](Receipt& r) { r.records[0].path.resize(64); });
  add("index past 2^53-1", kInvalidArgument,
      [](Receipt& r) { r.index = r.records[2].index = 9007199254740992; });
  add("no checkpoint", kInvalidArgument, [](Receipt& r) { r.checkpoint = "x\n"; });
  add("bytes after the note", kInvalidArgument, [](Receipt& r) { r.checkpoint += "x"; });
  add("too many records", kResourceExhausted, [](Receipt& r) {
    for (std::uint64_t i = 5; r.records.size() <= kReceiptMaxRecords; ++i) {
      r.records.push_back({{}, i, {}});
    }
  });
  add("too large", kResourceExhausted, [](Receipt& r) {
    r.records.clear();
    for (std::uint64_t i = 0; i < kReceiptMaxRecords; ++i) {
      r.records.push_back({{}, i, r.path});
      r.records.back().dsse.payload.assign(60000, 'x');
    }
  });
  for (const Row& row : rows) {
    const schema::Result<std::string> result = format_receipt(row.receipt);
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), row.code) << row.why << ": " << result.error().message();
  }
}

TEST(ReceiptTest, SixtyFourRecordsFit) {
  Receipt receipt = Ledger().receipt;
  for (std::uint64_t i = 5; receipt.records.size() < kReceiptMaxRecords; ++i) {
    receipt.records.push_back({{}, i, ProofPath(kMaxProofHashes)});
  }
  EXPECT_EQ(parse_receipt(format_receipt(receipt).value()).value(), receipt);
}

TEST(ReceiptParseTest, EveryOtherFormIsRefused) {
  const std::string good = format_receipt(Ledger().receipt).value();
  const std::string hash = schema::to_base64(Ledger().receipt.path[0].bytes) + "\n";
  struct Row {
    std::string text;
    const char* why;
  };
  const Row rows[] = {
      {"", "empty"},
      {with(good, "@v1", "@v2"), "another version"},
      {with(good, "@v1\n", "@v1\r\n"), "carriage return"},
      {with(good, "extra ", "Extra "), "another word"},
      {with(good, good.substr(23, good.find("index") - 23), ""), "no extra"},
      {with(good, "extra ", "extra  "), "two spaces"},
      {with(good, "extra ey", "extra *y"), "no base64"},
      {with(good, "\nindex 4\n", "\n"), "no index"},
      {with(good, "index 4", "index 04"), "leading zero"},
      {with(good, "index 4", "index +4"), "sign"},
      {with(good, "index 4", "index 4 "), "space after"},
      {with(good, "index 4", "index 5"), "an index of no record"},
      {with(good, "\n" + hash, "\n"), "a hash less than its record has"},
      {with(good, "\n" + hash, "\n" + hash + hash), "a hash more than its record has"},
      {with(good, "\n" + hash, "\n" + hash.substr(4)), "a short hash"},
      {with(good, "\n" + hash, "\n " + hash), "space before a hash"},
      {with(good, "\n\naasm", "\n\n\naasm"), "two blank lines"},
      {with(good, "\n\naasm", "\naasm"), "no blank line"},
      {good + "x", "bytes after the note"},
      {good + "\n", "a blank line after the note"},
      {good.substr(0, good.size() - 1), "no final newline"},
      {with(good, "ledger/0123456789abcdef\n6\n", "ledger/0123456789abcdef\n06\n"),
       "a checkpoint that does not parse"},
      {with_extra(good, R"({"records":)", R"({"recordz":)"), "unknown member of extra"},
      {with_extra(good, R"({"records":)", R"({"a":1,"records":)"), "second member of extra"},
      {with_extra(good, R"("index":0,)", R"("index":0,"j":0,)"), "unknown member of a record"},
      {with_extra(good, R"("index":0,)", ""), "a record without index"},
      {with_extra(good, R"("index":0,)", R"("index":-1,)"), "negative index"},
      {with_extra(good, R"("index":0,)", R"("index":"0",)"), "index of another type"},
      {with_extra(good, R"("index":0,)", R"("index":3,)"), "two records of one index"},
      {with_extra(good, R"("index":0,)", R"("index": 0,)"), "not canonical"},
      {with_extra(good, R"("path":[")", R"("path":[1,")"), "a hash of another type"},
      {with_extra(good, R"("path":[")", R"("path":["AAAA",")"), "a short hash in a path"},
      {with_extra(good, R"("payloadType":"application/)", R"("payloadType":"x/)"), "payloadType"},
  };
  ASSERT_TRUE(parse_receipt(good));
  for (const Row& row : rows) {
    const schema::Result<Receipt> result = parse_receipt(row.text);
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), ErrorCode::kMalformed) << row.why;
  }
}

TEST(ReceiptParseTest, EveryTruncationIsRefused) {
  const std::string good = format_receipt(Ledger().receipt).value();
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(parse_receipt(std::string_view(good).substr(0, length))) << length;
  }
}

// Case L52.
TEST(ReceiptParseTest, LimitsAreReportedAsLimits) {
  const std::string large(kReceiptMaxBytes + 1, 'x');
  EXPECT_EQ(parse_receipt(large).error().code(), ErrorCode::kResourceExhausted);
  const std::string good = format_receipt(Ledger().receipt).value();
  std::string hashes;
  for (std::size_t i = 0; i <= kMaxProofHashes; ++i) {
    hashes += schema::to_base64(schema::TreeHash{}.bytes) + "\n";
  }
  EXPECT_FALSE(parse_receipt(with(good, "index 4\n", "index 4\n" + hashes)));
}

}  // namespace
}  // namespace aasm::ledger_format
