//! Closed forms for chords. A chord is the part of a line inside a convex shape. `Shape::chord` in
//! `shape/convex.rs` calls the function of the shape.
//!
//! A line x = o + t d intersects a convex shape in an interval of t. So the chord of an
//! intersection of shapes is the intersection of their chords. Each shape in this table is an
//! intersection of simpler shapes:
//!
//! | shape | intersection of |
//! |---|---|
//! | box | slabs |
//! | polygon, tetrahedron, diamond | half-spaces |
//! | cylinder, cone, frustum | a slab and a cone |
//! | circular sector and segment | a ball, and a cone or a half-space |
//! | extrusion (`extrusion.rs`) | its base, extended endlessly along z, and a slab |
//!
//! The exception is a capsule: its chord is the hull of the chords of two balls and a cylinder.
//!
//! **Maps.** An affine map does not change t. So a line can be mapped into the frame of a shape
//! without converting t. The mapped d may have any length.
//!
//! **Precision.** For a round shape, the origin of the line is first moved to the point nearest to
//! the shape's origin. If the origin of the line were far from the shape, the discriminant would
//! lose all digits.
//!
//! **Degenerate shapes** of lower dimension than their space, such as a segment in 3D, have no
//! closed form here. For such a shape, `query/ray/general.rs` reports a hit if the line passes
//! within the touching tolerance.

use crate::{
    shape::elements::{
        core::{Core, checked_radius},
        facet::{FacetVertices, edges, facet_normal, has_area},
        facet_line::FacetLine,
        half_space::HalfSpace,
        line::Line,
        polygon_edges::Polygon,
        support_fns::Cap,
    },
    space::{DVector, Space},
};

/// An end of a chord.
#[derive(Clone, Copy, Debug)]
pub struct ChordEnd<D> {
    /// The parameter of the end on the line, which may be infinite.
    pub t: f64,
    /// The outward normal of the shape, of any length.
    pub normal: D,
}

/// The part of a line inside a convex shape.
#[derive(Clone, Copy, Debug)]
pub struct Chord<D> {
    /// The end with the smaller t.
    pub enter: ChordEnd<D>,
    /// The end with the greater t.
    pub exit: ChordEnd<D>,
}

/// The error for a shape whose chord has no closed form.
#[derive(Clone, Copy, Debug)]
pub struct NoClosedForm;

/// The chord of a line in a shape, or `None` if the line misses the shape.
pub type ChordResult<D> = Result<Option<Chord<D>>, NoClosedForm>;

impl<D: DVector> Chord<D> {
    /// Returns the chord between two values of t. `normal` returns the normal at each t.
    fn between(enter: f64, exit: f64, normal: impl Fn(f64) -> D) -> Self {
        let end = |t: f64| ChordEnd {
            t,
            normal: if t.is_finite() { normal(t) } else { D::ZERO },
        };
        Self {
            enter: end(enter),
            exit: end(exit),
        }
    }

    /// Returns the chord that is the whole line.
    pub fn whole() -> Self {
        Self::between(f64::NEG_INFINITY, f64::INFINITY, |_| D::ZERO)
    }

    /// Returns the chord of a shape of zero volume: a single point.
    fn of_flat(line: &Line<D>, t: f64, normal: D) -> Self {
        let outward = normal.toward(line.direction);
        Self {
            enter: ChordEnd {
                t,
                normal: -outward,
            },
            exit: ChordEnd { t, normal: outward },
        }
    }

    /// Returns the intersection of some chords, or `None` if the intersection is empty or a chord
    /// is `None`.
    fn common_of(chords: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let mut chords = chords.into_iter();
        chords.try_fold(Self::whole(), |chord, other| chord.common(other?))
    }

    /// Returns the intersection of two chords, or `None` if the intersection is empty.
    pub fn common(self, other: Self) -> Option<Self> {
        let common = Self {
            enter: later(self.enter, other.enter),
            exit: earlier(self.exit, other.exit),
        };
        (common.enter.t <= common.exit.t).then_some(common)
    }

