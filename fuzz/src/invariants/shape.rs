//! Shapes of all kinds: Bevy's primitives, hulls, and custom shapes. Some custom shapes break the
//! contract of [`Support`] on purpose.

use std::{
    cell::OnceCell,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use bevy::math::{DMat3, DVec3};
use headbutt::{Collider, ConvexHull, Rounded, ShapeError, Space, Support};

use super::{
    dimension::Dimension,
    facts::{Extent, Validity, all_finite, finite_or_empty, points_validity, radius_validity},
    points::{mixed, noise, points},
    primitive::{Primitives, TestSpace},
    source::Chooser,
};

#[derive(Clone, Debug)]
pub enum Shape<V: TestSpace> {
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
    /// A primitive that only this dimension has.
    Primitive(V::Primitives),
    /// A margin around a shape.
    Margin {
        shape: Box<Self>,
        margin: f32,
    },
    /// The image of a shape under the linear map with these columns. In 2D, the third column is
    /// ignored.
    Mapped {
        shape: Box<Self>,
        columns: [V; 3],
    },
    Custom(Custom<V>),
}

/// Points and their hull. The hull is built only once, because building a hull of hundreds of
/// points takes most of the time of a case.
#[derive(Clone)]
pub struct Hull<V: Space> {
    pub points: Vec<V>,
    built: OnceCell<Result<ConvexHull<V>, ShapeError>>,
}

impl<V: Dimension> Hull<V> {
    fn new(points: Vec<V>) -> Self {
        let built = OnceCell::new();
        Self { points, built }
    }

    fn built(&self) -> &Result<ConvexHull<V>, ShapeError> {
        let make = || ConvexHull::new(self.points.iter().copied());
        self.built.get_or_init(make)
    }
}

impl<V: Space> fmt::Debug for Hull<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.points.fmt(formatter)
    }
}

/// The image of a shape under a linear map M. Its support point in direction d is M p, where p is
/// the shape's support point in direction Mᵀ d.
struct Image<'a, V> {
    shape: Box<dyn Support<Vector = V> + 'a>,
    matrix: DMat3,
}

impl<V: Dimension> Support for Image<'_, V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        let inner = self.matrix.transpose() * V::dvec_to_3d(direction);
        // If the map flattens the shape in this direction, any point may be the farthest.
        let scale = inner.abs().max_element();
        let unit = (inner / scale).try_normalize().unwrap_or(DVec3::X);
        let radius = self.shape.radius();
        let radius = if radius >= 0.0 { radius } else { f64::NAN };
        let point = V::dvec_to_3d(self.shape.support(V::dvec_from_3d(unit)));
        V::dvec_from_3d(self.matrix * (point + unit * radius))
    }
}

/// Custom shapes.
#[derive(Clone, Debug)]
pub enum Custom<V> {
    /// The hull of points, with a radius around it.
    Rounded {
        points: Vec<V>,
        radius: f32,
    },
    Ellipse {
        half_size: V,
    },
    /// A cylinder along y, or a box in 2D.
    Cylinder {
        radius: f32,
        half_height: f32,
    },
    /// A cone along y with its tip up, or a triangle in 2D.
    Cone {
        radius: f32,
        half_height: f32,
    },
    /// A shape with the same support point in every direction.
    Always {
        x: f64,
        radius: f64,
    },
    /// A ball whose support function returns NaN in directions whose unit vector has an x above
    /// `part`.
    NanBeyond {
        radius: f32,
        part: f32,
    },
    /// A support function that returns the nearest point instead of the farthest point.
    Nearest {
        points: Vec<V>,
    },
    /// A support function that returns an unrelated point for each direction.
    Noise {
        size: f32,
    },
    /// A support function that returns a different point in each call.
    Nondeterministic {
        size: f32,
        calls: Arc<AtomicU32>,
    },
}

impl<V: TestSpace> Shape<V> {
    /// Chooses a shape of about this size.
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

    /// Chooses a shape that contains no other shape.
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

