//! Random surfaces. All vertices lie on a grid of 1/64, so that dividing a facet at halves and
//! eighths is exact in f32.

use core::f32::consts::{PI, TAU};

use bevy::{
    math::{DAffine3, DMat3, DVec3},
    prelude::*,
};
use headbutt::prelude::*;
use rand::{Rng, rngs::StdRng};

use crate::surface_laws::{
    oracle::Facet,
    shapes::{direction, snapped, turned},
};

/// The number of grid steps per unit.
const STEPS: f32 = 64.0;

#[derive(Clone, Debug)]
pub struct Surface {
    pub name: &'static str,
    pub plane: bool,
    pub points: Vec<Vec3>,
    /// The indices of the vertices of each facet. In 2D, the facets are segments from each point to
    /// the next.
    pub facets: Vec<[u32; 3]>,
    /// The size, columns and heights of a height field.
    pub heights: Option<(Vec2, usize, Vec<f32>)>,
    pub one_sided: bool,
    pub margin: f32,
    /// The transforms of the parent and of the surface.
    pub place: [Transform; 2],
    /// `true` if the surface encloses a solid, with all outer sides facing out.
    pub closed: bool,
}

impl Surface {
    pub fn new(name: &'static str, points: Vec<Vec3>, facets: Vec<[u32; 3]>) -> Self {
        Self {
            name,
            plane: false,
            points,
            facets,
            heights: None,
            one_sided: false,
            margin: 0.0,
            place: [Transform::IDENTITY; 2],
            closed: false,
        }
    }

    /// Returns a polyline.
    pub fn line(name: &'static str, points: &[(f32, f32)]) -> Self {
        let points: Vec<Vec3> = points.iter().map(|(x, y)| Vec3::new(*x, *y, 0.0)).collect();
        let facets = (1..points.len() as u32)
            .map(|it| [it - 1, it, it])
            .collect();
        Self {
            plane: true,
            ..Self::new(name, points, facets)
        }
    }

    pub fn collider(&self) -> Collider {
        let collider = if self.plane {
            Collider::try_polyline(self.points.iter().map(|it| it.truncate()))
        } else if let Some((size, columns, heights)) = &self.heights {
            Collider::try_heightfield(*size, *columns, heights)
        } else {
            Collider::try_trimesh(self.points.iter().copied(), self.facets.iter().copied())
        };
        let collider = collider.expect("a surface");
        let collider = if self.one_sided {
            collider.one_sided()
        } else {
            collider
        };
        if self.margin > 0.0 {
            collider.rounded(self.margin)
        } else {
            collider
        }
    }

    /// Returns the map from the frame of the surface to world space.
    pub fn map(&self) -> DAffine3 {
        let affine = |it: &Transform| {
            let linear = DMat3::from_quat(it.rotation.as_dquat().normalize())
                * DMat3::from_diagonal(it.scale.as_dvec3());
            DAffine3::from_mat3_translation(linear, it.translation.as_dvec3())
        };
        affine(&self.place[0]) * affine(&self.place[1])
    }

    /// Returns the margin in world space, which has the scale of the surface.
    pub fn world_margin(&self) -> f64 {
        f64::from(self.margin) * self.map().matrix3.x_axis.length()
    }

    /// Returns the longest side of the points' bounding box, times the least scale.
    pub fn extent(&self) -> f64 {
        let corner = |pick: fn(Vec3, Vec3) -> Vec3| self.points.iter().copied().reduce(pick);
        let (Some(least), Some(most)) = (corner(Vec3::min), corner(Vec3::max)) else {
            return 0.0;
        };
        let matrix = self.map().matrix3;
        let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
        let scales = columns.map(|it| it.length());
        f64::from((most - least).max_element()) * scales.into_iter().fold(1.0, f64::min)
    }

    /// Returns the facets in world space by their indices, or `None` for facets without area.
    pub fn all_facets(&self) -> Vec<Option<Facet>> {
        let map = self.map();
        let mirror = map.matrix3.determinant().signum();
        let facet = |numbers: &[u32; 3]| {
            let own = numbers.map(|it| self.points[it as usize].as_dvec3());
            let corners = own.map(|it| map.transform_point3(it));
            let [a, b, c] = corners;
            let normal = if self.plane {
                let along = b - a;
                DVec3::new(along.y, -along.x, 0.0)
            } else {
                (b - a).cross(c - a)
            };
            let longest = (b - a).length().max((c - a).length());
            let is_flat =
                normal.length() <= 1e-10 * longest * if self.plane { 1.0 } else { longest };
            let normal = normal.normalize() * mirror;
            (!is_flat).then_some(Facet { corners, normal })
        };
        self.facets.iter().map(facet).collect()
    }

