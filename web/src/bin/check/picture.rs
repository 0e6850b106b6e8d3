//! Screenshots, measured in units of the demo's world.

use std::{error::Error, io::Cursor};

use png::{Decoder, Transformations};

/// A set of colors, as red, green and blue.
pub type Colors = fn([u8; 3]) -> bool;

/// A rectangle in the world, parallel to the axes.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub min: [f64; 2],
    pub max: [f64; 2],
}

impl Area {
    pub const EVERYWHERE: Self = Self {
        min: [f64::NEG_INFINITY; 2],
        max: [f64::INFINITY; 2],
    };

    pub fn around([x, y]: [f64; 2], [half_width, half_height]: [f64; 2]) -> Self {
        Self {
            min: [x - half_width, y - half_height],
            max: [x + half_width, y + half_height],
        }
    }

    pub fn contains(&self, point: [f64; 2]) -> bool {
        (0..2).all(|axis| (self.min[axis]..=self.max[axis]).contains(&point[axis]))
    }

    /// Returns `true` if each side is at most `tolerance` away from the same side of the other
    /// area.
    pub fn is_close_to(&self, other: &Self, tolerance: f64) -> bool {
        let differs = |axis: usize| {
            (self.min[axis] - other.min[axis]).abs() > tolerance
                || (self.max[axis] - other.max[axis]).abs() > tolerance
        };
        !differs(0) && !differs(1)
    }
}

/// A picture of the whole page.
pub struct Picture {
    pub png: Vec<u8>,
    size: [u32; 2],
    channels: usize,
    bytes: Vec<u8>,
    /// The minimum height of the world that the demo's camera shows.
    height: f64,
}

impl Picture {
    pub fn decode(png: Vec<u8>, height: f64) -> Result<Self, Box<dyn Error>> {
        let mut decoder = Decoder::new(Cursor::new(&png));
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().ok_or("too large a picture")?];
        let info = reader.next_frame(&mut bytes)?;
        Ok(Self {
            size: [info.width, info.height],
            channels: info.color_type.samples(),
            bytes,
            height,
            png,
        })
    }

    /// Returns the length of a pixel in the world. A window that is narrower than 16:9 shows more
    /// than `height` units from top to bottom.
    pub fn pixel_length(&self) -> f64 {
        let [width, height] = self.size.map(f64::from);
        (self.height / height).max(self.height * 16.0 / 9.0 / width)
    }

    /// Returns the pixel at a point of the world.
    pub fn pixel_at(&self, [x, y]: [f64; 2]) -> [u32; 2] {
        let [width, height] = self.size.map(f64::from);
        let [x, y] = [x, -y].map(|offset| offset / self.pixel_length());
        [0.5 * width + x, 0.5 * height + y].map(|pixel| pixel.round() as u32)
    }

    /// Returns the smallest rectangle around the pixels of an area that have one of the colors, or
    /// `None` if there is no such pixel.
    pub fn bounds(&self, colors: Colors, area: &Area) -> Option<Area> {
        let length = self.pixel_length();
        let [width, height] = self.size.map(f64::from);
        let pixels = self.bytes.chunks_exact(self.channels).zip(0_u32..);
        let centers = pixels.filter_map(|(pixel, index)| {
            let &[red, green, blue, ..] = pixel else {
                return None;
            };
            let column = f64::from(index % self.size[0]) + 0.5;
            let row = f64::from(index / self.size[0]) + 0.5;
            let center = [column - 0.5 * width, 0.5 * height - row].map(|offset| offset * length);
            (colors([red, green, blue]) && area.contains(center)).then_some(center)
        });
        let pixel = |center| Area::around(center, [0.5 * length; 2]);
        centers.map(pixel).reduce(|bounds, pixel| Area {
            min: [0, 1].map(|axis| bounds.min[axis].min(pixel.min[axis])),
            max: [0, 1].map(|axis| bounds.max[axis].max(pixel.max[axis])),
        })
    }

    /// Returns `true` if no pixel differs.
    pub fn equals(&self, other: &Self) -> bool {
        self.size == other.size && self.bytes == other.bytes
    }
}