    /// Returns the chord with mapped normals.
    pub fn map_normals<E>(self, map: impl Fn(D) -> E) -> Chord<E> {
        let end = |end: ChordEnd<D>| ChordEnd {
            t: end.t,
            normal: map(end.normal),
        };
        Chord {
            enter: end(self.enter),
            exit: end(self.exit),
        }
    }
}

/// Returns the end with the lower t, or the first end if both have the same t.
fn earlier<D>(first: ChordEnd<D>, second: ChordEnd<D>) -> ChordEnd<D> {
    if second.t < first.t { second } else { first }
}

/// Returns the end with the greater t, or the first end if both have the same t.
fn later<D>(first: ChordEnd<D>, second: ChordEnd<D>) -> ChordEnd<D> {
    if second.t > first.t { second } else { first }
}

/// Returns the chord of a round shape around the origin. `chord` is called with the same line, but
/// the origin of the line is moved to the point nearest to the center.
fn centered<D: DVector>(
    line: &Line<D>,
    chord: impl FnOnce(&Line<D>) -> Option<Chord<D>>,
) -> Option<Chord<D>> {
    let (shift, line) = line.centered(D::ZERO);
    let mut chord = chord(&line)?;
    chord.enter.t += shift;
    chord.exit.t += shift;
    Some(chord)
}

/// Returns the chord of a core with a radius around it.
pub fn of_core<D: DVector>(core: Core<D>, radius: f64, line: &Line<D>) -> ChordResult<D> {
    let radius = checked_radius(radius);
    match core {
        _ if radius.is_nan() => Ok(None),
        Core::Box { half_extents } if radius == 0.0 => of_box(half_extents, line),
        Core::Box { half_extents } => {
            let mut extents = (0..D::DIMENSION).map(|axis| (axis, half_extents.component(axis)));
            let mut long = extents.clone().filter(|(_, extent)| *extent != 0.0);
            match (long.next(), long.next()) {
                (None, _) => of_ball(radius, line),
                (Some((axis, half_length)), None) => of_capsule(axis, half_length, radius, line),
                // A box with a NaN extent contains no point.
                _ if extents.any(|(_, extent)| extent.is_nan()) => Ok(None),
                _ => Err(NoClosedForm),
            }
        }
        Core::Polygon(polygon) if radius == 0.0 => Ok(of_polygon(polygon, line)),
        Core::HalfSpace(half_space) => Ok(of_half_space(&half_space.raised(radius), line)),
        Core::Polygon(_) | Core::Opaque => Err(NoClosedForm),
    }
}

/// Returns the chord of a half-space, whose normal may have any length.
fn of_half_space<D: DVector>(half_space: &HalfSpace<D>, line: &Line<D>) -> Option<Chord<D>> {
    let HalfSpace { normal, .. } = *half_space;
    let (height, rate) = (half_space.height(line.origin), normal.dot(line.direction));
    let t = -height / rate;
    if rate < 0.0 {
        Some(Chord::between(t, f64::INFINITY, |_| normal))
    } else if rate > 0.0 {
        Some(Chord::between(f64::NEG_INFINITY, t, |_| normal))
    } else {
        (height <= 0.0).then(Chord::whole)
    }
}

/// Returns the chord of an intersection of half-spaces.
fn of_planes<D: DVector>(
    half_spaces: impl IntoIterator<Item = HalfSpace<D>>,
    line: &Line<D>,
) -> Option<Chord<D>> {
    let half_spaces = half_spaces.into_iter();
    Chord::common_of(half_spaces.map(|half_space| of_half_space(&half_space, line)))
}

fn of_polygon<D: DVector>(polygon: Polygon<D>, line: &Line<D>) -> Option<Chord<D>> {
    let half_spaces = polygon.edges().map(|edge| HalfSpace {
        normal: edge.normal,
        offset: edge.normal.dot(edge.start),
    });
    of_planes(half_spaces, line)
}