    /// Returns the facets in world space that have an area.
    pub fn world_facets(&self) -> Vec<Facet> {
        self.all_facets().into_iter().flatten().collect()
    }

    pub fn describe(&self) -> String {
        let points: Vec<_> = self.points.iter().map(|it| it.to_array()).collect();
        let mut text = format!("{} ", self.name);
        if self.plane {
            text += &format!("polyline {points:?}");
        } else {
            text += &format!("trimesh {points:?} {:?}", self.facets);
        }
        if self.heights.is_some() {
            text += " (as a height field)";
        }
        if self.one_sided {
            text += " one_sided";
        }
        if self.margin > 0.0 {
            text += &format!(" margin {}", self.margin);
        }
        for place in &self.place {
            if *place != Transform::IDENTITY {
                text += &format!(
                    " placed translation {:?} rotation {:?} scale {:?}",
                    place.translation.to_array(),
                    place.rotation.to_array(),
                    place.scale.to_array()
                );
            }
        }
        text
    }

    /// Returns a random surface of any kind.
    pub fn random(random: &mut StdRng, plane: bool) -> Self {
        let mut surface = if plane {
            Self::random_line(random)
        } else {
            Self::random_mesh(random)
        };
        surface.one_sided = random.random_range(0..3) == 0;
        surface
    }

    fn random_line(random: &mut StdRng) -> Self {
        let mut n = |range: core::ops::Range<f32>| snapped(random.random_range(range), STEPS);
        let mut line = match (n(0.0..9.0)) as usize {
            0 => {
                let step = [2.5, 1.0, 0.25, 0.0625][n(0.0..3.99) as usize];
                let count = ((4.0 / step) as i32).clamp(2, 16);
                let points = (-count..=count).rev().map(|it| (it as f32 * step, 0.0));
                Self::line("flat ground", &points.collect::<Vec<_>>())
            }
            1 | 2 => {
                let count = 3 + n(0.0..8.0) as i32;
                let wild = n(0.1..2.0);
                let points: Vec<_> = (0..count)
                    .rev()
                    .map(|it| (it as f32 - count as f32 / 2.0, n(-wild..wild)))
                    .collect();
                Self::line("hills", &points)
            }
            3 => {
                let (rise, tread) = (n(0.1..0.6), n(0.3..1.5));
                let mut points = vec![(5.0 * tread, 5.0 * rise)];
                for step in (0..4).rev() {
                    let x = step as f32 * tread;
                    points.push((x, (step + 1) as f32 * rise));
                    points.push((x, step as f32 * rise));
                }
                points.push((-4.0, 0.0));
                Self::line("stairs", &points)
            }
            4 => {
                let (a, b) = (n(-3.0..6.0), n(-3.0..6.0));
                Self::line("corner", &[(8.0, a), (0.0, 0.0), (-8.0, b)])
            }
            5 => {
                let (x, y) = (n(0.1..3.0), n(0.05..3.0));
                Self::cuboid(Vec3::new(x, y, 0.0), true)
            }
            6 => {
                let count = 3 + n(0.0..6.0) as usize;
                let (wide, high) = (n(0.5..3.0), n(0.2..3.0));
                let mut points: Vec<(f32, f32)> = (0..count)
                    .map(|it| {
                        let angle = TAU * it as f32 / count as f32;
                        let x = snapped(wide * libm::cosf(angle), STEPS);
                        (x, snapped(high * libm::sinf(angle), STEPS))
                    })
                    .collect();
                points.push(points[0]);
                let mut line = Self::line("polygon", &points);
                line.closed = true;
                line
            }
            7 => {
                let (high, wide) = (n(0.3..3.0), n(0.05..1.5));
                let (a, b) = ((wide, 0.0), (-wide, 0.0));
                Self::line("spike", &[(5.0, 0.0), a, (0.0, high), b, (-5.0, 0.0)])
            }
            _ => {
                let (x, y, t) = (n(0.5..3.0), n(0.5..3.0), n(0.1..0.45));
                let corners = [
                    (x, 0.0),
                    (x, t),
                    (t, t),
                    (t, y),
                    (0.0, y),
                    (0.0, 0.0),
                    (x, 0.0),
                ];
                let mut line = Self::line("angle", &corners);
                line.closed = true;
                line
            }
        };
        // Splitting adds points inside segments.
        if random.random_range(0..3) == 0 {
            line = line.split(random);
        }
        line
    }

