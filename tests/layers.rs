//! Each module of the crate uses only those below it.

use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// The modules, the lowest first.
const LAYERS: [&str; 9] =
    ["threads", "rules", "encode", "buffers", "nn", "bots", "search", "batch", "bindings"];

/// Checks the files in a folder, and in those below it.
fn check(folder: &Path, higher: &[&str]) {
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check(&path, higher);
            continue;
        }
        // Documentation may name what uses a module.
        let text = read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for (line, module) in code.flat_map(|line| higher.iter().map(move |module| (line, module)))
        {
            let uses = line.contains(&format!("crate::{module}::"));
            assert!(!uses, "{} uses {module}: {line}", path.display());
        }
    }
}

#[test]
fn modules_use_only_those_below_them() {
    for (index, module) in LAYERS.iter().enumerate() {
        check(&Path::new("src").join(module), &LAYERS[index + 1..]);
    }
    let folders = read_dir("src").unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), LAYERS.len(), "each folder is a layer");
}
