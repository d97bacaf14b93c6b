# Who may depend on whom: the table of docs/architecture.md in the form the build
# checks. aasm_add_module() refuses a dependency that is not listed here. Adding an
# arrow is a design decision (docs/decisions/), not a build fix.
set(AASM_LAYER_schema "")
set(AASM_LAYER_claims schema)                       # verifier/claims
set(AASM_LAYER_crypto schema)                       # ledger/crypto
set(AASM_LAYER_sqlite schema)                       # ledger/sqlite
set(AASM_LAYER_ledger_format schema crypto)         # ledger/format: pure
set(AASM_LAYER_ledger schema crypto ledger_format sqlite)
set(AASM_LAYER_planner schema)
set(AASM_LAYER_process schema crypto)               # launcher/process
set(AASM_LAYER_backend schema crypto planner process helper_wire)  # every backend_<name>
set(AASM_LAYER_launcher schema crypto planner process)
set(AASM_LAYER_verifier schema crypto ledger_format sqlite claims)
set(AASM_LAYER_cli schema crypto sqlite ledger_format ledger planner process launcher claims verifier backend_native)
