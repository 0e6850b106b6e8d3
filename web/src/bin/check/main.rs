//! Checks the demos of `target/page` in a browser without a screen, with keyboard and mouse.
//!
//! ```text
//! cargo run --manifest-path web/Cargo.toml --bin check [DEMO...]
//! ```
//!
//! The check needs Chromium and `chromedriver`, but no graphics card. Without `chromedriver`, the
//! check prints a message and passes.

mod browser;
mod demos;
mod picture;
mod server;

use std::{error::Error, time::Instant};

use browser::Browser;
use headbutt_web::{PAGE, chosen_demos, root};

fn main() -> Result<(), Box<dyn Error>> {
    let demos = chosen_demos()?;
    let page = root()?.join(PAGE);
    for demo in &demos {
        let file = page.join(demo.name).with_extension("html");
        if !file.exists() {
            return Err(format!("{} is missing: see web/src/main.rs", file.display()).into());
        }
    }
    let Some(browser) = Browser::start(&[])? else {
        eprintln!("SKIPPED, because chromedriver is not installed");
        return Ok(());
    };
    let server = server::serve(page)?;
    for demo in &demos {
        let start = Instant::now();
        browser.open(&format!("{server}/{}.html", demo.name))?;
        match demo.name {
            "blocks_2d" => demos::blocks(&browser)?,
            "gjk_epa_steps" => demos::steps(&browser)?,
            "tiles" | "voxels" => demos::game(&browser)?,
            name => return Err(format!("there is no check of {name}").into()),
        }
        println!("{}: passed in {} s", demo.name, start.elapsed().as_secs());
    }
    Ok(())
}
