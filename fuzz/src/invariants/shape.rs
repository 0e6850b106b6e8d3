//! Shapes of every kind: the engine's primitives, hulls, and a user's own, lawful or not.

use std::{
    cell::OnceCell,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use bevy::math::{DMat3, DVec3, Vec3};
use headbutt::{Collider, ConvexHull, Rounded, ShapeError, Space, Support};

use super::{Chooser, Dimension, primitive::Primitives};

/// How much a shape keeps of the contract of [`Support`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// All of it.
    #[default]
    Sound,
    /// Some answers are not finite, or are not the farthest point.
    Lawless,
    /// The same, and the same question is not always answered the same way.
    Fickle,
    /// No answer is finite, or the radius is none: it touches nothing.
    Empty,
}

#[derive(Clone, Debug)]
pub enum Shape<V: Dimension> {
    Ball {
        radius: f32,
    },
    Capsule {
        half_length: f32,
        radius: f32,
    },
    Block {
        half_size: V,
    },
    Segment([V; 2]),
    Triangle([V; 3]),
    Hull(Hull<V>),
    Slice(Vec<V>),
    /// One of those that one dimension alone has.
    Primitive(V::Primitives),
    /// A margin around a shape.
    Margin {
        shape: Box<Self>,
        margin: f32,
    },
    /// The image of a shape under a linear map, by its columns: in the plane the third one does not count.
    Mapped {
        shape: Box<Self>,
        columns: [V; 3],
    },
    Custom(Custom<V>),
}

/// Points, of which the hull is made once: of hundreds it takes most of a case's time.
#[derive(Clone)]
pub struct Hull<V: Space> {
    pub points: Vec<V>,
    made: OnceCell<Result<ConvexHull<V>, ShapeError>>,
}

impl<V: Dimension> Hull<V> {
    fn new(points: Vec<V>) -> Self {
        let made = OnceCell::new();
        Self { points, made }
    }

    fn made(&self) -> &Result<ConvexHull<V>, ShapeError> {
        let make = || ConvexHull::new(self.points.iter().copied());
        self.made.get_or_init(make)
    }
}

impl<V: Space> fmt::Debug for Hull<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.points.fmt(formatter)
    }
}

/// The image of a shape by its support function, as the library has it: M maps the shape's point for Mᵀ d.
struct Image<'a, V> {
    shape: Box<dyn Support<Vector = V> + 'a>,
    matrix: DMat3,
}

impl<V: Dimension> Support for Image<'_, V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        let inner = self.matrix.transpose() * V::deepen(direction);
        // Flattened, any of its points may be the farthest.
        let scale = inner.abs().max_element();
        let unit = (inner / scale).try_normalize().unwrap_or(DVec3::X);
        let radius = self.shape.radius();
        let radius = if radius >= 0.0 { radius } else { f64::NAN };
        let point = V::deepen(self.shape.support(V::flatten(unit)));
        V::flatten(self.matrix * (point + unit * radius))
    }
}

/// A user's shapes.
#[derive(Clone, Debug)]
pub enum Custom<V> {
    /// The hull of points, and what is within a radius of it.
    Rounded {
        points: Vec<V>,
        radius: f32,
    },
    Ellipse {
        half_size: V,
    },
    /// Along y; in the plane a box.
    Cylinder {
        radius: f32,
        half_height: f32,
    },
    /// Along y, with its tip up; in the plane a triangle.
    Cone {
        radius: f32,
        half_height: f32,
    },
    /// The same answer to every question.
    Always {
        x: f64,
        radius: f64,
    },
    /// A ball, but NaN for directions whose x is above some part of their length.
    NanBeyond {
        radius: f32,
        part: f32,
    },
    /// The least far of some points.
    Nearest {
        points: Vec<V>,
    },
    /// Something else for each direction.
    Noise {
        size: f32,
    },
    /// Something else for each call.
    Fickle {
        size: f32,
        calls: Arc<AtomicU32>,
    },
}

impl<V: Dimension> Shape<V> {
    /// Some shape of about the size given.
    pub fn choose(chooser: &mut Chooser, size: f32) -> Self {
        match chooser.pick(26) {
            16..=21 => Self::Primitive(V::Primitives::choose(chooser, size)),
            22 | 23 => Self::Margin {
                shape: Box::new(Self::choose_plain(chooser, size)),
                margin: chooser.length(size),
            },
            24.. => Self::Mapped {
                shape: Box::new(Self::choose_plain(chooser, size)),
                columns: [(); 3].map(|()| chooser.vector(1.0)),
            },
            kind => Self::of_kind(kind, chooser, size),
        }
    }

