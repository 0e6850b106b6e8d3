//! Runs the examples with a window, and looks at their pictures.
//!
//! ```text
//! cargo build --features demo --examples && cargo test --features demo --test pictures
//! ```
//!
//! The examples draw off screen, with any driver for Vulkan. Without one, the tests pass and say so.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, id},
};

use bevy::{
    asset::RenderAssetUsages,
    image::{CompressedImageFormats, ImageSampler, ImageType},
    prelude::*,
};

/// A picture that an example has written.
struct Picture(Image);

impl Picture {
    /// Runs an example up to a tick, with scripted input. Returns `None` if nothing can draw here.
    fn of(example: &str, tick: u32, input: &str) -> Option<Self> {
        let mut programs = env::current_exe().expect("the path of this test");
        // From target/debug/deps to target/debug/examples.
        programs.pop();
        programs.pop();
        let program = programs.join("examples").join(example);
        let file = env::temp_dir().join(format!("headbutt-{}-{example}-{tick}.png", id()));
        let output = Command::new(&program)
            .args(["--ticks", &tick.to_string(), "--input", input])
            .arg("--screenshot")
            .arg(&file)
            .output();
        let output = output.unwrap_or_else(|error| {
            panic!("{}: {error}; see the head of this file", program.display())
        });
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("Unable to find a GPU") {
            eprintln!("SKIPPED, because this machine has no driver for Vulkan: {example}");
            return None;
        }
        assert!(
            output.status.success(),
            "{example}: {}\n{errors}",
            output.status
        );
        Some(Self::read(&file))
    }

    fn read(file: &PathBuf) -> Self {
        let bytes = fs::read(file).expect("a picture");
        fs::remove_file(file).expect("a file that can be removed");
        let image = Image::from_buffer(
            &bytes,
            ImageType::Extension("png"),
            CompressedImageFormats::NONE,
            true,
            ImageSampler::default(),
            RenderAssetUsages::all(),
        );
        Self(image.expect("a PNG"))
    }

    fn color(&self, [x, y]: [u32; 2]) -> [f32; 3] {
        let color = self.0.get_color_at(x, y).expect("a pixel of the picture");
        let color = color.to_srgba();
        [color.red, color.green, color.blue]
    }

    /// Counts the pixels of a rectangle whose color is in a set.
    fn count(
        &self,
        [x, y]: [u32; 2],
        [width, height]: [u32; 2],
        set: fn([f32; 3]) -> bool,
    ) -> usize {
        let pixels = (y..y + height).flat_map(|y| (x..x + width).map(move |x| [x, y]));
        pixels.filter(|pixel| set(self.color(*pixel))).count()
    }
}

/// The fill of A, over the background.
fn is_blue([red, green, blue]: [f32; 3]) -> bool {
    blue > 0.6 && red < 0.4 && green < 0.6
}

/// The fill of B.
fn is_orange([red, green, blue]: [f32; 3]) -> bool {
    red > 0.7 && (0.4..0.6).contains(&green) && blue < 0.35
}

/// Text and arrows.
fn is_ink([red, green, blue]: [f32; 3]) -> bool {
    red.min(green).min(blue) > 0.85
}

/// The camera of `blocks_2d` shows 9 units, so a unit is 80 pixels long. Block A reaches from
/// x = -2.5 to 0.5, which is the pixel 680. Block B has the width 2.
#[test]
fn block_b_is_pushed_out_of_block_a() {
    let Some(picture) = Picture::of("blocks_2d", 120, "0 down ArrowLeft") else {
        return;
    };
    let height = 100;
    let width = 158;
    let left = picture.count([441, 290], [width, height], is_blue);
    let right = picture.count([682, 290], [width, height], is_orange);
    for (side, count) in [("A", left), ("B", right)] {
        // The rest is the letter.
        assert!(
            count * 10 > 8 * (height * width) as usize,
            "{side}: {count} pixels"
        );
    }
    // No pixel of B is left of its edge, and none is right of the other one.
    assert_eq!(picture.count([0, 100], [678, 500], is_orange), 0);
    assert_eq!(picture.count([842, 100], [400, 500], is_orange), 0);
}

/// B moves by 1/16 unit per tick, for 48 ticks, so it overlaps A by half a unit, or 40 pixels.
#[test]
fn an_arrow_shows_how_to_leave_block_a() {
    let input = "0 down Space; 1 up Space; 1 down ArrowLeft; 49 up ArrowLeft";
    let Some(picture) = Picture::of("blocks_2d", 60, input) else {
        return;
    };
    let (left, right) = (640, 680);
    // A and B shine through each other where they overlap.
    let overlap = picture.count([left + 2, 290], [36, 20], |color| {
        is_blue(color) || is_orange(color)
    });
    assert_eq!(overlap, 0);
    // The crosses at the contact points cover its ends.
    let rows = (280..440).map(|y| picture.count([left, y], [right - left, 1], is_ink));
    let longest = rows.max();
    assert!(
        longest.is_some_and(|length| length > 20),
        "{longest:?} pixels of an arrow"
    );
}
