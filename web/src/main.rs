//! Builds the demos that run in a browser, as a static page in `target/page`.
//!
//! ```text
//! rustup target add wasm32-unknown-unknown
//! cargo run --manifest-path web/Cargo.toml [DEMO...]
//! ```
//!
//! Any server of files can serve the folder, for example `python3 -m http.server -d target/page`.
//! The tool does not run `wasm-opt`: the version in Debian 12 writes programs that do not start,
//! and a compressed program becomes hardly smaller.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use headbutt_web::{Demo, PAGE, chosen_demos, root};
use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

fn main() -> Result<(), Box<dyn Error>> {
    let demos = chosen_demos()?;
    let root = root()?;
    let page = root.join(PAGE);
    fs::create_dir_all(&page)?;
    compile(&root, &demos)?;
    for Demo { name, title } in &demos {
        let program = root.join(format!("target/{TARGET}/web/examples/{name}.wasm"));
        let program = bind(name, &program, &page)?;
        let html = include_str!("demo.html").replace("DEMO", name);
        fs::write(
            page.join(format!("{name}.html")),
            html.replace("TITLE", title),
        )?;
        println!("{name}: {}", size(&program)?);
    }
    let link = |demo: &Demo| format!("<li><a href=\"{}.html\">{}</a></li>", demo.name, demo.title);
    let links: Vec<String> = demos.iter().map(link).collect();
    let html = include_str!("index.html").replace("LINKS", &links.join("\n"));
    fs::write(page.join("index.html"), html)?;
    println!("{}", page.display());
    Ok(())
}

fn compile(root: &Path, demos: &[Demo]) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root)
        .args(["build", "--profile", "web", "--target", TARGET])
        // This program looks for the results in this folder, whatever the environment says.
        .args(["--target-dir", "target"])
        .args(["--features", "demo"]);
    for demo in demos {
        cargo.args(["--example", demo.name]);
    }
    if cargo.status()?.success() {
        Ok(())
    } else {
        Err("the demos do not compile".into())
    }
}

/// Writes the JavaScript that loads a program, and the program in the form that this script needs.
/// Returns the path of the program.
fn bind(name: &str, program: &Path, page: &Path) -> Result<PathBuf, Box<dyn Error>> {
    Bindgen::new()
        .input_path(program)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(page)?;
    Ok(page.join(format!("{name}_bg.wasm")))
}

/// Returns the size of a file, and its size after compression by a server.
fn size(file: &Path) -> Result<String, Box<dyn Error>> {
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 * 1e-6);
    let raw = megabytes(fs::metadata(file)?.len());
    let gzip = Command::new("gzip").args(["-9", "-c"]).arg(file).output();
    Ok(match gzip {
        Ok(output) => {
            let compressed = megabytes(output.stdout.len() as u64);
            format!("{raw}, {compressed} with gzip -9")
        }
        Err(_) => raw,
    })
}