    /// One that is made of no other.
    fn choose_plain(chooser: &mut Chooser, size: f32) -> Self {
        match chooser.pick(24) {
            16.. => Self::Primitive(V::Primitives::choose(chooser, size)),
            kind => Self::of_kind(kind, chooser, size),
        }
    }

    fn of_kind(kind: u8, chooser: &mut Chooser, size: f32) -> Self {
        match kind {
            0 | 1 => Self::Ball {
                radius: chooser.length(size),
            },
            2 | 3 => Self::Capsule {
                half_length: chooser.length(size),
                radius: chooser.length(size),
            },
            4..=6 => Self::Block {
                half_size: chooser.lengths(size),
            },
            7 => Self::Segment([(); 2].map(|()| chooser.vector(size))),
            8 => Self::Triangle([(); 3].map(|()| chooser.vector(size))),
            9..=11 => Self::Hull(Hull::new(points(chooser, size))),
            12 => Self::Slice(points(chooser, size)),
            _ => Self::Custom(Custom::choose(chooser, size)),
        }
    }

    /// The shape as a query takes it.
    pub fn support(&self) -> Box<dyn Support<Vector = V> + '_> {
        match self {
            &Self::Ball { radius } => Box::new(V::ball(radius)),
            &Self::Capsule {
                half_length,
                radius,
            } => Box::new(V::capsule(half_length, radius)),
            &Self::Block { half_size } => Box::new(V::block(half_size)),
            &Self::Segment(vertices) => Box::new(V::segment(vertices)),
            &Self::Triangle(vertices) => Box::new(V::triangle(vertices)),
            Self::Hull(hull) => match hull.made() {
                Ok(made) => Box::new(made),
                Err(_) => Box::new(&hull.points[..]),
            },
            Self::Slice(points) => Box::new(&points[..]),
            Self::Primitive(primitive) => primitive.support(),
            Self::Margin { shape, margin } => Box::new(Rounded::new(shape.support(), *margin)),
            Self::Mapped { shape, columns } => Box::new(Image {
                shape: shape.support(),
                matrix: matrix(columns),
            }),
            Self::Custom(custom) => Box::new(custom),
        }
    }

    /// The shape as a collider, and whether it must be one.
    pub fn collider(&self) -> (Result<Collider, ShapeError>, bool) {
        let lengths = || {
            let numbers = self.numbers();
            numbers
                .iter()
                .all(|length| length.is_finite() && *length >= 0.0)
        };
        match self {
            &Self::Ball { radius } => (Collider::try_new(V::ball(radius)), lengths()),
            &Self::Capsule {
                half_length,
                radius,
            } => (
                Collider::try_new(V::capsule(half_length, radius)),
                lengths(),
            ),
            &Self::Block { half_size } => (Collider::try_new(V::block(half_size)), lengths()),
            &Self::Segment(vertices) => (
                Collider::try_new(V::segment(vertices)),
                all_finite(&vertices),
            ),
            &Self::Triangle(vertices) => (
                Collider::try_new(V::triangle(vertices)),
                all_finite(&vertices),
            ),
            Self::Hull(hull) => (
                hull.made().clone().and_then(Collider::try_new),
                !hull.points.is_empty() && all_finite(&hull.points),
            ),
            Self::Slice(points) => (
                Collider::try_convex_hull(points.iter().copied()),
                !points.is_empty() && all_finite(points),
            ),
            Self::Primitive(primitive) => (primitive.collider(), primitive.facts().is_shape),
            Self::Margin { shape, margin } => {
                let (collider, expected) = shape.collider();
                (
                    collider.and_then(|it| it.try_rounded(*margin)),
                    expected && margin.is_finite() && *margin >= 0.0,
                )
            }
            // It is the entity that maps a collider.
            Self::Mapped { shape, .. } => shape.collider(),
            Self::Custom(custom) => (Ok(Collider::custom(custom.clone())), true),
        }
    }

    /// Whether a margin and what it is around are together beyond f32.
    pub fn overflows(&self) -> bool {
        match self {
            Self::Margin { .. } => {
                let sum: f64 = self.numbers().iter().map(|it| it.abs()).sum();
                sum > f64::from(f32::MAX)
            }
            Self::Mapped { shape, .. } => shape.overflows(),
            _ => false,
        }
    }

    /// What it is made of beside lengths and coordinates.
    pub fn others(&self) -> Vec<f64> {
        match self {
            Self::Primitive(primitive) => primitive.facts().others,
            Self::Margin { shape, .. } | Self::Mapped { shape, .. } => shape.others(),
            _ => vec![],
        }
    }

    /// The numbers that it is made of.
    pub fn numbers(&self) -> Vec<f64> {
        let components = |points: &[V]| -> Vec<f64> {
            let points = points.iter().map(|point| point.deep().to_array());
            points.flatten().collect()
        };
        match self {
            Self::Ball { radius } => vec![f64::from(*radius)],
            Self::Capsule {
                half_length,
                radius,
            } => vec![f64::from(*half_length), f64::from(*radius)],
            Self::Block { half_size } => components(&[*half_size]),
            Self::Segment(vertices) => components(vertices),
            Self::Triangle(vertices) => components(vertices),
            Self::Hull(Hull { points, .. }) | Self::Slice(points) => components(points),
            Self::Primitive(primitive) => primitive.facts().numbers,
            Self::Margin { shape, margin } => {
                let mut numbers = shape.numbers();
                numbers.push(f64::from(*margin));
                numbers
            }
            // The entries of a map are factors, and not of a length: all that it makes of one number counts.
            Self::Mapped { shape, columns } => {
                let own = shape.numbers();
                let factors = matrix(columns).to_cols_array();
                let mapped = own
                    .iter()
                    .flat_map(|number| factors.map(|factor| factor * number));
                mapped.chain(own.iter().copied()).collect()
            }
            Self::Custom(custom) => match custom {
                Custom::Rounded { points, radius } => {
                    let mut numbers = components(points);
                    numbers.push(f64::from(*radius));
                    numbers
                }
                Custom::Ellipse { half_size } => components(&[*half_size]),
                Custom::Cylinder {
                    radius,
                    half_height,
                }
                | Custom::Cone {
                    radius,
                    half_height,
                } => vec![f64::from(*radius), f64::from(*half_height)],
                _ => vec![],
            },
        }
    }

    pub fn law(&self) -> Law {
        match self {
            Self::Ball { radius } => radius_law(f64::from(*radius)),
            Self::Capsule {
                half_length,
                radius,
            } => finite_or_empty(half_length.is_finite()).max(radius_law(f64::from(*radius))),
            Self::Block { half_size } => finite_or_empty(half_size.deep().is_finite()),
            Self::Segment(vertices) => points_law(vertices),
            Self::Triangle(vertices) => points_law(vertices),
            Self::Hull(Hull { points, .. }) | Self::Slice(points) => points_law(points),
            Self::Primitive(primitive) => primitive.facts().law,
            Self::Margin { shape, margin } => shape.law().max(radius_law(f64::from(*margin))),
            Self::Mapped { shape, columns } => {
                let law = shape.law();
                if matrix(columns).is_finite() {
                    law
                } else {
                    law.max(Law::Lawless)
                }
            }
            Self::Custom(custom) => custom.law(),
        }
    }

    /// The radius of a ball around all of it, and how far it reaches from its own origin.
    pub fn extent(&self) -> Extent {
        let centred = |size: DVec3| Extent {
            size: size.length(),
            lever: size.length(),
        };
        match self {
            Self::Ball { radius } => centred(DVec3::X * f64::from(*radius)),
            Self::Capsule {
                half_length,
                radius,
            } => centred(DVec3::X * (f64::from(half_length.abs()) + f64::from(*radius))),
            Self::Block { half_size } => centred(half_size.deep()),
            Self::Segment(vertices) => Extent::of(vertices, 0.0),
            Self::Triangle(vertices) => Extent::of(vertices, 0.0),
            Self::Hull(Hull { points, .. }) | Self::Slice(points) => Extent::of(points, 0.0),
            Self::Primitive(primitive) => primitive.facts().extent,
            Self::Margin { shape, margin } => {
                let Extent { size, lever } = shape.extent();
                let margin = f64::from(margin.abs());
                Extent {
                    size: size + margin,
                    lever: lever + margin,
                }
            }
            Self::Mapped { shape, columns } => {
                let Extent { size, lever } = shape.extent();
                let squares = matrix(columns).to_cols_array().map(|it| it * it);
                let stretch = squares.iter().sum::<f64>().sqrt();
                Extent {
                    size: size * stretch,
                    lever: lever * stretch,
                }
            }
            Self::Custom(custom) => match custom {
                Custom::Rounded { points, radius } => Extent::of(points, f64::from(*radius)),
                Custom::Ellipse { half_size } => {
                    centred(DVec3::X * half_size.deep().abs().max_element())
                }
                Custom::Cylinder {
                    radius,
                    half_height,
                }
                | Custom::Cone {
                    radius,
                    half_height,
                } => centred(DVec3::new((*radius).into(), (*half_height).into(), 0.0)),
                _ => centred(DVec3::ZERO),
            },
        }
    }
}

