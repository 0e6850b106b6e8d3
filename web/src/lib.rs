//! The code that two tools share: the tool that builds the page, and the tool that checks the page.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// A demo that runs in a browser: an example of the folder above.
#[derive(Clone, Copy)]
pub struct Demo {
    pub name: &'static str,
    pub title: &'static str,
}

pub const DEMOS: [Demo; 4] = [
    Demo {
        name: "blocks_2d",
        title: "Two blocks",
    },
    Demo {
        name: "gjk_epa_steps",
        title: "GJK and EPA step by step",
    },
    Demo {
        name: "tiles",
        title: "Tiles",
    },
    Demo {
        name: "voxels",
        title: "Voxels",
    },
];

/// Returns the demos that the command line names, or all demos if the command line names none.
pub fn chosen_demos() -> Result<Vec<Demo>, String> {
    let names: Vec<String> = env::args().skip(1).collect();
    if names.is_empty() {
        return Ok(DEMOS.to_vec());
    }
    let find = |name: &String| DEMOS.into_iter().find(|demo| demo.name == name);
    let found = |name| find(name).ok_or_else(|| format!("{name} is no demo for a browser"));
    names.iter().map(found).collect()
}

/// Returns the root of the repository.
pub fn root() -> io::Result<PathBuf> {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}

/// The folder of the page, from the root of the repository. The folder is not `target/web`, because
/// Cargo puts the build scripts of the profile `web` there.
pub const PAGE: &str = "target/page";