    fn random_mesh(random: &mut StdRng) -> Self {
        let mut n = |range: core::ops::Range<f32>| snapped(random.random_range(range), STEPS);
        match (n(0.0..12.0)) as usize {
            0 => {
                let cell = [10.0, 1.0, 0.25, 0.0625][n(0.0..3.99) as usize];
                Self::field("flat floor", cell, 5, &[0.0; 25], random)
            }
            1 | 2 => {
                let cell = [1.0, 1.0, 0.5, 0.25][n(0.0..3.99) as usize];
                let wild = n(0.05..1.5);
                let heights: Vec<f32> = (0..25).map(|_| n(-wild..wild)).collect();
                Self::field("terrain", cell, 5, &heights, random)
            }
            3 | 4 => {
                let (rise, tread) = (n(0.1..0.6), n(0.3..1.5));
                let steps = n(1.0..4.0) as i32;
                let mut profile = vec![(-4.0, 0.0)];
                for step in 0..steps {
                    let x = step as f32 * tread;
                    profile.push((x, step as f32 * rise));
                    profile.push((x, (step + 1) as f32 * rise));
                }
                profile.push((steps as f32 * tread + 4.0, steps as f32 * rise));
                let cell = [10.0, 1.0, 0.25, 0.0625][n(0.0..3.99) as usize];
                let name = if steps == 1 { "kerb" } else { "stairs" };
                Self::sheet(name, &profile, cell, random)
            }
            5 | 6 => {
                let count = n(2.0..13.0) as usize;
                let kind = n(0.0..3.99) as usize;
                Self::around_a_vertex(count, kind, random)
            }
            7 if n(0.0..1.0) < 0.5 => {
                let count = 3 + n(0.0..2.99) as usize;
                let ends: Vec<(f32, f32)> = (0..count)
                    .map(|_| (n(-3.0..3.0), n(-3.0..3.0)))
                    .filter(|(x, y)| x.abs() + y.abs() > 0.25)
                    .collect();
                Self::fins(&ends, n(0.5..3.0))
            }
            7 => {
                let high = n(0.3..2.0);
                let mut fin = Self::field("fin", 4.0, 2, &[0.0; 4], random);
                fin.heights = None;
                let first = fin.points.len() as u32;
                let corners = [(-2.0, 0.0), (2.0, 0.0), (-2.0, high), (2.0, high)];
                fin.points
                    .extend(corners.map(|(z, y)| Vec3::new(0.25, y, z)));
                fin.facets
                    .extend([[0, 1, 2], [1, 3, 2]].map(|it| it.map(|it| it + first)));
                fin
            }
            8 => {
                let half = Vec3::new(n(0.1..3.0), n(0.05..3.0), n(0.1..3.0));
                Self::cuboid(half, false)
            }
            9 => {
                let half = Vec3::new(n(0.5..3.0), 1.0 / 32.0, n(0.5..3.0));
                Self::prism(
                    "plate",
                    &block(half.x, half.y),
                    half.z,
                    &[[0, 1, 2], [0, 2, 3]],
                )
            }
            10 => {
                let (x, y, t) = (n(0.5..3.0), n(0.5..3.0), n(0.1..0.45));
                let outline = [(x, 0.0), (x, t), (t, t), (t, y), (0.0, y), (0.0, 0.0)];
                let caps = [[0, 1, 2], [0, 2, 5], [2, 3, 4], [2, 4, 5]];
                Self::prism("angle iron", &outline, n(0.5..4.0), &caps)
            }
            _ => {
                let count = 3 + n(0.0..6.0) as usize;
                let (wide, high) = (n(0.5..3.0), n(0.2..3.0));
                let outline: Vec<(f32, f32)> = (0..count)
                    .map(|it| {
                        let angle = TAU * it as f32 / count as f32;
                        let x = snapped(wide * libm::cosf(angle), STEPS);
                        (x, snapped(high * libm::sinf(angle), STEPS))
                    })
                    .collect();
                let caps: Vec<[usize; 3]> = (2..count).map(|it| [0, it - 1, it]).collect();
                Self::prism("prism", &outline, n(0.1..3.0), &caps)
            }
        }
    }

