#pragma once

#include "aasm/planner/policy_decode.h"
#include "aasm/planner/policy_document.h"

#include "decoder.h"

// One function for each node of `spec`: reads the node into its place in the document, reports
// what is wrong with it. A node that could not be read stays unset; the problems say so.
namespace aasm::planner {

void decode_metadata(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                     PolicyDocument& document);
void decode_filesystem(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                       PolicyDocument& document);
void decode_syscalls(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                     PolicyDocument& document);
void decode_credentials(Decoder& decoder, const YamlNode& node, PolicyDocument& document);
void decode_posture(Decoder& decoder, const YamlNode& node, PolicyDocument& document);
void decode_evidence(Decoder& decoder, const YamlMember& member, PolicyDocument& document);
void decode_capabilities(Decoder& decoder, const YamlNode& node, PolicyDocument& document);
void decode_network(Decoder& decoder, const YamlNode& node, PolicyDocument& document);
void decode_name_resolution(Decoder& decoder, const YamlNode& node, PolicyDocument& document);
void decode_processes(Decoder& decoder, const YamlNode& node, PolicyDocument& document);
void decode_ipc(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                PolicyDocument& document);
void decode_resources(Decoder& decoder, const YamlNode& node, PolicyDocument& document);

}  // namespace aasm::planner
