//! Builds the demos that run in a browser, as a static page in `target/web`.
//!
//! ```text
//! rustup target add wasm32-unknown-unknown
//! cargo run --manifest-path web/Cargo.toml
//! ```
//!
//! Any server of files can serve the folder, for example `python3 -m http.server -d target/web`.
//! If `wasm-opt` is installed, it makes the files smaller.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

/// The demos, each with its title.
const DEMOS: [(&str, &str); 2] = [
    ("blocks_2d", "Two blocks"),
    ("gjk_epa_steps", "GJK and EPA step by step"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    let page = root.join("target/web");
    fs::create_dir_all(&page)?;
    compile(&root)?;
    for (demo, title) in DEMOS {
        let program = root.join(format!("target/{TARGET}/web/examples/{demo}.wasm"));
        bind(&program, &page)?;
        let html = include_str!("demo.html").replace("DEMO", demo);
        fs::write(
            page.join(format!("{demo}.html")),
            html.replace("TITLE", title),
        )?;
        let size = fs::metadata(page.join(format!("{demo}_bg.wasm")))?.len();
        println!("{demo}: {:.1} MB", size as f64 * 1e-6);
    }
    let links = DEMOS.map(|(demo, title)| format!("<li><a href=\"{demo}.html\">{title}</a></li>"));
    let html = include_str!("index.html").replace("LINKS", &links.join("\n"));
    fs::write(page.join("index.html"), html)?;
    println!("{}", page.display());
    Ok(())
}

fn compile(root: &Path) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root)
        .args(["build", "--profile", "web", "--target", TARGET]);
    cargo.args(["--features", "demo"]);
    for (demo, _) in DEMOS {
        cargo.args(["--example", demo]);
    }
    if cargo.status()?.success() {
        Ok(())
    } else {
        Err("the demos do not compile".into())
    }
}

/// Writes the JavaScript that loads a program, and the program as this script needs it.
fn bind(program: &PathBuf, page: &Path) -> Result<(), Box<dyn Error>> {
    Bindgen::new()
        .input_path(program)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(page)?;
    let stem = program.file_stem().ok_or("a program without a name")?;
    let file = page.join(format!("{}_bg.wasm", stem.to_string_lossy()));
    // Missing tools are no error: the page is only larger.
    let _ = Command::new("wasm-opt")
        .args(["-Os", "--all-features"])
        .arg(&file)
        .arg("-o")
        .arg(&file)
        .status();
    Ok(())
}
