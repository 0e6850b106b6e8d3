//! A browser without a screen, driven by WebDriver: a standard protocol of JSON over HTTP.

use std::{
    error::Error,
    io,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use ureq::{Agent, Body, http::Response};

/// The maximum time for a demo to load, or to show an expected picture. Drawing in software is
/// slow.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// Keys, as WebDriver names them.
pub const LEFT: char = '\u{e012}';
pub const RIGHT: char = '\u{e014}';
pub const F1: char = '\u{e031}';

/// The options of Chromium: no window, and WebGL2 in software, so that no graphics card is needed.
/// Chromium's sandbox does not start in most containers. No sandbox is needed, because the browser
/// loads only our own page.
const OPTIONS: [&str; 5] = [
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--window-size=1280,720",
];

/// A window of a browser, which is closed on drop.
pub struct Browser {
    driver: Child,
    agent: Agent,
    /// The address with which all commands begin.
    session: String,
}

impl Browser {
    /// Starts `chromedriver` and a browser with additional options. Returns `None` if
    /// `chromedriver` is not installed.
    pub fn start(more_options: &[&str]) -> Result<Option<Self>, Box<dyn Error>> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped());
        // `chromedriver` also sends its errors as answers.
        let spawned = command.stderr(Stdio::null()).spawn();
        let mut driver = match spawned {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let output = driver.stdout.take().ok_or("no output of chromedriver")?;
        let mut browser = Self {
            driver,
            // The text of an error says more than its status.
            agent: Agent::config_builder()
                .http_status_as_error(false)
                .build()
                .into(),
            session: String::new(),
        };
        let port = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("successfully on port ")?.1.to_owned()))
            .ok_or("chromedriver does not start")?;
        let address = format!("http://127.0.0.1:{}/session", port.trim_end_matches('.'));
        let options = [&OPTIONS, more_options].concat();
        let options = json!({ "goog:chromeOptions": { "args": options } });
        let body = json!({ "capabilities": { "alwaysMatch": options } });
        let session = browser.post(&address, &body)?;
        let id = session["sessionId"].as_str().ok_or("no session")?;
        browser.session = format!("{address}/{id}");
        Ok(Some(browser))
    }

    /// Loads a page, and waits until its scripts run.
    pub fn open(&self, url: &str) -> Result<(), Box<dyn Error>> {
        self.command("url", &json!({ "url": url }))?;
        Ok(())
    }

    pub fn resize(&self, [width, height]: [u32; 2]) -> Result<(), Box<dyn Error>> {
        self.command("window/rect", &json!({ "width": width, "height": height }))?;
        Ok(())
    }

    /// Waits until some more frames have been drawn.
    pub fn wait_for_frames(&self) -> Result<(), Box<dyn Error>> {
        // The script ends when it calls the function in its argument.
        let script = "
            const end = arguments[0];
            let frames = 4;
            const next = () => frames-- ? requestAnimationFrame(next) : end();
            next();";
        self.command("execute/async", &json!({ "script": script, "args": [] }))?;
        Ok(())
    }

    /// Returns the text of the page. (A demo draws text as pixels, which this function does not
    /// return.)
    pub fn text(&self) -> Result<String, Box<dyn Error>> {
        let script = "return document.body.innerText";
        let text = self.command("execute/sync", &json!({ "script": script, "args": [] }))?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Returns a picture of the page, as PNG.
    pub fn screenshot(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let url = format!("{}/screenshot", self.session);
        let answer = patiently(|| value(&mut self.agent.get(&url).call()?))?;
        let text = answer.as_str().ok_or("no picture")?;
        Ok(BASE64_STANDARD.decode(text)?)
    }

    pub fn key_down(&self, key: char) -> Result<(), Box<dyn Error>> {
        self.key(json!({ "type": "keyDown", "value": key }))
    }

    pub fn key_up(&self, key: char) -> Result<(), Box<dyn Error>> {
        self.key(json!({ "type": "keyUp", "value": key }))
    }

    fn key(&self, action: Value) -> Result<(), Box<dyn Error>> {
        self.act(json!({ "type": "key", "id": "keyboard", "actions": [action] }))
    }

    /// Moves the mouse to a pixel of the page.
    pub fn move_mouse(&self, [x, y]: [u32; 2]) -> Result<(), Box<dyn Error>> {
        self.mouse(json!({ "type": "pointerMove", "duration": 0, "x": x, "y": y }))
    }

    pub fn mouse_down(&self) -> Result<(), Box<dyn Error>> {
        self.mouse(json!({ "type": "pointerDown", "button": 0 }))
    }

    pub fn mouse_up(&self) -> Result<(), Box<dyn Error>> {
        self.mouse(json!({ "type": "pointerUp", "button": 0 }))
    }

    fn mouse(&self, action: Value) -> Result<(), Box<dyn Error>> {
        self.act(json!({ "type": "pointer", "id": "mouse", "actions": [action] }))
    }

    fn act(&self, source: Value) -> Result<(), Box<dyn Error>> {
        self.command("actions", &json!({ "actions": [source] }))?;
        Ok(())
    }

    fn command(&self, name: &str, body: &Value) -> Result<Value, Box<dyn Error>> {
        self.post(&format!("{}/{name}", self.session), body)
    }

    fn post(&self, url: &str, body: &Value) -> Result<Value, Box<dyn Error>> {
        patiently(|| value(&mut self.agent.post(url).send_json(body)?))
    }
}

/// Repeats a command while the browser is too busy. Repeating a command has no further effect.
fn patiently(command: impl Fn() -> Result<Value, Box<dyn Error>>) -> Result<Value, Box<dyn Error>> {
    let start = Instant::now();
    loop {
        match command() {
            Err(error) if is_timeout(&*error) && start.elapsed() < PATIENCE => {}
            result => return result,
        }
    }
}

fn is_timeout(error: &dyn Error) -> bool {
    let text = error.to_string();
    text.starts_with("timeout") || text.starts_with("script timeout")
}

/// Returns the result in an answer.
fn value(answer: &mut Response<Body>) -> Result<Value, Box<dyn Error>> {
    let mut answer: Value = answer.body_mut().read_json()?;
    let value = answer["value"].take();
    match value["error"].as_str() {
        Some(error) => Err(format!("{error}: {}", value["message"]).into()),
        None => Ok(value),
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Without the first command, the browser would keep running without its driver. If a
        // command fails, nothing can be done.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
