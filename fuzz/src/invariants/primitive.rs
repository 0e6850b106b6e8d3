//! Bevy's primitives that only one dimension has.

use core::f32::consts::{FRAC_PI_2, PI};

use bevy::{
    math::{DVec3, Vec2, Vec3},
    prelude::{
        Arc2d, Capsule2d, Circle, CircularSector, CircularSegment, Cone, ConicalFrustum,
        ConvexPolygon, Cylinder, Ellipse, Extrusion, RegularPolygon, Rhombus, Tetrahedron,
    },
};
use headbutt::{Collider, ShapeError, Support};

use super::{
    dimension::Dimension,
    facts::{Extent, Facts, Validity, points_validity, radius_validity},
    points::points,
    source::Chooser,
};

/// A dimension, with the primitives that the other dimension lacks.
pub trait TestSpace: Dimension {
    type Primitives: Primitives<Self>;
}

impl TestSpace for Vec2 {
    type Primitives = Primitive2d;
}

impl TestSpace for Vec3 {
    type Primitives = Primitive3d;
}

/// The primitives of a [`TestSpace`].
pub trait Primitives<V>: Clone + core::fmt::Debug {
    fn choose(chooser: &mut Chooser, size: f32) -> Self;
    fn support(&self) -> Box<dyn Support<Vector = V> + '_>;
    fn collider(&self) -> Result<Collider, ShapeError>;
    fn facts(&self) -> Facts;
}

#[derive(Clone, Debug)]
pub enum Primitive2d {
    Ellipse(Vec2),
    Rhombus(Vec2),
    RegularPolygon { radius: f32, sides: u32 },
    Polygon(Vec<Vec2>),
    Sector { radius: f32, half_angle: f32 },
    Segment { radius: f32, half_angle: f32 },
    // The following shapes are only bases of extrusions.
    Circle(f32),
    Capsule { half_length: f32, radius: f32 },
}

#[derive(Clone, Debug)]
pub enum Primitive3d {
    Cylinder { half_height: f32, radius: f32 },
    Cone { half_height: f32, radius: f32 },
    Frustum { half_height: f32, radii: [f32; 2] },
    Tetrahedron([Vec3; 4]),
    Extrusion { base: Primitive2d, half_depth: f32 },
}

/// Evaluates an expression with Bevy's primitive for a [`Primitive2d`].
macro_rules! with_primitive {
    ($flat:expr, $it:ident => $built:expr) => {
        match $flat {
            Primitive2d::Ellipse(half_size) => {
                let $it = Ellipse {
                    half_size: *half_size,
                };
                $built
            }
            Primitive2d::Rhombus(half_diagonals) => {
                let $it = Rhombus {
                    half_diagonals: *half_diagonals,
                };
                $built
            }
            Primitive2d::RegularPolygon { radius, sides } => {
                let $it = RegularPolygon {
                    circumcircle: Circle { radius: *radius },
                    sides: *sides,
                };
                $built
            }
            Primitive2d::Polygon(points) => {
                let $it = ConvexPolygon::new_unchecked(points.iter().copied());
                $built
            }
            Primitive2d::Sector { radius, half_angle } => {
                let $it = CircularSector {
                    arc: arc(*radius, *half_angle),
                };
                $built
            }
            Primitive2d::Segment { radius, half_angle } => {
                let $it = CircularSegment {
                    arc: arc(*radius, *half_angle),
                };
                $built
            }
            Primitive2d::Circle(radius) => {
                let $it = Circle { radius: *radius };
                $built
            }
            Primitive2d::Capsule {
                half_length,
                radius,
            } => {
                let $it = Capsule2d {
                    radius: *radius,
                    half_length: *half_length,
                };
                $built
            }
        }
    };
}

fn arc(radius: f32, half_angle: f32) -> Arc2d {
    Arc2d { radius, half_angle }
}

/// Returns the validity of a shape for which the signs of lengths do not matter.
fn validity_of(numbers: &[f64]) -> Validity {
    if numbers.iter().all(|number| number.is_finite()) {
        Validity::Valid
    } else {
        Validity::Invalid
    }
}

/// Returns the facts of a primitive that is centered on its origin.
fn centered(numbers: Vec<f64>, others: Vec<f64>, size: f64) -> Facts {
    let is_length = |number: &f64| number.is_finite() && *number >= 0.0;
    let validity = validity_of(&numbers).max(validity_of(&others));
    Facts {
        is_shape: numbers.iter().chain(&others).all(is_length),
        numbers,
        others,
        validity,
        extent: Extent {
            size,
            origin_radius: size,
        },
    }
}