    /// Returns a box about the origin.
    pub fn cuboid(half: Vec3, plane: bool) -> Self {
        let outline = block(half.x, half.y);
        if plane {
            let outline = [&outline[..], &outline[..1]].concat();
            let mut line = Self::line("rectangle", &outline);
            line.closed = true;
            return line;
        }
        Self::prism("box", &outline, half.z, &[[0, 1, 2], [0, 2, 3]])
    }

    /// Returns a random terrain of small or large cells.
    pub fn terrain(random: &mut StdRng, plane: bool) -> Self {
        let columns = 9;
        let cell = [1.0, 0.5, 0.25, 0.125][random.random_range(0..4)];
        let wild = cell * random.random_range(0.1..2.0f32);
        let count = if plane { columns } else { columns * columns };
        let heights = (0..count).map(|_| snapped(random.random_range(-wild..wild), STEPS));
        let heights: Vec<f32> = heights.collect();
        if plane {
            let points = heights.iter().enumerate();
            let points = points.map(|(at, height)| ((4.0 - at as f32) * cell, *height));
            return Self::line("terrain", &points.collect::<Vec<_>>());
        }
        Self::field("terrain", cell, columns, &heights, random)
    }

    /// Returns a random part of a machine or of a building, with notches, slots, wedges, shelves
    /// and windows.
    pub fn with_gaps(random: &mut StdRng, plane: bool) -> Self {
        let mut n = |range: core::ops::Range<f32>| snapped(random.random_range(range), STEPS);
        if plane {
            // The surface is a comb: leaning teeth with gaps between them.
            let mut points = vec![(4.0, 0.0)];
            let mut x = 2.0;
            while x > -2.5 {
                let (high, wide, lean) = (n(0.2..2.0), n(0.05..0.75), n(-1.0..1.0));
                points.push((x, 0.0));
                points.push((x + lean, high));
                points.push((x + lean - wide, high + n(-0.1..0.1)));
                points.push((x - wide, 0.0));
                x -= wide + n(0.1..2.0);
            }
            points.push((-5.0, 0.0));
            return Self::line("comb", &points);
        }
        let mut parts = Vec::new();
        let floor = |half: f32| Self::cuboid(Vec3::new(half, 0.25, half), false);
        match n(0.0..4.0) as usize {
            // The surface is a floor with inclined sheets over it.
            0 => {
                parts.push((floor(4.0), Transform::from_xyz(0.0, -0.25, 0.0)));
                for _ in 0..1 + n(0.0..3.0) as usize {
                    let half = Vec3::new(n(0.5..2.0), 1.0 / 64.0, n(0.5..2.0));
                    let turn = turned(Vec3::Z, n(-1.2..1.2)) * turned(Vec3::Y, n(0.0..TAU));
                    let at = Vec3::new(n(-2.0..2.0), n(0.0..2.0), n(-2.0..2.0));
                    let pose = Transform::from_translation(at).with_rotation(turn);
                    parts.push((Self::cuboid(half, false), pose));
                }
            }
            // The surface is a floor and a wall with shelves.
            1 => {
                parts.push((floor(4.0), Transform::from_xyz(0.0, -0.25, 0.0)));
                let wall = Self::cuboid(Vec3::new(0.25, 2.0, 4.0), false);
                parts.push((wall, Transform::from_xyz(-2.25, 2.0, 0.0)));
                for _ in 0..1 + n(0.0..3.0) as usize {
                    let half = Vec3::new(n(0.1..1.0), n(0.02..0.25), n(0.2..2.0));
                    let at = Vec3::new(half.x - 2.0, n(0.1..2.0), n(-2.0..2.0));
                    parts.push((Self::cuboid(half, false), Transform::from_translation(at)));
                }
            }
            // The surface is a wall with a window, which may be rotated.
            2 => {
                let (half, thick) = (Vec2::new(n(0.2..1.0), n(0.2..1.0)), n(0.02..0.5));
                let beam = |x: f32, y: f32| Self::cuboid(Vec3::new(x, y, thick), false);
                for side in [-1.0, 1.0] {
                    let x = side * (half.x + 0.5);
                    parts.push((beam(0.5, 3.0), Transform::from_xyz(x, 0.0, 0.0)));
                    let y = side * (half.y + 0.5);
                    parts.push((beam(half.x, 0.5), Transform::from_xyz(0.0, y, 0.0)));
                }
                parts.push((floor(4.0), Transform::from_xyz(0.0, -0.25 - half.y, 0.0)));
            }
            // The surface consists of blocks in any position.
            _ => {
                for _ in 0..2 + n(0.0..4.0) as usize {
                    let half = Vec3::new(n(0.1..1.0), n(0.1..1.0), n(0.1..1.0));
                    let turn = turned(Vec3::Y, n(0.0..TAU)) * turned(Vec3::X, n(0.0..TAU));
                    let at = Vec3::new(n(-1.0..1.0), n(-1.0..1.0), n(-1.0..1.0));
                    let pose = Transform::from_translation(at).with_rotation(turn);
                    parts.push((Self::cuboid(half, false), pose));
                }
            }
        }
        let mut whole = Self::new("gaps", vec![], vec![]);
        for (part, pose) in parts {
            let first = whole.points.len() as u32;
            let points = part.points.iter().map(|it| pose.transform_point(*it));
            whole.points.extend(points);
            let facets = part.facets.iter().map(|it| it.map(|index| index + first));
            whole.facets.extend(facets);
        }
        whole
    }

