//! The checks of the demos' pictures.

use std::{
    env,
    error::Error,
    fs, thread,
    time::{Duration, Instant},
};

use crate::{
    browser::{Browser, F1, LEFT, PATIENCE, RIGHT},
    picture::{Area, Picture},
};

/// The maximum distance in pixels between a side and its expected position: half of an outline's
/// width, a rounded pixel, and blended edges.
const TOLERANCE: f64 = 3.0;

fn is_orange([red, green, blue]: [u8; 3]) -> bool {
    red > 150 && (110..=180).contains(&green) && blue < 90
}

fn is_blue([red, green, blue]: [u8; 3]) -> bool {
    blue > 150 && red < 100 && (90..=160).contains(&green)
}

/// A demo in a browser.
pub struct Demo<'a> {
    pub browser: &'a Browser,
    /// The minimum height of the world that the demo's camera shows.
    height: f64,
    /// The area in which the orange shape may be.
    orange_area: Area,
    /// The part of a corner that a dot may hide, in units of the world.
    hidden_by_dots: f64,
}

impl<'a> Demo<'a> {
    fn picture(&self) -> Result<Picture, Box<dyn Error>> {
        Picture::decode(self.browser.screenshot()?, self.height)
    }

    /// Waits for a picture for which `is_right` returns `true`, and returns this picture.
    fn wait_for(
        &self,
        what: &str,
        is_right: impl Fn(&Picture) -> bool,
    ) -> Result<Picture, Box<dyn Error>> {
        let start = Instant::now();
        loop {
            let picture = self.picture()?;
            if is_right(&picture) {
                return Ok(picture);
            }
            if start.elapsed() > PATIENCE {
                let file = env::temp_dir().join("headbutt-check.png");
                fs::write(&file, &picture.png)?;
                let (text, file) = (self.browser.text()?, file.display());
                return Err(format!("{what}: not so in {file}; text of the page: {text:?}").into());
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until the orange pixels fill a rectangle of the world.
    fn wait_for_orange(&self, what: &str, expected: Area) -> Result<(), Box<dyn Error>> {
        self.wait_for(what, |picture| self.has_orange_at(picture, expected))?;
        Ok(())
    }

    fn has_orange_at(&self, picture: &Picture, expected: Area) -> bool {
        let tolerance = TOLERANCE * picture.pixel_length() + self.hidden_by_dots;
        let found = picture.bounds(is_orange, &self.orange_area);
        found.is_some_and(|found| found.is_close_to(&expected, tolerance))
    }

    /// Drags the shape at a point of the world to another point.
    fn drag(&self, from: [f64; 2], to: [f64; 2]) -> Result<(), Box<dyn Error>> {
        let picture = self.picture()?;
        self.browser.move_mouse(picture.pixel_at(from))?;
        // The demo reads the position of the mouse once a frame.
        self.browser.wait_for_frames()?;
        self.browser.mouse_down()?;
        self.browser.wait_for_frames()?;
        self.browser.move_mouse(picture.pixel_at(to))?;
        self.browser.wait_for_frames()?;
        self.browser.mouse_up()
    }
}

fn press(browser: &Browser, key: char) -> Result<(), Box<dyn Error>> {
    browser.key_down(key)?;
    browser.wait_for_frames()?;
    browser.key_up(key)
}

/// Checks `blocks_2d`: A is 3 x 2 around (-1, 0), and B, in orange, 2 x 2 around (4, 0).
pub fn blocks(browser: &Browser) -> Result<(), Box<dyn Error>> {
    let demo = Demo {
        browser,
        height: 9.0,
        orange_area: Area::EVERYWHERE,
        hidden_by_dots: 0.0,
    };
    let b_at = |center| Area::around(center, [1.0, 1.0]);
    demo.wait_for_orange("B starts at (4, 0)", b_at([4.0, 0.0]))?;

    // The page gives the keyboard to the demo without a click. F1 hides the debug drawing, whose
    // outlines are orange where shapes touch.
    press(browser, F1)?;
    browser.key_down(LEFT)?;
    let touching = b_at([1.5, 0.0]);
    demo.wait_for_orange("with the left arrow, B moves to the edge of A", touching)?;
    for _ in 0..5 {
        browser.wait_for_frames()?;
        if !demo.has_orange_at(&demo.picture()?, touching) {
            return Err("B does not stay at the edge of A while the key is down".into());
        }
    }
    browser.key_up(LEFT)?;

    demo.drag([1.5, 0.0], [5.0, 2.5])?;
    let dragged = b_at([5.0, 2.5]);
    demo.wait_for_orange("the mouse drags B to (5, 2.5)", dragged)?;
    browser.resize([600, 1000])?;
    demo.wait_for_orange("a narrow window shows all", dragged)?;
    browser.resize([1280, 720])
}

/// Checks `gjk_epa_steps`: B, with an orange outline, is a rectangle of 1.8 x 1.2, turned by 0.6.
pub fn steps(browser: &Browser) -> Result<(), Box<dyn Error>> {
    let demo = Demo {
        browser,
        height: 10.0,
        // On the right, the edges of red and green lines are orange where they cross.
        orange_area: Area {
            max: [0.0, f64::INFINITY],
            ..Area::EVERYWHERE
        },
        // The green dots of support points.
        hidden_by_dots: 0.1,
    };
    let (sin, cos) = 0.6_f64.sin_cos();
    let half_size = [0.9 * cos + 0.6 * sin, 0.9 * sin + 0.6 * cos];
    let b_at = |center| Area::around(center, half_size);
    demo.wait_for_orange("B starts at (-2.9, -0.1)", b_at([-2.9, -0.1]))?;

    // The simplex is blue, and right of the middle. The legend is below.
    let right = Area {
        min: [0.1, -4.0],
        max: [9.0, 2.6],
    };
    let simplex_size = |picture: &Picture| match picture.bounds(is_blue, &right) {
        Some(Area { min, max }) => (max[0] - min[0]).hypot(max[1] - min[1]),
        None => 0.0,
    };
    let first = demo.wait_for("step 1 shows a vertex", |picture| {
        simplex_size(picture) < 0.3
    })?;
    press(browser, RIGHT)?;
    demo.wait_for("step 2 shows an edge", |picture| {
        simplex_size(picture) > 1.0
    })?;
    press(browser, LEFT)?;
    demo.wait_for("the left arrow steps back to the same picture", |picture| {
        picture.equals(&first)
    })?;

    demo.drag([-2.9, -0.1], [-1.9, 1.2])?;
    demo.wait_for_orange("the mouse drags B to (-1.9, 1.2)", b_at([-1.9, 1.2]))
}

/// Checks `tiles` and `voxels`: the blue player lands, and a key moves the player or the camera.
pub fn game(browser: &Browser) -> Result<(), Box<dyn Error>> {
    let demo = Demo {
        browser,
        height: 11.0,
        orange_area: Area::EVERYWHERE,
        hidden_by_dots: 0.0,
    };
    let has_player = |picture: &Picture| picture.bounds(is_blue, &Area::EVERYWHERE).is_some();
    let mut before = demo.wait_for("the player is blue", has_player)?;
    let start = Instant::now();
    let at_rest = loop {
        thread::sleep(Duration::from_secs(1));
        let picture = demo.picture()?;
        if picture.equals(&before) {
            break picture;
        }
        if start.elapsed() > PATIENCE {
            return Err("the picture changes although no key is down".into());
        }
        before = picture;
    };
    browser.key_down(RIGHT)?;
    demo.wait_for("the right arrow changes the picture", |picture| {
        has_player(picture) && !picture.equals(&at_rest)
    })?;
    browser.key_up(RIGHT)
}
