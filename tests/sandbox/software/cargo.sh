#!/bin/sh
# needs: cargo rustc cc
# A workspace of two crates with a build script and tests, without a registry.
set -eu
. "$(dirname "$0")/places.inc"
mkdir -p ws/lib/src ws/app/src && cd ws
printf '[workspace]\nmembers = ["lib", "app"]\nresolver = "2"\n' > Cargo.toml
printf '[package]\nname = "lib"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n' > lib/Cargo.toml
printf 'use std::{env, fs, path::Path};\nfn main() { let out = env::var("OUT_DIR").unwrap(); fs::write(Path::new(&out).join("n.rs"), "pub const N: u32 = 41;").unwrap(); }\n' > lib/build.rs
printf 'include!(concat!(env!("OUT_DIR"), "/n.rs"));\npub fn next() -> u32 { N + 1 }\n#[test]\nfn it_is_42() { assert_eq!(next(), 42); }\n' > lib/src/lib.rs
printf '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nlib = { path = "../lib" }\n' > app/Cargo.toml
printf 'fn main() { let h: Vec<_> = (0..4).map(|i| std::thread::spawn(move || lib::next() + i)).collect();\n println!("{}", h.into_iter().map(|t| t.join().unwrap()).sum::<u32>()); }\n' > app/src/main.rs
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
cargo build --offline --jobs 1 2>&1 | sed "s,$1,WORK," | without_times | sort
cargo run --offline --quiet -p app
cargo test --offline --jobs 1 -p lib 2>&1 | grep -E '^test ' | without_times | sort
ls target/debug/app