    /// Returns a random closed convex surface.
    pub fn random_convex(random: &mut StdRng, plane: bool) -> Self {
        if plane {
            loop {
                let line = Self::random_line(random);
                if line.closed && line.name != "angle" {
                    return line;
                }
            }
        }
        match random.random_range(0..3) {
            0 => Self::lathe(random),
            _ => loop {
                let mesh = Self::random_mesh(random);
                if mesh.closed && mesh.name != "angle iron" {
                    return mesh;
                }
            },
        }
    }

    /// Returns a closed convex surface of rings around y: finely divided, and pointed or blunt.
    fn lathe(random: &mut StdRng) -> Self {
        let count = random.random_range(4..17_usize);
        let rings = random.random_range(1..6_usize);
        let (wide, high) = (
            random.random_range(0.3..2.0f32),
            random.random_range(0.1..2.0f32),
        );
        let mut points = vec![Vec3::NEG_Y * high, Vec3::Y * high];
        for ring in 1..=rings {
            let (sine, cosine) = libm::sincosf(PI * ring as f32 / (rings + 1) as f32);
            for step in 0..count {
                let (z, x) = libm::sincosf(TAU * step as f32 / count as f32);
                let flat = wide * sine;
                points.push(Vec3::new(flat * x, -high * cosine, flat * z));
            }
        }
        let at = |ring: usize, step: usize| (2 + ring * count + step % count) as u32;
        let mut facets = Vec::new();
        for step in 0..count {
            facets.push([0, at(0, step), at(0, step + 1)]);
            facets.push([1, at(rings - 1, step + 1), at(rings - 1, step)]);
            for ring in 1..rings {
                let [a, b] = [at(ring - 1, step), at(ring - 1, step + 1)];
                let [c, d] = [at(ring, step), at(ring, step + 1)];
                facets.extend([[a, c, b], [b, c, d]]);
            }
        }
        Self {
            closed: true,
            ..Self::new("lathe", points, facets)
        }
    }

    /// Returns a grid of square cells with the outer side up, sometimes as a height field.
    pub fn field(
        name: &'static str,
        cell: f32,
        columns: usize,
        heights: &[f32],
        random: &mut StdRng,
    ) -> Self {
        let middle = (columns - 1) as f32 / 2.0;
        let points: Vec<Vec3> = heights
            .iter()
            .enumerate()
            .map(|(number, height)| {
                let (x, z) = ((number % columns) as f32, (number / columns) as f32);
                Vec3::new((x - middle) * cell, *height, (z - middle) * cell)
            })
            .collect();
        let is_field = random.random_range(0..2) == 0;
        let mut facets = Vec::new();
        for z in 0..columns - 1 {
            for x in 0..columns - 1 {
                let a = z * columns + x;
                let [a, b, c, d] = [a, a + 1, a + columns, a + columns + 1].map(|it| it as u32);
                if is_field || random.random() {
                    facets.extend([[a, c, b], [b, c, d]]);
                } else {
                    facets.extend([[a, c, d], [a, d, b]]);
                }
            }
        }
        let size = cell * (columns - 1) as f32;
        // (The height field's own arithmetic is exact only for a power of 2.)
        let is_field = is_field && (columns - 1).is_power_of_two();
        let heights = is_field.then(|| (Vec2::splat(size), columns, heights.to_vec()));
        Self {
            heights,
            ..Self::new(name, points, facets)
        }
    }