/// Returns the chord of the slab from -`half` to `half` along an axis.
pub fn of_slab<D: DVector>(axis: usize, half: f64, line: &Line<D>) -> Option<Chord<D>> {
    let (origin, rate) = (line.origin.component(axis), line.direction.component(axis));
    if rate == 0.0 {
        return (origin.abs() <= half).then(Chord::whole);
    }
    let outward = half.copysign(rate);
    let [enter, exit] = [-outward, outward].map(|plane| (plane - origin) / rate);
    let side = D::axis(axis) * 1.0_f64.copysign(rate);
    let end = |t, normal| ChordEnd { t, normal };
    (enter <= exit).then_some(Chord {
        enter: end(enter, -side),
        exit: end(exit, side),
    })
}

pub fn of_box<D: DVector>(half_extents: D, line: &Line<D>) -> ChordResult<D> {
    let axes = (0..D::DIMENSION).map(|axis| (axis, half_extents.component(axis)));
    if axes.clone().any(|(_, half)| half == 0.0) {
        return Err(NoClosedForm);
    }
    Ok(Chord::common_of(
        axes.map(|(axis, half)| of_slab(axis, half, line)),
    ))
}

/// Returns the chord of a ball. Let c be the line's point nearest to the center. Then |c + t d|² =
/// r² gives t² = (r² - c²) / d².
pub fn of_ball<D: DVector>(radius: f64, line: &Line<D>) -> ChordResult<D> {
    if radius == 0.0 {
        return Err(NoClosedForm);
    }
    Ok(centered(line, |line| {
        let squared = radius * radius - line.origin.length_squared();
        let half = (squared / line.direction.length_squared()).sqrt();
        (squared >= 0.0).then(|| Chord::between(-half, half, |t| line.at(t)))
    }))
}

/// Returns the chord of a capsule: the hull of the chords of both balls and of the cylinder between
/// their centers.
pub fn of_capsule<D: DVector>(
    axis: usize,
    half_length: f64,
    radius: f64,
    line: &Line<D>,
) -> ChordResult<D> {
    if radius == 0.0 {
        return Err(NoClosedForm);
    }
    let end = D::axis(axis) * half_length;
    let ball = |center: D| {
        let origin = line.origin - center;
        of_ball(radius, &Line { origin, ..*line })
    };
    let cylinder = of_slab(axis, half_length, line)
        .and_then(|slab| slab.common(of_cone([0.0, 1.0], radius, axis, line)?));
    let pieces = [ball(-end)?, ball(end)?, cylinder].into_iter().flatten();
    let hull = pieces.reduce(|hull, piece| Chord {
        enter: earlier(hull.enter, piece.enter),
        exit: later(hull.exit, piece.exit),
    });
    // The pieces' own normals are not used: because of rounding, the first piece at a seam may be
    // the cylinder's flat end.
    Ok(hull.map(|hull| {
        Chord::between(hull.enter.t, hull.exit.t, |t| {
            let point = line.at(t);
            let along = point.component(axis).clamp(-half_length, half_length);
            point - D::axis(axis) * along
        })
    }))
}

/// Returns the inverse of each length, or an error if a length is 0.
fn inverse_lengths<D: DVector>(lengths: D) -> Result<D, NoClosedForm> {
    let mut components = (0..D::DIMENSION).map(|axis| lengths.component(axis));
    if components.any(|length| length == 0.0) {
        return Err(NoClosedForm);
    }
    let inverse = lengths.components().map(|length| 1.0 / length.abs());
    Ok(D::of(inverse))
}

/// Returns the chord of an ellipsoid: the unit ball, scaled by the half axes. So the line and the
/// normals of the ball are scaled by the inverse half axes.
pub fn of_ellipsoid<D: DVector>(half_size: D, line: &Line<D>) -> ChordResult<D> {
    let inverse = inverse_lengths(half_size)?;
    let unscaled = Line {
        origin: line.origin.scaled(inverse),
        direction: line.direction.scaled(inverse),
    };
    let chord = of_ball(1.0, &unscaled)?;
    Ok(chord.map(|chord| chord.map_normals(|normal| normal.scaled(inverse))))
}

