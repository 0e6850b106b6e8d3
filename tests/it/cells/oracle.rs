//! A union of cells, or of the parts of a joined compound, in f64. The oracle tests each cell by
//! itself.

use bevy::prelude::*;
use headbutt::{ConvexHull, Dimension, prelude::*};

pub type Point = [f64; 3];

/// A cell, independent of the library's [`Cell`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    pub heights: [u8; 2],
    pub along_z: bool,
    pub hanging: bool,
    /// The number of a shape of the union. The other fields have no meaning then.
    pub shape: Option<u16>,
}

impl Tile {
    pub const FULL: Self = Self {
        heights: [8, 8],
        along_z: false,
        hanging: false,
        shape: None,
    };

    pub fn cell(&self) -> Cell {
        if let Some(number) = self.shape {
            return Cell::shape(number);
        }
        let [first, second] = self.heights;
        let cell = if self.along_z {
            Cell::slope_z(first, second)
        } else {
            Cell::slope(first, second)
        };
        if self.hanging { cell.hanging() } else { cell }
    }
}

/// A convex cell: the half-spaces n · x <= c with unit normals, and the triangles of its boundary.
/// In 2D, the triangles are segments, whose last two corners are equal.
struct Convex {
    half_spaces: Vec<(Point, f64)>,
    facets: Vec<[Point; 3]>,
}

/// A union of cells.
pub struct Union {
    pub dimension: usize,
    pub size: f64,
    pub tiles: Vec<([i32; 3], Tile)>,
    /// The corners of each shape, relative to the center of the cell.
    pub shapes: Vec<Vec<Vec3>>,
    /// `true` if the collider is a joined compound of the tiles, instead of a grid of cells.
    pub is_compound: bool,
    convex: Vec<Convex>,
}

impl Union {
    pub fn new(
        dimension: usize,
        size: f64,
        shapes: &[Vec<Vec3>],
        tiles: Vec<([i32; 3], Tile)>,
    ) -> Self {
        let size = f64::from(size as f32);
        let convex = tiles.iter().map(|(at, tile)| match tile.shape {
            Some(number) => hull(dimension, size, *at, &shapes[usize::from(number)]),
            None => convex(dimension, size, *at, tile),
        });
        Self {
            convex: convex.collect(),
            dimension,
            size,
            tiles,
            shapes: shapes.to_vec(),
            is_compound: false,
        }
    }

    /// Returns the union of other tiles of the same size. A union without shapes has no table.
    pub fn of_tiles(&self, tiles: Vec<([i32; 3], Tile)>) -> Self {
        let mut union = Self::new(self.dimension, self.size, &self.shapes, tiles);
        if !union.has_shapes() {
            union.shapes.clear();
        }
        union
    }

    /// Returns `true` if a tile has one of the shapes.
    pub fn has_shapes(&self) -> bool {
        self.tiles.iter().any(|(_, tile)| tile.shape.is_some())
    }

    /// Returns the collider of the union.
    pub fn collider(&self) -> Collider {
        if self.is_compound {
            let parts = self.tiles.iter().map(|tile| self.part(tile));
            return Collider::compound(parts).joined();
        }
        let cells = self.tiles.iter();
        if self.dimension == 2 {
            let mut grid = empty_grid(Vec2::splat(self.size as f32), &self.shapes, Vec3::truncate);
            grid.extend(cells.map(|([x, y, _], tile)| (IVec2::new(*x, *y), tile.cell())));
            Collider::cells(&grid)
        } else {
            let mut grid = empty_grid(Vec3::splat(self.size as f32), &self.shapes, |it| it);
            grid.extend(cells.map(|(at, tile)| (IVec3::from_array(*at), tile.cell())));
            Collider::cells(&grid)
        }
    }