    /// Returns a profile in the xy plane, extruded along z in cells. The outer side is to the left
    /// of the profile: up, if the profile runs along +x.
    pub fn sheet(
        name: &'static str,
        profile: &[(f32, f32)],
        cell: f32,
        random: &mut StdRng,
    ) -> Self {
        Self::strip(name, profile, cell, if cell > 4.0 { 2 } else { 7 }, random)
    }

    /// Returns a sheet with `rows` rows of vertices along z, centered on z = 0.
    pub fn strip(
        name: &'static str,
        profile: &[(f32, f32)],
        cell: f32,
        rows: usize,
        random: &mut StdRng,
    ) -> Self {
        let middle = (rows - 1) as f32 / 2.0;
        let count = profile.len();
        let points = (0..rows).flat_map(|row| {
            let z = (row as f32 - middle) * cell;
            profile.iter().map(move |(x, y)| Vec3::new(*x, *y, z))
        });
        let points = points.collect();
        let mut facets = Vec::new();
        for row in 0..rows - 1 {
            for at in 0..count - 1 {
                let a = row * count + at;
                let [a, b, c, d] = [a, a + 1, a + count, a + count + 1].map(|it| it as u32);
                if random.random() {
                    facets.extend([[a, c, b], [b, c, d]]);
                } else {
                    facets.extend([[a, c, d], [a, d, b]]);
                }
            }
        }
        Self::new(name, points, facets)
    }

    /// Returns facets around the origin. `kind` selects a concave vertex (0), a convex vertex (1),
    /// a saddle (2), or a random vertex (3).
    pub fn around_a_vertex(count: usize, kind: usize, random: &mut StdRng) -> Self {
        let name = ["pit", "peak", "saddle", "vertex"][kind];
        let mut points = vec![Vec3::ZERO];
        let (count, is_wedge) = if count < 3 { (4, true) } else { (count, false) };
        let high = snapped(random.random_range(0.2..6.0), STEPS);
        let turn = random.random_range(0.0..TAU);
        for it in 0..count {
            let angle = turn + TAU * it as f32 / count as f32;
            let height = match kind {
                0 => high,
                1 => -high,
                2 if it % 2 == 0 => high,
                2 => -high,
                _ => snapped(random.random_range(-high..high), STEPS),
            };
            // A wedge has two facets on each side of its ridge.
            let height = if is_wedge && it % 2 == 1 { 0.0 } else { height };
            let (x, z) = (
                snapped(6.0 * libm::cosf(angle), STEPS),
                snapped(6.0 * libm::sinf(angle), STEPS),
            );
            points.push(Vec3::new(x, height, z));
        }
        let next = |it: u32| it % count as u32 + 1;
        let facets = (1..=count as u32).map(|it| [0, next(it), it]).collect();
        Self::new(name, points, facets)
    }

    /// Returns fins that share an edge along z. Each fin reaches from this edge to one of `ends`.
    fn fins(ends: &[(f32, f32)], half: f32) -> Self {
        let mut points = vec![Vec3::NEG_Z * half, Vec3::Z * half];
        let mut facets = Vec::new();
        for (x, y) in ends {
            let a = points.len() as u32;
            points.extend([-half, half].map(|z| Vec3::new(*x, *y, z)));
            facets.extend([[0, 1, a + 1], [0, a + 1, a]]);
        }
        // Every surface has a fin to (0, 2).
        let a = points.len() as u32;
        points.extend([-half, half].map(|z| Vec3::new(0.0, 2.0, z)));
        facets.extend([[0, 1, a + 1], [0, a + 1, a]]);
        Self::new("fins", points, facets)
    }