impl Primitives<Vec2> for Primitive2d {
    fn choose(chooser: &mut Chooser, size: f32) -> Self {
        let angle = |chooser: &mut Chooser| match chooser.pick(8) {
            0 => FRAC_PI_2,
            1 => chooser.choice([0.0, 1e-7, 1e-3, FRAC_PI_2.next_up(), PI, 3.0, 7.0]),
            _ => chooser.length(PI),
        };
        match chooser.pick(6) {
            0 => Self::Ellipse(chooser.lengths(size)),
            1 => Self::Rhombus(chooser.lengths(size)),
            2 => Self::RegularPolygon {
                radius: chooser.length(size),
                sides: chooser.choice([0, 2, 3, 4, 5, 6, 7, 8, 12, 60, 4097, u32::MAX]),
            },
            3 => Self::Polygon(points(chooser, size)),
            4 => Self::Sector {
                radius: chooser.length(size),
                half_angle: angle(chooser),
            },
            _ => Self::Segment {
                radius: chooser.length(size),
                half_angle: angle(chooser),
            },
        }
    }

    fn support(&self) -> Box<dyn Support<Vector = Vec2> + '_> {
        with_primitive!(self, it => Box::new(it))
    }

    fn collider(&self) -> Result<Collider, ShapeError> {
        with_primitive!(self, it => Collider::try_new(it))
    }

    fn facts(&self) -> Facts {
        match self {
            Self::Ellipse(half) | Self::Rhombus(half) => {
                let half = half.as_dvec2();
                centered(half.to_array().to_vec(), vec![], half.length())
            }
            Self::RegularPolygon { radius, sides } => {
                let radius = f64::from(*radius);
                let facts = centered(vec![radius], vec![f64::from(*sides)], radius.abs());
                Facts {
                    is_shape: facts.is_shape && (3..=4096).contains(sides),
                    // A polygon without vertices has no support point.
                    validity: if *sides == 0 {
                        Validity::Invalid
                    } else {
                        facts.validity
                    },
                    ..facts
                }
            }
            Self::Polygon(points) => Facts {
                numbers: points
                    .iter()
                    .flat_map(|point| point.as_dvec2().to_array())
                    .collect(),
                others: vec![],
                is_shape: !points.is_empty() && points.iter().all(|point| point.is_finite()),
                validity: points_validity(points),
                extent: Extent::of(points, 0.0),
            },
            Self::Sector { radius, half_angle } => {
                let facts = centered(
                    vec![f64::from(*radius)],
                    vec![f64::from(*half_angle)],
                    f64::from(radius.abs()),
                );
                Facts {
                    is_shape: facts.is_shape && (*half_angle <= FRAC_PI_2 || *half_angle >= PI),
                    ..with_arc(facts, *radius, *half_angle)
                }
            }
            Self::Segment { radius, half_angle } => {
                let facts = centered(
                    vec![f64::from(*radius)],
                    vec![f64::from(*half_angle)],
                    f64::from(radius.abs()),
                );
                with_arc(facts, *radius, *half_angle)
            }
            Self::Circle(radius) => {
                let radius = f64::from(*radius);
                Facts {
                    validity: radius_validity(radius),
                    ..centered(vec![radius], vec![], radius.abs())
                }
            }
            Self::Capsule {
                half_length,
                radius,
            } => {
                let [half_length, radius] = [*half_length, *radius].map(f64::from);
                let facts = centered(
                    vec![half_length, radius],
                    vec![],
                    half_length.abs() + radius.abs(),
                );
                Facts {
                    validity: facts.validity.max(radius_validity(radius)),
                    ..facts
                }
            }
        }
    }
}

/// Returns the facts of a circular sector or segment. If the arc is a full circle, the shape is a
/// circle. A circle with a negative radius touches nothing.
fn with_arc(facts: Facts, radius: f32, half_angle: f32) -> Facts {
    let is_circle = half_angle >= PI;
    Facts {
        validity: if is_circle && half_angle.is_finite() {
            radius_validity(radius.into())
        } else {
            facts.validity
        },
        ..facts
    }
}

