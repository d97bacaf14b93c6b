"""A second reader of the ledger, written from docs/spec alone. See README.md."""