    /// Returns a closed prism along z over a counter-clockwise polygon, with the triangles of its
    /// caps.
    pub fn prism(
        name: &'static str,
        outline: &[(f32, f32)],
        half: f32,
        caps: &[[usize; 3]],
    ) -> Self {
        let count = outline.len();
        let ring = |z: f32| outline.iter().map(move |(x, y)| Vec3::new(*x, *y, z));
        let points = ring(-half).chain(ring(half)).collect();
        let mut facets = Vec::new();
        for [a, b, c] in caps {
            facets.push([*a, *c, *b]);
            facets.push([a + count, b + count, c + count]);
        }
        for a in 0..count {
            let b = (a + 1) % count;
            facets.extend([[a, b, b + count], [a, b + count, a + count]]);
        }
        let facets = facets
            .into_iter()
            .map(|it| it.map(|it| it as u32))
            .collect();
        Self {
            closed: true,
            ..Self::new(name, points, facets)
        }
    }

    /// Returns the same surface divided into more facets. The division is exact, because all
    /// vertices are on a grid.
    pub fn split(&self, random: &mut StdRng) -> Self {
        let mut split = self.clone();
        split.heights = None;
        if self.plane {
            split.points.clear();
            for pair in self.points.windows(2) {
                split.points.push(pair[0]);
                if random.random_range(0..2) == 0 {
                    let part = [0.25, 0.5, 0.75][random.random_range(0..3)];
                    split.points.push(pair[0] + (pair[1] - pair[0]) * part);
                }
            }
            split.points.extend(self.points.last());
            let count = split.points.len() as u32;
            split.facets = (1..count).map(|it| [it - 1, it, it]).collect();
            return split;
        }
        split.facets.clear();
        for [a, b, c] in self.facets.iter().copied() {
            let [at_a, at_b, at_c] = [a, b, c].map(|it| self.points[it as usize]);
            let new = split.points.len() as u32;
            match random.random_range(0..4) {
                // The facet is divided at a point inside.
                0 => {
                    let i = random.random_range(1..6) as f32 / 8.0;
                    let j = random.random_range(1..=(7 - (i * 8.0) as i32)) as f32 / 8.0;
                    split
                        .points
                        .push(at_a + (at_b - at_a) * i + (at_c - at_a) * j);
                    split.facets.extend([[a, b, new], [b, c, new], [c, a, new]]);
                }
                // The facet is divided into slivers, at a point close to a corner or an edge.
                1 if random.random() => {
                    let [i, j] = [0; 2].map(|_| [1.0, 8.0][random.random_range(0..2)] / 128.0);
                    split
                        .points
                        .push(at_a + (at_b - at_a) * i + (at_c - at_a) * j);
                    split.facets.extend([[a, b, new], [b, c, new], [c, a, new]]);
                }
                // The facet is divided at the middle of an edge, so that its neighbor has a foreign
                // vertex inside this edge.
                1 => {
                    split.points.push(at_a + (at_b - at_a) * 0.5);
                    split.facets.extend([[a, new, c], [new, b, c]]);
                }
                _ => split.facets.push([a, b, c]),
            }
        }
        split
    }

    /// Returns the same surface as careless tools export it: duplicated facets and vertices, facets
    /// in any order, and flipped facets if both sides collide.
    pub fn dirty(&self, random: &mut StdRng) -> Self {
        let mut dirty = self.clone();
        dirty.heights = None;
        if self.plane {
            dirty.points.clear();
            for (number, point) in self.points.iter().enumerate() {
                dirty.points.push(*point);
                // The line gets a segment of length 0, or a segment back to the last point and
                // another segment to this point.
                match random.random_range(0..6) {
                    0 => dirty.points.push(*point),
                    1 if !self.one_sided && number > 0 => {
                        dirty.points.extend([self.points[number - 1], *point]);
                    }
                    _ => {}
                }
            }
            let count = dirty.points.len() as u32;
            dirty.facets = (1..count).map(|it| [it - 1, it, it]).collect();
            return dirty;
        }
        if random.random() {
            // Each facet has its own vertices.
            dirty.points.clear();
            for facet in &mut dirty.facets {
                for number in facet {
                    dirty.points.push(self.points[*number as usize]);
                    *number = dirty.points.len() as u32 - 1;
                }
            }
        }
        for number in 0..dirty.facets.len() {
            let [a, b, c] = dirty.facets[number];
            let mut facet = [[a, b, c], [b, c, a], [c, a, b]][random.random_range(0..3)];
            if !self.one_sided && random.random_range(0..4) == 0 {
                facet.swap(0, 1);
            }
            dirty.facets[number] = facet;
            let [a, b, c] = facet;
            match random.random_range(0..10) {
                0 | 1 => dirty.facets.push(facet),
                2 if !self.one_sided => dirty.facets.push([a, c, b]),
                3 => dirty.facets.push([a, b, b]),
                _ => {}
            }
        }
        for number in (1..dirty.facets.len()).rev() {
            dirty.facets.swap(number, random.random_range(0..=number));
        }
        dirty
    }

