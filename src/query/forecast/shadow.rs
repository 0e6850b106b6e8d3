//! EPA for the shadow S of a set O: see the [parent module](super).
//!
//! The loop grows an unbounded body inside S. Each step evaluates the support function of O along
//! the normal n of the facet nearest to the target v. The clearance of this facet, the height of
//! its plane above v, is a lower bound on the length of the translation:
//!
//! * If h(n) <= 0, n separates the shapes at the start. In this case, h(n) - n·v is an upper bound
//!   on the length of the translation, and the support point becomes a vertex.
//! * If h(n) > 0, the ray from the origin through the support point x leaves the body, and the
//!   direction of this ray becomes a vertex. S has a tangent plane whose normal is near n. This
//!   plane gives an upper bound. To find this plane, n is tilted to a right angle with x, again for
//!   each new support point x. On a polygon, these steps are the steps of gift wrapping. On a round
//!   surface, these steps are the steps of Newton's method for h(n) = 0, because x is the gradient
//!   of h at n.
//!
//! If both shapes are round about the direction of the motion, nearly all axes are equally good,
//! and the body may be full before the bounds meet. In that case, a local search improves the best
//! axis. Two balls have a closed form.

use arrayvec::ArrayVec;

use crate::{
    query::{
        forecast::unbounded::{ShadowVertex, UnboundedBody},
        minkowski::MinkowskiDifference,
    },
    shape::Core,
    space::DVector,
    tolerance::{COPLANAR_DISTANCE, DEPTH_GAP, ROUNDING},
};

/// The maximum number of steps to a tangent plane. Newton's method needs a few steps. If no tangent
/// plane is found, the loop continues with the direction of the support point.
const MAX_TANGENT_STEPS: usize = 16;

/// The maximum number of steps of the loop. At most 256 steps add vertices, and the other steps
/// close facets.
const MAX_SHADOW_STEPS: usize = 1024;

/// The maximum number of steps of the compass search. Each step that finds no better axis halves
/// the angle. If at most 23 steps find a better axis, the last angle is below 1e-6.
const MAX_COMPASS_STEPS: usize = 40;

/// The tangent of the first angle of the compass search. If the maximum of 256 directions is spread
/// over a sphere, the first angle is about half of the angle between neighboring directions.
const FIRST_COMPASS_TANGENT: f64 = 0.1;

/// A point or a direction counts as below a plane if the sine of its angle above the plane is at
/// most this value: 1,000 times [`ROUNDING`].
const LEVEL_SINE: f64 = 1e-12;

/// Returns the shortest translation that moves the end of a motion out of the shadow of O, or zero
/// if the end is outside. O is the Minkowski difference of the pair with its radii, moved by
/// `-shift`. `normal` is a direction that nearly separates the shapes at the start.
pub fn shortest_exit<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    translation: D,
    normal: D,
    shift: D,
) -> D {
    let radius = pair.radius_sum();
    let support = |normal: D| {
        let vertex = pair.vertex(normal);
        let sizes = vertex.first.extent() + vertex.second.extent() + radius;
        let point = vertex.point + normal * radius - shift;
        (point, ROUNDING * sizes)
    };
    let exit = if pair.cores().iter().all(Core::is_point) {
        let center = pair.vertex(normal).point - shift;
        axis_of_ball(center, radius, translation)
            .map(|normal| (normal, (center - translation).dot(normal) + radius))
    } else {
        let mut search = ShadowSearch {
            support,
            translation,
            scale: translation.length(),
            best: None,
        };
        if search.run(normal).is_none() {
            search.compass_search();
        }
        search.best
    };
    exit.map_or(D::ZERO, |(normal, length)| {
        normal * (length + normal.dot(shift)).max(0.0)
    })
}

/// Returns the axis of the shortest translation if O is a ball. If the direction from the ball's
/// center to the end of the motion separates the shapes at the start, this direction is the axis.
/// Otherwise the nearest tangent plane gives the axis.
fn axis_of_ball<D: DVector>(center: D, radius: f64, translation: D) -> Option<D> {
    let separates = |normal: &D| center.dot(*normal) + radius <= 0.0;
    if let Some(normal) = (translation - center).unit().filter(separates) {
        return Some(normal);
    }
    let ray = center.unit()?;
    let sine = (radius / center.length()).min(1.0);
    let across = |vector: D| vector - ray * vector.dot(ray);
    // If the motion is along the ray, the first `across` leaves only rounding error. The resulting
    // unit vector is not perpendicular to the ray, so the second `across` makes it shorter than 1.
    let aside = across(translation).unit().map(across);
    let side = aside
        .filter(|side| side.length() > 0.5)
        .or_else(|| D::perpendicular(&[ray]))?
        .unit()?;
    Some(side * (1.0 - sine * sine).sqrt() - ray * sine)
}