    /// Returns a tile as a part of a compound.
    fn part(&self, (at, tile): &([i32; 3], Tile)) -> (Transform, Collider) {
        let side = self.size as f32;
        if *tile == Tile::FULL {
            let middle = at.map(|it| (f64::from(it) + 0.5) * self.size);
            let [x, y, z] = self.flat(middle).map(|it| it as f32);
            let shape = if self.dimension == 2 {
                Collider::rectangle(side, side)
            } else {
                Collider::cuboid(side, side, side)
            };
            return (Transform::from_xyz(x, y, z), shape);
        }
        let own = self.of_tiles(vec![(*at, *tile)]).convex;
        let corners = own.iter().flat_map(|it| it.facets.as_flattened().to_vec());
        let corners = corners.map(|it| Vec3::from_array(it.map(|it| it as f32)));
        let shape = if self.dimension == 2 {
            Collider::convex_hull(corners.map(Vec3::truncate))
        } else {
            Collider::convex_hull(corners)
        };
        (Transform::IDENTITY, shape)
    }

    /// Returns the position of the tile that has a part of the collider.
    pub fn tile_of(&self, level: &Collider, part: u32) -> [i32; 3] {
        if self.is_compound {
            let index = level.joined_part(part).unwrap();
            return self.tiles[index as usize].0;
        }
        if self.dimension == 3 {
            return level.cell_3d(part).unwrap().0.to_array();
        }
        let position = level.cell_2d(part).unwrap().0;
        [position.x, position.y, 0]
    }

    /// Sets z to 0 in 2D.
    pub fn flat(&self, [x, y, z]: Point) -> Point {
        [x, y, if self.dimension == 2 { 0.0 } else { z }]
    }

    /// Returns the tile that contains a point, which may be outside by a tolerance.
    pub fn tile_at(&self, point: Point, tolerance: f64) -> Option<usize> {
        self.convex.iter().position(|convex| {
            let mut half_spaces = convex.half_spaces.iter();
            half_spaces.all(|(normal, offset)| dot(*normal, point) <= offset + tolerance)
        })
    }

    /// Returns `Some` if a point is surely inside or surely outside.
    pub fn is_inside(&self, point: Point) -> Option<bool> {
        let margin = 1e-3 * self.size;
        if self.tile_at(point, margin).is_none() {
            return Some(false);
        }
        // The second corners are for narrow gaps between the tiles.
        let corners = [margin, 1e-2 * margin].into_iter().flat_map(|margin| {
            (0..8).map(move |corner| {
                let sign = |axis: usize| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
                add(point, scale(self.flat([0, 1, 2].map(sign)), margin))
            })
        });
        let mut corners = corners;
        corners
            .all(|corner| self.tile_at(corner, 0.0).is_some())
            .then_some(true)
    }

    /// Returns the distance from a point to the union, and the nearest point. The distance is 0
    /// inside.
    pub fn nearest(&self, point: Point) -> (f64, Point) {
        if self.tile_at(point, 0.0).is_some() {
            return (0.0, point);
        }
        let facets = self.convex.iter().flat_map(|convex| &convex.facets);
        let nearest = facets.map(|facet| {
            let on_facet = nearest_on_triangle(point, *facet);
            (length(sub(on_facet, point)), on_facet)
        });
        nearest.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
    }

    /// Returns the first distance at which a ray enters the union, if all cells are grown by
    /// `growth`.
    pub fn ray(&self, origin: Point, direction: Point, growth: f64) -> f64 {
        let entries = self.convex.iter().map(|convex| {
            let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
            for (normal, offset) in &convex.half_spaces {
                let (rate, gap) = (
                    dot(*normal, direction),
                    offset + growth - dot(*normal, origin),
                );
                if rate.abs() < 1e-15 {
                    if gap < 0.0 {
                        return f64::INFINITY;
                    }
                } else if rate < 0.0 {
                    enter = enter.max(gap / rate);
                } else {
                    leave = leave.min(gap / rate);
                }
            }
            if enter <= leave { enter } else { f64::INFINITY }
        });
        entries.fold(f64::INFINITY, f64::min)
    }

