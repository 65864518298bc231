//! Compiles the algorithms of `bpf/` natively, so that tests can call them.

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    println!("cargo:rerun-if-changed={}", root.display());
    let sources = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let sources = sources.map(|entry| entry.expect("a directory can be read").path());
    cc::Build::new()
        .files(sources.filter(|path| path.extension().is_some_and(|e| e == "c")))
        .file("src/layout.c")
        .include(&root)
        .flag("-Wno-unused-function")
        .flag("-Wno-unused-parameter")
        .warnings_into_errors(true)
        .compile("linkpool_algorithms");
}