struct ShadowSearch<D, F> {
    /// The function that returns the support point of O along a unit vector, and the rounding error
    /// of the point's height.
    support: F,
    translation: D,
    /// The length of the motion plus the greatest distance of a support point of O from the origin.
    scale: f64,
    /// The axis with the smallest upper bound so far, and this bound.
    best: Option<(D, f64)>,
}

/// A support point of O.
#[derive(Clone, Copy)]
struct Extreme<D> {
    point: D,
    height: f64,
    /// `true` if no point of O is above the plane through the origin with the evaluated normal.
    is_below: bool,
}

impl<D: DVector, F: Fn(D) -> (D, f64)> ShadowSearch<D, F> {
    fn evaluate(&mut self, normal: D) -> Extreme<D> {
        let (point, rounding) = (self.support)(normal);
        let length = point.length();
        self.scale = self.scale.max(self.translation.length() + length);
        let height = point.dot(normal);
        let is_below = height <= (LEVEL_SINE * length).max(rounding);
        if is_below {
            self.keep_if_shorter(normal, height);
        }
        Extreme {
            point,
            height,
            is_below,
        }
    }

    /// Keeps an axis that separates the shapes at the start if its translation is the shortest so
    /// far.
    fn keep_if_shorter(&mut self, normal: D, height: f64) {
        let length = height - normal.dot(self.translation);
        if self.best.is_none_or(|(_, least)| length < least) {
            self.best = Some((normal, length));
        }
    }

    /// Tilts a direction until it separates the shapes at the start. Returns the support point
    /// along this direction.
    fn tilt(&mut self, mut normal: D) -> Option<Extreme<D>> {
        for _ in 0..MAX_TANGENT_STEPS {
            let extreme = self.evaluate(normal);
            if extreme.is_below {
                return Some(extreme);
            }
            let ray = extreme.point.unit()?;
            normal = (normal - ray * normal.dot(ray)).unit()?;
        }
        None
    }

    /// Returns a cone from a point of O. The edges of the cone have the directions from the origin
    /// to points of O. Returns `None` if O lies in a plane (in 2D, on a line) through the origin.
    fn begin(&mut self, point: D) -> Option<UnboundedBody<D>> {
        let mut directions = ArrayVec::<D, 3>::new();
        directions.push(point.unit()?);
        while directions.len() < D::DIMENSION {
            let side = D::perpendicular(&directions)?.unit()?;
            let [over, under] = [side, -side].map(|side| self.evaluate(side));
            let farther = if over.height > under.height {
                over
            } else {
                under
            };
            let direction = farther.point.unit()?;
            if direction.dot(side).abs() <= LEVEL_SINE {
                return None;
            }
            directions.push(direction);
        }
        let tolerances = [COPLANAR_DISTANCE * self.scale, LEVEL_SINE];
        Some(UnboundedBody::new(
            point,
            &directions,
            self.translation,
            self.scale,
            tolerances,
        ))
    }

    /// Runs the loop until the bounds meet. Returns `None` if the loop ends before the bounds meet.
    fn run(&mut self, normal: D) -> Option<()> {
        let start = self.tilt(normal)?;
        let mut body = self.begin(start.point)?;
        for _ in 0..MAX_SHADOW_STEPS {
            let (index, facet) = body.nearest()?;
            let is_least = |length: f64| length - facet.clearance <= DEPTH_GAP * self.scale;
            if self.best.is_some_and(|(_, length)| is_least(length)) {
                return Some(());
            }
            let extreme = self.evaluate(facet.normal);
            let mut vertex = ShadowVertex::Point(extreme.point);
            if !extreme.is_below {
                let direction = ShadowVertex::Direction(extreme.point.unit()?);
                if body.contains(direction) {
                    self.keep_if_shorter(facet.normal, extreme.height);
                } else {
                    self.tilt(facet.normal);
                    vertex = direction;
                }
            }
            if body.contains(vertex) {
                body.close(index);
            } else {
                body.add(vertex, index)?;
            }
        }
        None
    }

    /// Improves the best axis by a compass search, after an early end of the loop. This axis is
    /// near the true minimum, where the length changes only with the square of the angle.
    fn compass_search(&mut self) -> Option<()> {
        let mut angle = FIRST_COMPASS_TANGENT;
        for _ in 0..MAX_COMPASS_STEPS {
            let (normal, length) = self.best?;
            for side in normal.tangents().into_iter().flat_map(|side| [side, -side]) {
                self.tilt((normal + side * angle).unit()?);
            }
            if self.best?.1 >= length {
                angle *= 0.5;
            }
        }
        Some(())
    }
}
