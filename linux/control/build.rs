//! Compiles each algorithm of `bpf/` to an object file that the crate includes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Any of these will do; the environment variable CLANG names another.
const CLANGS: &[&str] =
    &["clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"];

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    // Asked at run time, since a checkout may have moved since this program was built.
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let root = here.join("../../bpf");
    println!("cargo:rerun-if-changed={}", root.display());
    println!("cargo:rerun-if-env-changed=CLANG");
    // The headers of libbpf, which the crate libbpf-sys has put there.
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where its headers are");
    let clang = clang();
    for entry in fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display())) {
        let source = entry.expect("a directory can be read").path();
        if source.extension().is_some_and(|e| e == "c") {
            compile(&clang, &headers, &source, &out);
        }
    }
    for source in ["cgroup/choose.c", "switch/port.c", "switch/path.c"] {
        compile(&clang, &headers, &root.join(source), &out);
    }
    let marker = here.join("tests/kernel/mark.c");
    println!("cargo:rerun-if-changed={}", marker.display());
    compile(&clang, &headers, &marker, &out);
}

fn clang() -> String {
    let named = env::var("CLANG").ok();
    let names = named.iter().map(String::as_str).chain(CLANGS.iter().copied());
    let works = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let found = names.into_iter().find(works);
    found
        .expect("clang 14 or newer compiles the BPF programs; install it (on Debian: apt-get install clang)")
        .to_owned()
}

fn compile(clang: &str, headers: &str, source: &Path, out: &Path) {
    let object = out.join(source.file_name().expect("a source has a name")).with_extension("o");
    let arch = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "x86",
        Ok("aarch64") => "arm64",
        Ok(other) => panic!("no BPF programs for {other} yet: add what libbpf calls it here"),
        Err(_) => unreachable!("cargo names the target"),
    };
    let status = Command::new(clang)
        .args(["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", "-Wno-unused-function"])
        .args([&format!("-D__TARGET_ARCH_{arch}"), "-I", headers, "-c"])
        .arg(source)
        .arg("-o")
        .arg(&object)
        .status();
    assert!(status.is_ok_and(|s| s.success()), "{clang} could not compile {}", source.display());
}