    /// Returns the shape for a query.
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
            Self::Hull(hull) => match hull.built() {
                Ok(built) => Box::new(built),
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

    /// Returns the result of building a collider, and `true` if building must succeed.
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
                hull.built().clone().and_then(Collider::try_new),
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
            // A collider is mapped by the transform of its entity.
            Self::Mapped { shape, .. } => shape.collider(),
            Self::Custom(custom) => (Ok(Collider::custom(custom.clone())), true),
        }
    }

    /// Returns `true` if the sum of a margin and the shape's size may exceed `f32::MAX`.
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

    /// Returns the angles and counts of the shape.
    pub fn others(&self) -> Vec<f64> {
        match self {
            Self::Primitive(primitive) => primitive.facts().others,
            Self::Margin { shape, .. } | Self::Mapped { shape, .. } => shape.others(),
            _ => vec![],
        }
    }

    /// Returns the lengths and coordinates of the shape.
    pub fn numbers(&self) -> Vec<f64> {
        let components = |points: &[V]| -> Vec<f64> {
            let points = points.iter().map(|point| point.to_dvec3().to_array());
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
            // The entries of a map are no lengths, but their products with the shape's lengths are
            // lengths.
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

    pub fn validity(&self) -> Validity {
        match self {
            Self::Ball { radius } => radius_validity(f64::from(*radius)),
            Self::Capsule {
                half_length,
                radius,
            } => finite_or_empty(half_length.is_finite()).max(radius_validity(f64::from(*radius))),
            Self::Block { half_size } => finite_or_empty(half_size.to_dvec3().is_finite()),
            Self::Segment(vertices) => points_validity(vertices),
            Self::Triangle(vertices) => points_validity(vertices),
            Self::Hull(Hull { points, .. }) | Self::Slice(points) => points_validity(points),
            Self::Primitive(primitive) => primitive.facts().validity,
            Self::Margin { shape, margin } => {
                shape.validity().max(radius_validity(f64::from(*margin)))
            }
            Self::Mapped { shape, columns } => {
                let validity = shape.validity();
                if matrix(columns).is_finite() {
                    validity
                } else {
                    validity.max(Validity::Invalid)
                }
            }
            Self::Custom(custom) => custom.validity(),
        }
    }

    /// Returns an upper bound of the shape's extent.
    pub fn extent(&self) -> Extent {
        let centered = |size: DVec3| Extent {
            size: size.length(),
            origin_radius: size.length(),
        };
        match self {
            Self::Ball { radius } => centered(DVec3::X * f64::from(*radius)),
            Self::Capsule {
                half_length,
                radius,
            } => centered(DVec3::X * (f64::from(half_length.abs()) + f64::from(*radius))),
            Self::Block { half_size } => centered(half_size.to_dvec3()),
            Self::Segment(vertices) => Extent::of(vertices, 0.0),
            Self::Triangle(vertices) => Extent::of(vertices, 0.0),
            Self::Hull(Hull { points, .. }) | Self::Slice(points) => Extent::of(points, 0.0),
            Self::Primitive(primitive) => primitive.facts().extent,
            Self::Margin { shape, margin } => {
                let Extent {
                    size,
                    origin_radius,
                } = shape.extent();
                let margin = f64::from(margin.abs());
                Extent {
                    size: size + margin,
                    origin_radius: origin_radius + margin,
                }
            }
            Self::Mapped { shape, columns } => {
                let Extent {
                    size,
                    origin_radius,
                } = shape.extent();
                let squares = matrix(columns).to_cols_array().map(|it| it * it);
                let stretch = squares.iter().sum::<f64>().sqrt();
                Extent {
                    size: size * stretch,
                    origin_radius: origin_radius * stretch,
                }
            }
            Self::Custom(custom) => match custom {
                Custom::Rounded { points, radius } => Extent::of(points, f64::from(*radius)),
                Custom::Ellipse { half_size } => {
                    centered(DVec3::X * half_size.to_dvec3().abs().max_element())
                }
                Custom::Cylinder {
                    radius,
                    half_height,
                }
                | Custom::Cone {
                    radius,
                    half_height,
                } => centered(DVec3::new((*radius).into(), (*half_height).into(), 0.0)),
                _ => centered(DVec3::ZERO),
            },
        }
    }
}

/// Returns the matrix of the columns. In 2D, the matrix keeps z.
fn matrix<V: Dimension>(columns: &[V; 3]) -> DMat3 {
    let [x, y, z] = columns.map(V::to_dvec3);
    let z = if V::COUNT == 2 { DVec3::Z } else { z };
    DMat3::from_cols(x, y, z)
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
                x: chooser.choice([f64::NAN, f64::INFINITY, 1e300, f64::MAX, 1e-300, 0.0]),
                radius: chooser.choice([0.0, f64::MAX, f64::NAN, -1.0, f64::MIN_POSITIVE]),
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
            _ => Self::Nondeterministic {
                size: chooser.length(size),
                calls: Arc::default(),
            },
        }
    }

    fn validity(&self) -> Validity {
        match self {
            Self::Rounded { points, radius } => {
                points_validity(points).max(radius_validity(f64::from(*radius)))
            }
            Self::Ellipse { half_size } => {
                if half_size.to_dvec3().is_finite() {
                    Validity::Valid
                } else {
                    Validity::Invalid
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
                    Validity::Valid
                } else {
                    Validity::Invalid
                }
            }
            Self::Always { x, radius } => finite_or_empty(x.is_finite())
                .max(radius_validity(*radius))
                .max(Validity::Invalid),
            Self::NanBeyond { .. } | Self::Nearest { .. } | Self::Noise { .. } => Validity::Invalid,
            Self::Nondeterministic { .. } => Validity::Nondeterministic,
        }
    }
}

impl<V: Dimension> Support for Custom<V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        let direction = V::dvec_to_3d(direction);
        let across = || direction.with_y(0.0).try_normalize().unwrap_or(DVec3::X);
        V::dvec_from_3d(match self {
            Self::Rounded { points, .. } => return points.support(V::dvec_from_3d(direction)),
            Self::Ellipse { half_size } => {
                // If the ellipse is flat, all points may be equally far.
                let half_size = half_size.to_dvec3();
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
            Self::Nearest { points } => return points.support(V::dvec_from_3d(-direction)),
            Self::Noise { size } => {
                let bits = direction.to_array().map(f64::to_bits);
                noise(bits.into_iter().fold(0, |sum, bits| mixed(sum ^ bits))) * f64::from(*size)
            }
            Self::Nondeterministic { size, calls } => {
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
