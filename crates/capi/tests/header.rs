//! The committed header is what the sources give: `UPDATE=1 cargo test -p linkpool-capi --test
//! header` writes it.
use std::path::Path;

#[test]
fn the_header_is_that_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut written = Vec::new();
    cbindgen::generate_with_config(root, config).unwrap().write(&mut written);
    let (path, text) = (root.join("include/linkpool.h"), String::from_utf8(written).unwrap());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "UPDATE=1 writes it");
}