    /// Returns the first time from 0 to 1 at which a moving ball is less than `radius` away from
    /// the union.
    pub fn ball_enters(&self, center: Point, motion: Point, radius: f64) -> Option<f64> {
        let (mut time, speed) = (0.0, length(motion));
        for _ in 0..100_000 {
            let (distance, _) = self.nearest(add(center, scale(motion, time)));
            if distance < radius {
                return Some(time);
            }
            time += ((distance - radius) / speed).max(1e-7);
            if time > 1.0 {
                return None;
            }
        }
        None
    }

    /// Returns the length of the shortest translation that takes a box, with axes parallel to the
    /// cells, out of the union. All tiles must be full.
    pub fn shortest_box_exit(&self, center: Point, half: f64) -> f64 {
        let grown = |([x, y, z], _): &([i32; 3], Tile)| {
            let low = [x, y, z].map(|at| f64::from(*at) * self.size - half);
            let high = low.map(|at| at + self.size + 2.0 * half);
            [low, high]
        };
        let obstacles: Vec<[Point; 2]> = self.tiles.iter().map(grown).collect();
        let candidates = |axis: usize| {
            if axis >= self.dimension {
                return vec![0.0];
            }
            let ends = obstacles
                .iter()
                .flatten()
                .map(|end| end[axis] - center[axis]);
            let mut all: Vec<f64> = ends.chain([0.0]).collect();
            all.sort_by(f64::total_cmp);
            all.dedup_by(|a, b| (*a - *b).abs() < 1e-9 * self.size);
            all
        };
        let axes = [candidates(0), candidates(1), candidates(2)];
        let slack = 1e-7 * self.size;
        let mut best = f64::INFINITY;
        for x in &axes[0] {
            for y in &axes[1] {
                for z in &axes[2] {
                    let step = [*x, *y, *z];
                    if length(step) >= best {
                        continue;
                    }
                    let at = add(center, step);
                    let is_blocked = |[low, high]: &[Point; 2]| {
                        (0..self.dimension).all(|axis| {
                            at[axis] > low[axis] + slack && at[axis] < high[axis] - slack
                        })
                    };
                    if !obstacles.iter().any(is_blocked) {
                        best = length(step);
                    }
                }
            }
        }
        best
    }
}

/// Returns a grid without cells.
fn empty_grid<V: Dimension>(size: V, shapes: &[Vec<Vec3>], point: fn(Vec3) -> V) -> CellGrid<V> {
    if shapes.is_empty() {
        return CellGrid::new(size);
    }
    let hulls = shapes.iter().map(|corners| {
        let corners = corners.iter().map(|corner| point(*corner));
        ConvexHull::new(corners).expect("corners")
    });
    CellGrid::with_shapes(size, hulls).expect("shapes in the cell")
}

/// Returns a shape in a cell in the frame of the union. Each line (in 3D, plane) through corners
/// that has no corner outside bounds the shape.
fn hull(dimension: usize, size: f64, at: [i32; 3], corners: &[Vec3]) -> Convex {
    let middle = at.map(|at| (f64::from(at) + 0.5) * size);
    let middle = [
        middle[0],
        middle[1],
        if dimension == 2 { 0.0 } else { middle[2] },
    ];
    let place = |corner: &Vec3| add(corner.to_array().map(f64::from), middle);
    let corners: Vec<Point> = corners.iter().map(place).collect();
    let (mut half_spaces, mut facets) = (Vec::new(), Vec::new());
    for (number, a) in corners.iter().enumerate() {
        for (second, b) in corners.iter().enumerate().filter(|it| it.0 != number) {
            let thirds = if dimension == 2 {
                vec![(*b, [0.0, 0.0, 1.0])]
            } else {
                let others = corners.iter().enumerate();
                let others = others.filter(|it| it.0 != number && it.0 != second);
                others.map(|(_, c)| (*c, sub(*c, *a))).collect()
            };
            for (c, across) in thirds {
                let normal = cross(sub(*b, *a), across);
                if length(normal) < 1e-6 * size {
                    continue;
                }
                let normal = scale(normal, 1.0 / length(normal));
                let offset = dot(normal, *a);
                let is_below = |it: &Point| dot(normal, *it) <= offset + 1e-9 * size;
                if corners.iter().all(is_below) {
                    half_spaces.push((normal, offset));
                    facets.push([*a, *b, c]);
                }
            }
        }
    }
    Convex {
        half_spaces,
        facets,
    }
}