/// Returns the chord of a diamond: the points with Σ |x_i| / h_i <= 1, for half diagonals h.
pub fn of_diamond<D: DVector>(half_diagonals: D, line: &Line<D>) -> ChordResult<D> {
    let inverse = inverse_lengths(half_diagonals)?;
    let half_spaces = (0..1_u8 << D::DIMENSION).map(|signs| HalfSpace {
        normal: inverse.copysign(signs_of(signs)),
        offset: 1.0,
    });
    Ok(of_planes(half_spaces, line))
}

/// Returns the vector whose component i is 1 if bit i is 0, and -1 otherwise.
fn signs_of<D: DVector>(bits: u8) -> D {
    D::of([0, 1, 2].map(|index| if bits >> index & 1 == 0 { 1.0 } else { -1.0 }))
}

/// Returns the chord of one nappe of a cone of revolution. Let ρ be a point's distance from the
/// axis, and y its height along the axis. The nappe is the set of points with `cos` ρ <= `offset` +
/// `sin` y. If `sin` is 0, the cone is a cylinder. If a > 0 (see below), the result may be a chord
/// of the other nappe, where `offset` + `sin` y < 0. The caller removes such a chord with a plane
/// across the axis.
///
/// On the line, the double cone cos² ρ² <= (offset + sin y)² becomes a t² + 2 b t + c <= 0. Let p
/// and q be the components of the line's origin and direction across the axis. Let u be offset +
/// sin y at the line's origin, and v the rate of u. Then:
///
/// * a = cos² q² - v², b = cos² p·q - u v, c = cos² p² - u²
/// * b² - a c = cos² (w² - cos² |p ∧ q|²) with w = u q - v p. In this form, no digits cancel for
///   small q.
fn of_cone<D: DVector>(
    [sin, cos]: [f64; 2],
    offset: f64,
    axis: usize,
    line: &Line<D>,
) -> Option<Chord<D>> {
    centered(line, |line| {
        let split = |vector: D| {
            let along = vector.component(axis);
            (along, vector - D::axis(axis) * along)
        };
        let ((y, p), (rate, q)) = (split(line.origin), split(line.direction));
        let (u, v) = (offset + sin * y, sin * rate);
        let factored = |x: D, y: f64| {
            let x = cos * x.length();
            (x - y.abs()) * (x + y.abs())
        };
        let (a, c) = (factored(q, v), factored(p, u));
        let b = cos * cos * p.dot(q) - u * v;
        let w = (q * u - p * v).length();
        let area = cos * D::dot_areas(p.wedge(q), p.wedge(q)).sqrt();
        let discriminant = (w - area) * (w + area);
        if a == 0.0 && b == 0.0 {
            return (c <= 0.0).then(Chord::whole);
        }
        // A line steeper than the cone (a < 0) always meets both nappes. The discriminant of such a
        // line is negative only because of rounding.
        if a >= 0.0 && discriminant < 0.0 {
            return None;
        }
        let root = cos * discriminant.max(0.0).sqrt();
        let half_sum = -(b + root.copysign(b));
        let other = if half_sum == 0.0 { 0.0 } else { c / half_sum };
        let first = half_sum / a;
        let (low, high) = (first.min(other), first.max(other));
        let (enter, exit) = match a < 0.0 {
            true if v > 0.0 => (high, f64::INFINITY),
            true => (f64::NEG_INFINITY, low),
            false => (low, high),
        };
        (enter <= exit).then(|| {
            Chord::between(enter, exit, |t| {
                let (y, across) = split(line.at(t));
                across * (cos * cos) - D::axis(axis) * (sin * (offset + sin * y))
            })
        })
    })
}