impl Primitives<Vec3> for Primitive3d {
    fn choose(chooser: &mut Chooser, size: f32) -> Self {
        match chooser.pick(8) {
            0 => Self::Cylinder {
                half_height: chooser.length(size),
                radius: chooser.length(size),
            },
            1 => Self::Cone {
                half_height: chooser.length(size),
                radius: chooser.length(size),
            },
            2 => Self::Frustum {
                half_height: chooser.length(size),
                radii: [chooser.length(size), chooser.length(size)],
            },
            3 | 4 => Self::Tetrahedron([(); 4].map(|()| chooser.vector(size))),
            _ => Self::Extrusion {
                base: match chooser.pick(8) {
                    0 => Primitive2d::Circle(chooser.length(size)),
                    1 => Primitive2d::Capsule {
                        half_length: chooser.length(size),
                        radius: chooser.length(size),
                    },
                    _ => Primitive2d::choose(chooser, size),
                },
                half_depth: chooser.length(size),
            },
        }
    }

    fn support(&self) -> Box<dyn Support<Vector = Vec3> + '_> {
        match *self {
            Self::Cylinder {
                half_height,
                radius,
            } => Box::new(Cylinder {
                radius,
                half_height,
            }),
            Self::Cone {
                half_height,
                radius,
            } => Box::new(cone(half_height, radius)),
            Self::Frustum { half_height, radii } => Box::new(conical_frustum(half_height, radii)),
            Self::Tetrahedron(vertices) => Box::new(Tetrahedron { vertices }),
            Self::Extrusion {
                ref base,
                half_depth,
            } => {
                with_primitive!(base, base_shape => Box::new(Extrusion { base_shape, half_depth }))
            }
        }
    }

    fn collider(&self) -> Result<Collider, ShapeError> {
        match *self {
            Self::Cylinder {
                half_height,
                radius,
            } => Collider::try_new(Cylinder {
                radius,
                half_height,
            }),
            Self::Cone {
                half_height,
                radius,
            } => Collider::try_new(cone(half_height, radius)),
            Self::Frustum { half_height, radii } => {
                Collider::try_new(conical_frustum(half_height, radii))
            }
            Self::Tetrahedron(vertices) => Collider::try_new(Tetrahedron { vertices }),
            Self::Extrusion {
                ref base,
                half_depth,
            } => {
                with_primitive!(base, base_shape => {
                    Collider::try_new(Extrusion { base_shape, half_depth })
                })
            }
        }
    }

    fn facts(&self) -> Facts {
        match self {
            Self::Cylinder {
                half_height,
                radius,
            } => round(&[*half_height, *radius]),
            Self::Cone {
                half_height,
                radius,
            } => round(&[0.5 * (2.0 * half_height), *radius]),
            Self::Frustum { half_height, radii } => {
                round(&[0.5 * (2.0 * half_height), radii[0], radii[1]])
            }
            Self::Tetrahedron(vertices) => Facts {
                numbers: vertices
                    .iter()
                    .flat_map(|point| point.as_dvec3().to_array())
                    .collect(),
                others: vec![],
                is_shape: vertices.iter().all(|point| point.is_finite()),
                validity: points_validity(vertices),
                extent: Extent::of(vertices, 0.0),
            },
            Self::Extrusion { base, half_depth } => {
                let half_depth = f64::from(*half_depth);
                let mut facts = base.facts();
                facts.numbers.push(half_depth);
                Facts {
                    is_shape: facts.is_shape && half_depth.is_finite() && half_depth >= 0.0,
                    validity: facts.validity.max(validity_of(&[half_depth])),
                    extent: Extent {
                        size: facts.extent.size.hypot(half_depth),
                        origin_radius: facts.extent.origin_radius.hypot(half_depth),
                    },
                    ..facts
                }
            }
        }
    }
}

/// Returns Bevy's cone, which stores the full height.
fn cone(half_height: f32, radius: f32) -> Cone {
    let height = 2.0 * half_height;
    Cone { radius, height }
}

fn conical_frustum(half_height: f32, [radius_top, radius_bottom]: [f32; 2]) -> ConicalFrustum {
    ConicalFrustum {
        radius_top,
        radius_bottom,
        height: 2.0 * half_height,
    }
}

fn round(lengths: &[f32]) -> Facts {
    let numbers: Vec<f64> = lengths.iter().copied().map(f64::from).collect();
    let widest = numbers[1..].iter().map(|it| it.abs()).fold(0.0, f64::max);
    let size = DVec3::new(numbers[0], widest, 0.0).length();
    centered(numbers, vec![], size)
}
