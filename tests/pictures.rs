//! Runs the examples that have a window, and checks their pictures.
//!
//! ```text
//! cargo build --features demo --examples
//! cargo test --features demo --test pictures -- --nocapture
//! ```
//!
//! The examples draw off screen, with any driver for Vulkan. Without a driver, the tests print a
//! message and pass.

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
        Self::with(example, tick, input, &[])
    }

    /// Runs an example like [`of`](Self::of), with further arguments.
    fn with(example: &str, tick: u32, input: &str, arguments: &[&str]) -> Option<Self> {
        let mut programs = env::current_exe().expect("the path of this test");
        // The path leads from target/debug/deps to target/debug/examples.
        programs.pop();
        programs.pop();
        let program = programs.join("examples").join(example);
        let file = env::temp_dir().join(format!("headbutt-{}-{example}-{tick}.png", id()));
        let output = Command::new(&program)
            .args(["--ticks", &tick.to_string(), "--input", input])
            .args(arguments)
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

/// Returns `true` for the fill of A, over the background.
fn is_blue([red, green, blue]: [f32; 3]) -> bool {
    blue > 0.6 && red < 0.4 && green < 0.6
}

/// Returns `true` for the fill of B.
fn is_orange([red, green, blue]: [f32; 3]) -> bool {
    red > 0.7 && (0.4..0.6).contains(&green) && blue < 0.35
}

/// Returns `true` for text and arrows.
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
        // The other pixels are the letter.
        assert!(
            count * 10 > 8 * (height * width) as usize,
            "{side}: {count} pixels"
        );
    }
    // No pixel of B is left of its left edge, or right of its right edge.
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
    // The crosses at the contact points cover the ends of the arrow.
    let rows = (280..440).map(|y| picture.count([left, y], [right - left, 1], is_ink));
    let longest = rows.max();
    assert!(
        longest.is_some_and(|length| length > 20),
        "{longest:?} pixels of an arrow"
    );
}

/// Returns `true` for orange fills of any brightness: touching colliders, and the lift.
fn is_any_orange([red, green, blue]: [f32; 3]) -> bool {
    red > 0.6 && (0.35..0.7).contains(&green) && blue < 0.35
}

/// Returns `true` for the fill of a shape in the gallery that touches nothing.
fn is_dark_blue([red, green, blue]: [f32; 3]) -> bool {
    red < 0.25 && (0.25..0.45).contains(&green) && blue > 0.5
}

/// Returns `true` for the background and the text.
fn is_gray([red, green, blue]: [f32; 3]) -> bool {
    red.max(green).max(blue) - red.min(green).min(blue) < 0.1
}

fn is_background(color: [f32; 3]) -> bool {
    color.iter().all(|channel| *channel < 0.15)
}

/// The camera of `gallery_2d` draws the circle at (145, 180), and the ellipse at (343, 180).
#[test]
fn shapes_that_touch_light_up_in_the_gallery() {
    let input = "3 cursor 145 180; 4 press; 6 cursor 200 196; 8 cursor 265 236; 10 release";
    let Some(picture) = Picture::of("gallery_2d", 24, input) else {
        return;
    };
    // The circle has moved onto the ellipse.
    assert!(is_background(picture.color([145, 180])));
    assert!(is_any_orange(picture.color([240, 256])), "the circle");
    assert!(is_any_orange(picture.color([370, 176])), "the ellipse");
    assert!(is_dark_blue(picture.color([740, 180])), "the rectangle");
}

#[test]
fn a_dragged_sphere_moves_in_the_gallery() {
    let input = "1 cursor 282 195; 2 press; 3 cursor 250 300; 4 release";
    let Some(picture) = Picture::of("gallery_3d", 5, input) else {
        return;
    };
    assert!(is_background(picture.color([282, 195])), "where it was");
    // The sphere touches the frustum now.
    for pixel in [[260, 275], [200, 330]] {
        assert!(
            is_any_orange(picture.color(pixel)),
            "{:?}",
            picture.color(pixel)
        );
    }
}

#[test]
fn a_click_selects_and_a_drag_moves_the_picked_shape() {
    let input = "1 cursor 440 215; 2 press; 4 cursor 460 300; 5 cursor 480 330; 6 release; \
                 7 cursor 770 280";
    let Some(picture) = Picture::of("picking", 9, input) else {
        return;
    };
    assert!(
        is_any_orange(picture.color([450, 300])),
        "the selected shape"
    );
    assert!(is_background(picture.color([440, 200])), "where it was");
    let [brightness, plain] = [[760, 260], [950, 270]].map(|pixel| picture.color(pixel)[1]);
    assert!(
        brightness > plain + 0.1,
        "the shape under the pointer is brighter"
    );
}

/// Returns `true` for the fill of the player, which is a square of 58 pixels, and of colliders that
/// touch nothing.
fn is_bright_blue([red, green, blue]: [f32; 3]) -> bool {
    (0.2..0.3).contains(&red) && (0.45..0.55).contains(&green) && blue > 0.8
}

#[test]
fn the_player_jumps_onto_a_one_way_platform() {
    let input = "5 down ArrowRight; 25 down Space; 27 up Space";
    let Some(picture) = Picture::of("platformer", 60, input) else {
        return;
    };
    let count = picture.count([466, 322], [62, 62], is_bright_blue);
    assert!(count > 2_000, "{count} pixels of the player");
}

/// Returns `true` for soil, bright or in the shade.
fn is_brown([red, green, blue]: [f32; 3]) -> bool {
    red < 0.6 && red > green + 0.04 && green > blue + 0.02
}