    /// Returns the same surface with separate vertices for each facet, each off by a rounding
    /// error.
    pub fn jittered(&self, random: &mut StdRng) -> Self {
        let mut jittered = self.clone();
        jittered.heights = None;
        let mut off = |value: f32| match random.random_range(0..3) {
            0 => value.next_up(),
            1 => value.next_down(),
            _ => value,
        };
        if self.plane {
            return jittered;
        }
        jittered.points.clear();
        for facet in &mut jittered.facets {
            for number in facet {
                let point = self.points[*number as usize];
                jittered
                    .points
                    .push(Vec3::from(point.to_array().map(&mut off)));
                *number = jittered.points.len() as u32 - 1;
            }
        }
        jittered
    }

    /// Returns the same surface far from the origin of its own frame or of the world. Shapes near
    /// the surface lie on a coarse grid.
    pub fn shifted(&self, random: &mut StdRng) -> Self {
        let mut shifted = self.clone();
        let z = if self.plane { 0.0 } else { 1.0 };
        let way = Vec3::new(1.0, -0.5, 0.25 * z);
        if random.random() {
            shifted.heights = None;
            // (Farther away, f32 has no digits left for a grid of 1/64.)
            let far = way * [512.0, 8192.0][random.random_range(0..2)];
            shifted.points.iter_mut().for_each(|it| *it += far);
        } else {
            let far = way * [4096.0, 1048576.0][random.random_range(0..2)];
            shifted.place[1].translation += far;
        }
        shifted
    }

    /// Returns the same surface altered in one of these ways: with a margin, dirty, mapped, or far
    /// away.
    pub fn altered(&self, random: &mut StdRng) -> Self {
        let mut altered = self.clone();
        if random.random_range(0..3) == 0 {
            altered.margin = random.random_range(0.01..0.3);
        }
        if random.random_range(0..3) == 0 {
            altered = altered.dirty(random);
        }
        match random.random_range(0..4) {
            0 | 1 => altered.mapped(random),
            2 => altered.shifted(random),
            _ => altered,
        }
    }

    /// Returns the same surface under a random map: rotated, scaled, mirrored, or sheared by a
    /// parent.
    pub fn mapped(&self, random: &mut StdRng) -> Self {
        let mut mapped = self.clone();
        let plane = self.plane;
        let mut turn = || {
            let angle = random.random_range(0.0..TAU);
            let axis = direction(random, false).as_vec3().normalize();
            let axis = if plane { Vec3::Z } else { axis };
            turned(axis, angle)
        };
        let turns = [turn(), turn()];
        let mut scale = || {
            let size = random.random_range(0.4..2.0f32);
            if random.random_range(0..3) == 0 {
                -size
            } else {
                size
            }
        };
        let scales = [0; 2].map(|_| {
            let (x, y, z) = (scale(), scale(), scale());
            // A margin has one radius and is not stretched.
            if self.margin > 0.0 {
                Vec3::new(x, x, if plane { 1.0 } else { x })
            } else if plane {
                Vec3::new(x, y, 1.0)
            } else {
                Vec3::new(x, y, z)
            }
        });
        mapped.place = [0, 1].map(|it| {
            let z = if plane { 0.0 } else { 1.0 };
            let offset = random.random_range(-3.0..3.0);
            Transform {
                translation: Vec3::new(offset, -offset, 0.5 * offset * z),
                rotation: turns[it],
                scale: scales[it],
            }
        });
        if random.random_range(0..2) == 0 {
            mapped.place[0] = Transform::IDENTITY;
        }
        mapped
    }
}

/// Returns a rectangle's corners.
fn block(x: f32, y: f32) -> [(f32, f32); 4] {
    [(x, y), (-x, y), (-x, -y), (x, -y)]
}