/// Returns the chord of a frustum, a cone or a cylinder. `lengths` contains the half height, the
/// radius at the top and the radius at the bottom.
pub fn of_frustum<D: DVector>(lengths: [f32; 3], line: &Line<D>) -> ChordResult<D> {
    let [half_height, top, bottom] = lengths.map(|length| f64::from(length.abs()));
    let height = 2.0 * half_height;
    if height == 0.0 || top.max(bottom) == 0.0 {
        return Err(NoClosedForm);
    }
    let taper = top - bottom;
    let slant = (height * height + taper * taper).sqrt();
    let (cos, sin) = (height / slant, taper / slant);
    let offset = 0.5 * cos * (top + bottom);
    Ok(of_slab(1, half_height, line).and_then(|slab| {
        let cone = of_cone([sin, cos], offset, 1, line)?;
        cone.common(slab)
    }))
}

/// Returns the chord of a circular segment or sector around y, or of its solid of revolution.
pub fn of_cap<D: DVector>(cap: &Cap, line: &Line<D>) -> ChordResult<D> {
    let (radius, [sin, cos]) = (f64::from(cap.radius.abs()), cap.sine_and_cosine());
    // If the half angle is 0, the cap is only a line segment or a point.
    if sin <= f64::EPSILON {
        return Err(NoClosedForm);
    }
    let ball = of_ball(radius, line)?;
    let above = |height: f64| {
        let half_space = HalfSpace {
            normal: -D::axis(1),
            offset: -height,
        };
        of_half_space(&half_space, line)
    };
    Ok(ball.and_then(|ball| {
        // A semicircular sector is also a circular segment. Because of rounding, its rim can be
        // below the origin (cos < 0).
        if !cap.pointed || cos <= 0.0 {
            return ball.common(above(radius * cos)?);
        }
        let cone = of_cone([sin, cos], 0.0, 1, line)?;
        ball.common(cone)?.common(above(0.0)?)
    }))
}

/// A tetrahedron counts as flat if six times its volume is at most this fraction of the cube of its
/// longest edge.
const FLAT_TETRAHEDRON: f64 = 1e-9;

/// A line counts as parallel to a facet if the sine of the angle between line and facet is at most
/// this value.
const IN_PLANE: f64 = 1e-6;

/// Returns the chord of a segment in 2D or a triangle in 3D: a single point.
pub fn of_facet<V: Space>(vertices: &[V], line: &Line<V::DVec>) -> ChordResult<V::DVec> {
    let vertices: FacetVertices<V::DVec> = vertices.iter().map(|vertex| vertex.to_f64()).collect();
    let normal = facet_normal(&vertices).ok_or(NoClosedForm)?;
    let rate = normal.dot(line.direction);
    let is_along = rate.abs() <= IN_PLANE * normal.length() * line.direction.length();
    if is_along || !has_area::<V>(&vertices) {
        return Err(NoClosedForm);
    }
    let base = vertices.first().ok_or(NoClosedForm)?;
    let (_, near) = line.centered(*base);
    let t = normal.dot(*base - line.origin) / rate;
    let is_crossed = FacetLine::new(&near).crossing(&vertices).is_some();
    Ok((is_crossed && t.is_finite()).then(|| Chord::of_flat(line, t, normal)))
}

/// Returns the chord of a tetrahedron.
pub fn of_tetrahedron<V: Space>(vertices: &[V; 4], line: &Line<V::DVec>) -> ChordResult<V::DVec> {
    let vertices = vertices.map(V::to_f64);
    let edges = edges(&vertices);
    let lengths = edges.iter().map(|edge| edge.length());
    let longest = lengths.fold(0.0, f64::max);
    let volume = V::DVec::determinant(&edges).abs();
    if volume.is_nan() || volume <= FLAT_TETRAHEDRON * longest * longest * longest {
        return Err(NoClosedForm);
    }
    let half_spaces = (0..vertices.len()).filter_map(|apex| {
        let mut vertices = vertices;
        vertices.rotate_left(apex);
        let [apex, face @ ..] = vertices;
        let normal = -facet_normal(&face)?.toward(apex - face[0]);
        let offset = normal.dot(face[0]);
        Some(HalfSpace { normal, offset })
    });
    Ok(of_planes(half_spaces, line))
}