/// The size of a shape.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    pub size: f64,
    pub lever: f64,
}

impl Extent {
    pub fn of<V: Dimension>(points: &[V], radius: f64) -> Self {
        let points = points.iter().map(|point| point.deep());
        let low = points.clone().reduce(DVec3::min).unwrap_or_default();
        let high = points.clone().reduce(DVec3::max).unwrap_or_default();
        let centre = (low + high) * 0.5;
        let reach = |from: DVec3| {
            let lengths = points.clone().map(|point| point.distance(from));
            radius + lengths.fold(0.0, f64::max)
        };
        Self {
            size: reach(centre),
            lever: reach(DVec3::ZERO),
        }
    }
}

/// The matrix of the columns; what the plane does not have stays as it is.
fn matrix<V: Dimension>(columns: &[V; 3]) -> DMat3 {
    let [x, y, z] = columns.map(V::deep);
    let z = if V::COUNT == 2 { DVec3::Z } else { z };
    DMat3::from_cols(x, y, z)
}

fn all_finite<V: Dimension>(points: &[V]) -> bool {
    points.iter().all(|point| point.deep().is_finite())
}

fn finite_or_empty(finite: bool) -> Law {
    if finite { Law::Sound } else { Law::Empty }
}

pub fn radius_law(radius: f64) -> Law {
    finite_or_empty(radius.is_finite() && radius >= 0.0)
}