/// Returns a cell in the frame of the union.
fn convex(dimension: usize, size: f64, at: [i32; 3], tile: &Tile) -> Convex {
    let [first, second] = tile.heights.map(|height| f64::from(height) / 8.0);
    let place = |local: Point| {
        let point = [0, 1, 2].map(|axis| (f64::from(at[axis]) + local[axis]) * size);
        if dimension == 2 {
            [point[0], point[1], 0.0]
        } else {
            point
        }
    };
    // The corners of the base, and above them the corners of the sloped side.
    let base = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let corner = |[x, z]: [f64; 2], is_slope: bool| {
        let height = first + (second - first) * if tile.along_z { z } else { x };
        let height = if is_slope { height } else { 0.0 };
        place([x, if tile.hanging { 1.0 - height } else { height }, z])
    };
    let up = if tile.hanging { -1.0 } else { 1.0 };
    let rise = first - second;
    let slope = if tile.along_z {
        [0.0, up, rise]
    } else {
        [rise, up, 0.0]
    };
    let slope = scale(slope, 1.0 / length(slope));
    let mut half_spaces = vec![(slope, dot(slope, corner(base[0], true)))];
    for axis in 0..dimension {
        let mut normal = [0.0; 3];
        normal[axis] = 1.0;
        let low = f64::from(at[axis]) * size;
        half_spaces.push((normal, low + size));
        half_spaces.push((scale(normal, -1.0), -low));
    }
    let mut facets = Vec::new();
    if dimension == 2 {
        let [a, b] = [base[0], base[1]];
        let around = [
            corner(a, false),
            corner(b, false),
            corner(b, true),
            corner(a, true),
        ];
        for index in 0..4 {
            let end = around[(index + 1) % 4];
            facets.push([around[index], end, end]);
        }
    } else {
        let mut quads = vec![
            base.map(|it| corner(it, false)),
            base.map(|it| corner(it, true)),
        ];
        for index in 0..4 {
            let (a, b) = (base[index], base[(index + 1) % 4]);
            quads.push([
                corner(a, false),
                corner(b, false),
                corner(b, true),
                corner(a, true),
            ]);
        }
        for [a, b, c, d] in quads {
            facets.extend([[a, b, c], [a, c, d]]);
        }
    }
    Convex {
        half_spaces,
        facets,
    }
}

/// Returns the point of a triangle, which may be flat, nearest to a point.
fn nearest_on_triangle(point: Point, [a, b, c]: [Point; 3]) -> Point {
    let [ab, ac] = [sub(b, a), sub(c, a)];
    let normal = cross(ab, ac);
    let square = dot(normal, normal);
    if square > 1e-18 {
        let foot = sub(point, scale(normal, dot(sub(point, a), normal) / square));
        let is_left =
            |from: Point, to: Point| dot(cross(sub(to, from), sub(foot, from)), normal) >= 0.0;
        if is_left(a, b) && is_left(b, c) && is_left(c, a) {
            return foot;
        }
    }
    let on_edge = |from: Point, to: Point| {
        let edge = sub(to, from);
        let fraction = dot(sub(point, from), edge) / dot(edge, edge).max(1e-300);
        add(from, scale(edge, fraction.clamp(0.0, 1.0)))
    };
    let edges = [on_edge(a, b), on_edge(b, c), on_edge(c, a)];
    let nearer = |a: &Point, b: &Point| length(sub(*a, point)).total_cmp(&length(sub(*b, point)));
    edges.into_iter().min_by(nearer).unwrap()
}

pub fn add(a: Point, b: Point) -> Point {
    [0, 1, 2].map(|axis| a[axis] + b[axis])
}

pub fn sub(a: Point, b: Point) -> Point {
    [0, 1, 2].map(|axis| a[axis] - b[axis])
}

pub fn scale(a: Point, factor: f64) -> Point {
    a.map(|it| it * factor)
}

pub fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: Point, b: Point) -> Point {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