/// The player digs through a hill, at the height of the floor, and walks into the tunnel. A tile is
/// 65 pixels long.
#[test]
fn the_player_digs_a_tunnel_through_tiles() {
    let input = "2 cursor 1200 365; 5 down KeyD; 30 press";
    let Some(picture) = Picture::of("tiles", 80, input) else {
        return;
    };
    let count = picture.count([650, 330], [50, 60], is_bright_blue);
    assert!(count > 2_000, "{count} pixels of the player in the tunnel");
    let tunnel = picture.count([530, 345], [110, 40], is_background);
    assert_eq!(tunnel, 110 * 40, "the tunnel");
    for (part, corner) in [("roof", [650, 220]), ("floor", [650, 420])] {
        let count = picture.count(corner, [100, 80], is_brown);
        assert!(count > 7_500, "{count} pixels of the {part}");
    }
}

/// The player digs a voxel of the slope, and places a brick on the slope.
#[test]
fn the_player_digs_and_builds_voxels() {
    let input = "30 cursor 540 520; 45 press; 46 release; \
                 50 down ShiftLeft; 50 cursor 760 480; 52 press; 53 release";
    let Some(picture) = Picture::of("voxels", 60, input) else {
        return;
    };
    let player = picture.count([600, 330], [80, 150], is_blue);
    assert!(player > 4_000, "{player} pixels of the player");
    let hole = picture.count([510, 490], [80, 50], is_brown);
    assert!(hole > 3_000, "{hole} pixels of soil in the hole");
    let brick = picture.count([740, 430], [60, 40], is_any_orange);
    assert!(brick > 1_500, "{brick} pixels of the brick");
}

/// The player walks to the left, against the wall at the pixel 41, and shoots to the right.
#[test]
fn a_wall_stops_the_player_and_the_bullets() {
    let input = "5 down KeyA; 80 cursor 900 360; 100 press; 170 release";
    let Some(picture) = Picture::of("top_down", 185, input) else {
        return;
    };
    let count = picture.count([40, 349], [42, 42], is_bright_blue);
    assert!(count > 800, "{count} pixels of the player at the wall");
    assert_eq!(
        picture.count([0, 300], [40, 120], is_bright_blue),
        0,
        "in the wall"
    );
    let behind = picture.count([900, 330], [300, 50], is_any_orange);
    assert_eq!(behind, 0, "bullets behind the wall");
}

#[test]
fn many_colliders_move_and_those_that_touch_are_orange() {
    let Some(picture) = Picture::of("stress", 20, "") else {
        return;
    };
    let count = |set| picture.count([420, 0], [860, 660], set);
    assert!(count(is_any_orange) > 5_000 && count(is_bright_blue) > 5_000);
    // The text is on a panel, through which no collider shines.
    let panel = |set| picture.count([20, 60], [380, 180], set);
    assert_eq!(panel(|color| !is_gray(color)), 0);
}

/// The last step of GJK for the shapes of the start draws the shortest line, in red, from the
/// difference to the origin.
#[test]
fn the_last_step_of_gjk_shows_the_nearest_point() {
    let step = |count: usize| {
        let presses = (0..count).map(|number| {
            let tick = 3 + 3 * number;
            format!("{tick} down ArrowRight; {} up ArrowRight; ", tick + 1)
        });
        Picture::of("gjk_epa_steps", 20, &presses.collect::<String>())
    };
    let (Some(first), Some(last)) = (step(0), step(3)) else {
        return;
    };
    let is_red = |[red, green, blue]: [f32; 3]| red > 0.75 && green < 0.4 && blue < 0.45;
    let in_difference = |picture: &Picture| picture.count([683, 190], [555, 440], is_red);
    let (first, last) = (in_difference(&first), in_difference(&last));
    assert!(last > 100, "{last} red pixels");
    assert_ne!(first, last, "a step changes the picture");
}

/// Returns the pictures of a recording at some ticks, or `None` if nothing can draw here.
fn replay(recording: &str, ticks: &[u32]) -> Option<Vec<Picture>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/recordings/");
    let file = format!("{file}{recording}.headbutt");
    let pictures = ticks
        .iter()
        .map(|tick| Picture::with("replay", *tick, "", &[&file]));
    pictures.collect()
}

#[test]
fn a_recording_is_played_to_its_tick() {
    let Some(pictures) = replay("bouncing_2d", &[3, 60]) else {
        return;
    };
    let bodies = |picture: &Picture| {
        let pixels = (100..600).flat_map(|y| (300..1000).map(move |x| [x, y]));
        let body = pixels.filter(|pixel| !is_background(picture.color(*pixel)));
        body.collect::<Vec<_>>()
    };
    let (first, later) = (bodies(&pictures[0]), bodies(&pictures[1]));
    assert!(first.len() > 10_000 && later.len() > 10_000);
    assert_ne!(first, later, "the bodies move");
}

/// Twelve bodies fly through a room of half-spaces, which have no bounds.
#[test]
fn the_camera_of_a_replay_sees_all_bodies_at_all_ticks() {
    let Some(pictures) = replay("bouncing_2d", &[3, 60, 150]) else {
        return;
    };
    let counts = pictures.iter().map(|picture| {
        let count = |corner, size| picture.count(corner, size, is_dark_blue);
        let edges = [[0, 0], [0, 710]].map(|corner| count(corner, [1280, 10]));
        assert_eq!(edges, [0; 2], "bodies at the lower or upper edge");
        count([0, 0], [1280, 720])
    });
    let counts: Vec<_> = counts.collect();
    let (least, most) = (counts.iter().min(), counts.iter().max());
    // The color is different where two bodies overlap, and on the outlines.
    assert!(
        least > Some(&10_000) && least.zip(most).is_some_and(|(a, b)| 4 * a > 3 * b),
        "{counts:?}"
    );
}