pub fn points_law<V: Dimension>(points: &[V]) -> Law {
    if points.is_empty() {
        Law::Empty
    } else if all_finite(points) {
        Law::Sound
    } else {
        Law::Lawless
    }
}

/// Points in general position, on a lattice, flat or nearly so, doubled, around a place outside of them, or many of them
/// on a ball.
pub fn points<V: Dimension>(chooser: &mut Chooser, size: f32) -> Vec<V> {
    if chooser.chance(24) {
        let count = chooser.one_of([12, 30, 30, 60, 100, 500]);
        let seed = u64::from(chooser.word());
        let on_ball = |number: u64| {
            let mut state = seed ^ (number << 32);
            let vector = [(); 3].map(|()| {
                state = mixed(state);
                (state >> 40) as f64 / (1 << 23) as f64 - 1.0
            });
            let in_space = V::deepen(V::flatten(DVec3::from(vector)));
            let unit = in_space.try_normalize().unwrap_or(DVec3::X);
            V::of((unit * f64::from(size)).as_vec3())
        };
        return (0..count).map(on_ball).collect();
    }
    let count = usize::from(chooser.pick(10));
    let lattice = chooser.chance(80);
    let thin = chooser.one_of([1.0, 1.0, 1.0, 1e-3, 1e-6, 0.0]);
    let mut points = Vec::new();
    for _ in 0..count {
        let mut point = chooser.vector::<V>(size).deep().as_vec3();
        if lattice {
            point = (point / (0.5 * size)).round() * (0.5 * size);
        }
        point.y *= thin;
        points.push(point);
    }
    // A turn takes what is flat out of the plane of two axes; a move takes it away from the shape's own origin.
    if chooser.chance(64) {
        let turn = V::matrix(chooser.turn::<V>()).unwrap_or_default();
        for point in &mut points {
            *point = (turn * point.as_dvec3()).as_vec3();
        }
    }
    if chooser.chance(40) {
        let away = chooser.vector::<V>(8.0 * size).deep().as_vec3();
        for point in &mut points {
            *point += away;
        }
    }
    if let (Some(first), true) = (points.first().copied(), chooser.chance(40)) {
        let sum: Vec3 = points.iter().sum();
        points.push(first);
        points.push(sum / points.len() as f32);
    }
    // A query takes a slice of no points, but that is no shape: rarely.
    if points.is_empty() && !chooser.chance(16) {
        points.push(chooser.vector::<V>(size).deep().as_vec3());
    }
    points.into_iter().map(V::of).collect()
}

impl<V: Dimension> Custom<V> {
    fn choose(chooser: &mut Chooser, size: f32) -> Self {
        match chooser.pick(24) {
            0..=4 => Self::Rounded {
                points: points(chooser, size),
                radius: chooser.length(size),
            },
            5..=8 => Self::Ellipse {
                half_size: chooser.lengths(size),
            },
            9..=12 => Self::Cylinder {
                radius: chooser.length(size),
                half_height: chooser.length(size),
            },
            13..=16 => Self::Cone {
                radius: chooser.length(size),
                half_height: chooser.length(size),
            },
            17 => Self::Always {
                x: chooser.one_of([f64::NAN, f64::INFINITY, 1e300, f64::MAX, 1e-300, 0.0]),
                radius: chooser.one_of([0.0, f64::MAX, f64::NAN, -1.0, f64::MIN_POSITIVE]),
            },
            18 | 19 => Self::NanBeyond {
                radius: chooser.length(size),
                part: chooser.fraction(),
            },
            20 => Self::Nearest {
                points: points(chooser, size),
            },
            21 | 22 => Self::Noise {
                size: chooser.length(size),
            },
            _ => Self::Fickle {
                size: chooser.length(size),
                calls: Arc::default(),
            },
        }
    }

    fn law(&self) -> Law {
        match self {
            Self::Rounded { points, radius } => {
                points_law(points).max(radius_law(f64::from(*radius)))
            }
            Self::Ellipse { half_size } => {
                if half_size.deep().is_finite() {
                    Law::Sound
                } else {
                    Law::Lawless
                }
            }
            Self::Cylinder {
                radius,
                half_height,
            }
            | Self::Cone {
                radius,
                half_height,
            } => {
                if radius.is_finite() && half_height.is_finite() && *radius >= 0.0 {
                    Law::Sound
                } else {
                    Law::Lawless
                }
            }
            Self::Always { x, radius } => finite_or_empty(x.is_finite())
                .max(radius_law(*radius))
                .max(Law::Lawless),
            Self::NanBeyond { .. } | Self::Nearest { .. } | Self::Noise { .. } => Law::Lawless,
            Self::Fickle { .. } => Law::Fickle,
        }
    }
}

impl<V: Dimension> Support for Custom<V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        let direction = V::deepen(direction);
        let across = || direction.with_y(0.0).try_normalize().unwrap_or(DVec3::X);
        V::flatten(match self {
            Self::Rounded { points, .. } => return points.support(V::flatten(direction)),
            Self::Ellipse { half_size } => {
                // Of a flat one, all points may be as far.
                let half_size = half_size.deep();
                let unit = direction / direction.abs().max_element();
                half_size * (half_size * unit).try_normalize().unwrap_or_default()
            }
            Self::Cylinder {
                radius,
                half_height,
            } => {
                let height = f64::from(half_height.abs()).copysign(direction.y);
                across() * f64::from(*radius) + DVec3::Y * height
            }
            Self::Cone {
                radius,
                half_height,
            } => {
                let tip = DVec3::Y * f64::from(half_height.abs());
                let rim = across() * f64::from(*radius) - tip;
                if tip.dot(direction) >= rim.dot(direction) {
                    tip
                } else {
                    rim
                }
            }
            Self::Always { x, .. } => DVec3::X * *x,
            Self::NanBeyond { radius, part } => {
                let unit = direction.try_normalize().unwrap_or(DVec3::X);
                if unit.x > f64::from(*part) {
                    DVec3::NAN
                } else {
                    unit * f64::from(*radius)
                }
            }
            Self::Nearest { points } => return points.support(V::flatten(-direction)),
            Self::Noise { size } => {
                let bits = direction.to_array().map(f64::to_bits);
                noise(bits.into_iter().fold(0, |sum, bits| mixed(sum ^ bits))) * f64::from(*size)
            }
            Self::Fickle { size, calls } => {
                let call = calls.fetch_add(1, Ordering::Relaxed);
                noise(u64::from(call)) * f64::from(*size)
            }
        })
    }

    fn radius(&self) -> f64 {
        match self {
            Self::Rounded { radius, .. } => f64::from(*radius),
            Self::Always { radius, .. } => *radius,
            _ => 0.0,
        }
    }
}

/// A step of the generator SplitMix64.
fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A vector of components from -1 to 1.
fn noise(seed: u64) -> DVec3 {
    let component = |number: u64| (mixed(seed ^ number) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    DVec3::new(component(1), component(2), component(3))
}
