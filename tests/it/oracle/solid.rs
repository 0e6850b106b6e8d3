//! Lower and upper bounds of the signed distance between bodies, from their support functions.
//!
//! The bounds are for hulls of hundreds of points and for smooth shapes, whose features cannot all
//! be tried. Each result is proved, even if the search is incomplete. Two points prove an upper
//! bound of a distance. A direction in which the difference of the bodies does not reach the origin
//! proves a lower bound. A direction proves an upper bound of a depth, because it separates the
//! bodies. A polytope of points of the difference with the origin inside proves a lower bound,
//! because the difference is convex.

use std::collections::{HashMap, HashSet};

use bevy::math::{DMat3, DVec3};

use super::{Body, Bounds, Convex, SAME_WAY, UNIQUE, rises_around, stands_out, tells_a_way, unit};

/// The least distance of cores that counts as separated, as a fraction of their sizes.
const APART: f64 = 1e-9;

/// The relative gap at which the two bounds have met.
const MET: f64 = 1e-8;

/// The error of a height over a plane in f64, as a fraction of the sizes.
const FLAT: f64 = 1e-12;

/// The maximum number of support points of a polytope. Bodies that are round around a common center
/// would need millions of support points.
const MAX_POINTS: usize = 1500;

/// The number of the most promising directions that are followed downhill if a polytope did not
/// suffice.
const DESCENTS: usize = 24;

/// The maximum number of steps of a descent.
const MAX_TURNS: usize = 200;

/// A core of at most this many points is judged by its features.
const FEW: usize = 10;

/// The core of a body in its own frame.
#[derive(Clone, Debug)]
pub enum Form {
    /// The hull of points.
    Points(Vec<DVec3>),
    /// An ellipsoid with these half axes. In 2D, the third half axis is 0.
    Ellipsoid(DVec3),
    /// A cylinder around y.
    Cylinder { half_height: f64, radius: f64 },
    /// A cone around y, with the apex up.
    Cone { half_height: f64, radius: f64 },
    /// A frustum around y, between two discs of any radius.
    Frustum {
        half_height: f64,
        top: f64,
        bottom: f64,
    },
    /// In 2D, the hull of the part of a disc within an angle of y, with or without the disc's
    /// center.
    Slice {
        radius: f64,
        half_angle: f64,
        center: bool,
    },
    /// A 2D form extruded along z.
    Prism { base: Box<Form>, half_depth: f64 },
    /// All points within a radius of a 2D form (in its plane) or a 3D form.
    Grown { core: Box<Form>, radius: f64 },
}

impl Form {
    fn support(&self, direction: DVec3) -> DVec3 {
        let rim = |radius: f64| {
            let flat = direction.with_y(0.0);
            unit(flat).unwrap_or(DVec3::X) * radius
        };
        let farther = |p: DVec3, q: DVec3| {
            if p.dot(direction) >= q.dot(direction) {
                p
            } else {
                q
            }
        };
        match self {
            Self::Points(points) => {
                let mut best = (f64::NEG_INFINITY, DVec3::NAN);
                for point in points {
                    let height = point.dot(direction);
                    if height > best.0 {
                        best = (height, *point);
                    }
                }
                best.1
            }
            Self::Ellipsoid(half) => *half * unit(*half * direction).unwrap_or(DVec3::ZERO),
            Self::Cylinder {
                half_height,
                radius,
            } => rim(*radius) + DVec3::Y * half_height.copysign(direction.y),
            Self::Cone {
                half_height,
                radius,
            } => {
                let (apex, base) = (
                    DVec3::Y * *half_height,
                    rim(*radius) - DVec3::Y * *half_height,
                );
                farther(apex, base)
            }
            Self::Frustum {
                half_height,
                top,
                bottom,
            } => farther(
                rim(*top) + DVec3::Y * *half_height,
                rim(*bottom) - DVec3::Y * *half_height,
            ),
            Self::Slice {
                radius,
                half_angle,
                center,
            } => {
                // The support point of the arc is the point whose angle is nearest to the angle of
                // the direction.
                let angle = direction.x.atan2(direction.y);
                let (sin, cos) = angle.clamp(-half_angle, *half_angle).sin_cos();
                let on_arc = DVec3::new(sin, cos, 0.0) * *radius;
                if *center {
                    farther(on_arc, DVec3::ZERO)
                } else {
                    on_arc
                }
            }
            Self::Prism { base, half_depth } => {
                let flat = base.support(direction.with_z(0.0));
                flat + DVec3::Z * half_depth.copysign(direction.z)
            }
            Self::Grown { core, radius } => {
                core.support(direction) + unit(direction).unwrap_or(DVec3::ZERO) * *radius
            }
        }
    }

    /// Returns the bounding radius.
    fn size(&self) -> f64 {
        match self {
            Self::Points(points) => {
                let center = points.iter().sum::<DVec3>() / points.len() as f64;
                let distances = points.iter().map(|point| point.distance(center));
                distances.fold(0.0, f64::max)
            }
            Self::Ellipsoid(half) => half.max_element(),
            Self::Cylinder {
                half_height,
                radius,
            }
            | Self::Cone {
                half_height,
                radius,
            } => half_height.hypot(*radius),
            Self::Frustum {
                half_height,
                top,
                bottom,
            } => half_height.hypot(top.max(*bottom)),
            // The bounding circle is around the middle of the chord, or leads through the center
            // and both tips. Its radius is at most the radius of the disc itself.
            Self::Slice {
                radius,
                half_angle,
                center,
            } => {
                let (sin, cos) = half_angle.sin_cos();
                if cos <= 0.0 {
                    *radius
                } else if *center && cos > sin {
                    0.5 * radius / cos
                } else {
                    radius * sin
                }
            }
            Self::Prism { base, half_depth } => base.size().hypot(*half_depth),
            Self::Grown { core, radius } => core.size() + radius,
        }
    }

    /// Returns the greatest distance of a point of the form from its own origin.
    fn reach(&self) -> f64 {
        match self {
            Self::Points(points) => points.iter().map(|p| p.length()).fold(0.0, f64::max),
            Self::Slice { radius, .. } => *radius,
            Self::Prism { base, half_depth } => base.reach().hypot(*half_depth),
            Self::Grown { core, radius } => core.reach() + radius,
            _ => self.size(),
        }
    }
}

/// A body of any form in a pose.
#[derive(Clone, Debug)]
pub struct Solid {
    form: Form,
    pub radius: f64,
    /// A rotation, or any linear map.
    rotation: DMat3,
    translation: DVec3,
    planar: bool,
    size: f64,
    lever: f64,
    /// The same body for the enumeration of features, if it has few features.
    features: Option<Body>,
}

impl Solid {
    /// Returns the form under a map, in a frame with another origin.
    pub fn new(
        form: &Form,
        radius: f64,
        (rotation, translation): (DMat3, DVec3),
        origin: DVec3,
        planar: bool,
    ) -> Self {
        let translation = translation - origin;
        let features = match form {
            Form::Points(points) if points.len() <= FEW => {
                let placed = points.iter().map(|point| rotation * *point + translation);
                Some(Body::new(placed, radius, planar))
            }
            _ => None,
        };
        Self {
            form: form.clone(),
            radius,
            rotation,
            translation,
            planar,
            size: form.size() + radius,
            lever: form.reach(),
            features,
        }
    }

    /// Returns the body with this form and radius under an affine map.
    pub fn mapped(
        form: &Form,
        radius: f64,
        (linear, translation): (DMat3, DVec3),
        origin: DVec3,
        planar: bool,
    ) -> Self {
        // A stretch changes the radius, so the radius becomes part of the form.
        let grown = Form::Grown {
            core: Box::new(form.clone()),
            radius,
        };
        let form = if radius > 0.0 { &grown } else { form };
        let solid = Self::new(form, 0.0, (linear, translation), origin, planar);
        let stretch = linear.to_cols_array().map(|entry| entry * entry);
        Self {
            size: solid.half_length(),
            lever: solid.lever * stretch.iter().sum::<f64>().sqrt(),
            ..solid
        }
    }

    /// Returns half of the greatest distance of two points of the core, or slightly less. The
    /// method finds the two support points along a direction. The line through these points gives
    /// the next direction.
    fn half_length(&self) -> f64 {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let axes = &axes[..if self.planar { 2 } else { 3 }];
        let askew = axes.iter().zip([1.0, 0.7, -0.4]);
        let askew = askew.map(|(axis, part)| *axis * part).sum();
        let from = |mut direction: DVec3| {
            let mut most: f64 = 0.0;
            for _ in 0..8 {
                let way = self.support(direction) - self.support(-direction);
                most = most.max(way.length());
                direction = unit(way).unwrap_or(direction);
            }
            most
        };
        let starts = axes.iter().copied().chain([askew]);
        0.5 * starts.map(from).fold(0.0, f64::max)
    }

    /// Returns a point in the frame of other bodies.
    pub fn point(at: DVec3, planar: bool) -> Self {
        let here = (DMat3::IDENTITY, DVec3::ZERO);
        Self::new(&Form::Points(vec![at]), 0.0, here, DVec3::ZERO, planar)
    }

    /// Returns the body with its features, or `None` if there are too many features.
    pub fn features(&self) -> Option<&Body> {
        self.features.as_ref()
    }

    /// Returns the same body without the enumeration of features.
    pub fn by_support_alone(self) -> Self {
        Self {
            features: None,
            ..self
        }
    }

    /// Returns a support point of the core.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        let inner = self.rotation.transpose() * direction;
        self.rotation * self.form.support(inner) + self.translation
    }

    /// Returns the normals of features that the form is known to have.
    pub fn normals(&self) -> Vec<DVec3> {
        match &self.features {
            Some(body) => body.normals().to_vec(),
            None => [DVec3::Y, DVec3::X]
                .into_iter()
                .filter_map(|normal| unit(self.rotation * normal))
                .collect(),
        }
    }

    pub fn points(&self) -> Vec<DVec3> {
        match &self.form {
            Form::Points(points) => points
                .iter()
                .map(|point| self.rotation * *point + self.translation)
                .collect(),
            _ => [DVec3::Y, DVec3::X, -DVec3::Y]
                .map(|direction| self.support(self.rotation * direction))
                .to_vec(),
        }
    }
}

impl Convex for Solid {
    fn size(&self) -> f64 {
        self.size
    }

    fn lever(&self) -> f64 {
        self.lever
    }

    fn is_planar(&self) -> bool {
        self.planar
    }

    fn moved(&self, offset: DVec3) -> Self {
        Self {
            translation: self.translation + offset,
            features: self.features.as_ref().map(|body| body.moved(offset)),
            ..self.clone()
        }
    }

    fn height(&self, direction: DVec3) -> f64 {
        self.support(direction).dot(direction) + self.radius
    }

    fn gap_to(&self, point: DVec3) -> f64 {
        if let Some(body) = &self.features {
            return body.gap_to(point);
        }
        let difference = Difference::new(|direction| self.support(direction) - point, self.planar);
        // The depth of a point inside does not matter.
        difference.nearest().high - self.radius
    }

    fn bounds(a: &Self, b: &Self) -> Bounds {
        if let (Some(a), Some(b)) = (&a.features, &b.features) {
            return Body::bounds(a, b);
        }
        let reach = a.radius + b.radius;
        let difference = Difference::new(
            |direction| a.support(direction) - b.support(-direction),
            a.planar,
        );
        let apart = difference.nearest();
        let size = a.size + b.size;
        if apart.low > APART * size {
            // The direction is off by at most the square root of twice the relative gap of the
            // bounds.
            let sure = apart.high - apart.low < 1e-9 * apart.high;
            let unique = sure && tells_a_way(apart.low, size, a.lever + b.lever);
            return Bounds {
                low: apart.low - reach,
                high: apart.high - reach,
                normal: unit(-apart.point).filter(|_| unique),
            };
        }
        let way = difference.way_out();
        // If the cores are neither clearly separated nor clearly overlapping, two points give the
        // bound.
        let high = if way.low > 0.0 { -way.low } else { apart.high };
        Bounds {
            low: -way.high - reach,
            high: high - reach,
            normal: way.normal,
        }
    }
}

/// The distance of a convex set from the origin.
struct Nearest {
    /// The nearest point found.
    point: DVec3,
    low: f64,
    high: f64,
}

/// The shortest translation by which a convex set leaves the origin.
#[derive(Debug)]
struct Way {
    low: f64,
    high: f64,
    /// The unit direction, or `None` if the translation in another direction is about as short.
    normal: Option<DVec3>,
}

/// The difference of two convex bodies, given by its support function.
struct Difference<F> {
    support: F,
    planar: bool,
    scale: f64,
}

impl<F: Fn(DVec3) -> DVec3> Difference<F> {
    fn new(support: F, planar: bool) -> Self {
        let mut difference = Self {
            support,
            planar,
            scale: 0.0,
        };
        let points = difference.all_around();
        let extent = |point: &DVec3| point.distance(points[0]);
        difference.scale = points.iter().map(extent).fold(0.0, f64::max);
        difference
    }

    fn height(&self, normal: DVec3) -> f64 {
        (self.support)(normal).dot(normal)
    }

    /// Returns support points in directions all around.
    fn all_around(&self) -> Vec<DVec3> {
        let steps = [0.0, 1.0, -1.0];
        let depths: &[f64] = if self.planar { &[0.0] } else { &steps };
        let mut points = Vec::new();
        for x in steps {
            for y in steps {
                for z in depths {
                    if let Some(direction) = unit(DVec3::new(x, y, *z)) {
                        points.push((self.support)(direction));
                    }
                }
            }
        }
        points
    }

    /// Finds the nearest point by Wolfe, "Finding the nearest point in a polytope" (1976). The
    /// method keeps the hull of a few points and its nearest point x. Each step adds the support
    /// point against x, until this support point is no nearer.
    fn nearest(&self) -> Nearest {
        let first = (self.support)(DVec3::X);
        let mut corners = vec![(first, 1.0)];
        let mut best = Nearest {
            point: first,
            low: f64::NEG_INFINITY,
            high: first.length(),
        };
        for _ in 0..500 {
            let Some(direction) = unit(best.point) else {
                break;
            };
            let corner = (self.support)(-direction);
            best.low = best.low.max(corner.dot(direction));
            // Far from the origin, the rounding of f64 limits the precision.
            let met = 1e-14 * (self.scale + best.high);
            let known = corners.iter().any(|(old, _)| *old == corner);
            if best.high - best.low <= met || best.high <= met || known {
                break;
            }
            corners.push((corner, 0.0));
            let Some(point) = descend(&mut corners) else {
                break;
            };
            if point.length() < best.high {
                best.point = point;
                best.high = point.length();
            }
        }
        if best.point == DVec3::ZERO {
            best.low = best.low.min(0.0);
        }
        best
    }

    /// Returns the shortest translation, for a set that contains the origin or touches it.
    fn way_out(&self) -> Way {
        if self.planar {
            self.way_out_of_polygon()
        } else {
            self.way_out_of_polytope()
        }
    }

    fn way_out_of_polygon(&self) -> Way {
        let mut corners = self.all_around();
        let center = corners.iter().sum::<DVec3>() / corners.len() as f64;
        corners.sort_by(|p, q| {
            let angle = |point: &DVec3| (point.y - center.y).atan2(point.x - center.x);
            angle(p).total_cmp(&angle(q))
        });
        corners.dedup();
        let mut search = Search::new(self.scale);
        search.look(DVec3::X, self.height(DVec3::X));
        let mut done = Vec::new();
        let facets = |corners: &[DVec3]| -> Vec<(DVec3, f64, usize)> {
            let ends = corners.iter().cycle().skip(1);
            let sides = corners.iter().zip(ends).enumerate();
            sides
                .filter_map(|(start, (p, q))| {
                    let normal = unit((*q - *p).cross(DVec3::Z))?;
                    Some((normal, normal.dot(*p), start))
                })
                .collect()
        };
        loop {
            let open = facets(&corners).into_iter();
            let open = open.filter(|(normal, ..)| !done.contains(normal));
            let Some((normal, low, start)) = open.min_by(|p, q| p.1.total_cmp(&q.1)) else {
                break;
            };
            if search.is_over(low) || corners.len() > MAX_POINTS {
                break;
            }
            let corner = (self.support)(normal);
            search.look(normal, corner.dot(normal));
            if search.is_settled(normal, low) || corners.contains(&corner) {
                done.push(normal);
            } else {
                corners.insert(start + 1, corner);
            }
        }
        let facets: Vec<(DVec3, f64)> = facets(&corners)
            .into_iter()
            .map(|(normal, low, _)| (normal, low))
            .collect();
        self.way(&facets, search.best, search.least)
    }

    /// Combines the facets of an inner polytope with the best direction found.
    fn way(&self, facets: &[(DVec3, f64)], best: DVec3, high: f64) -> Way {
        // Without facets, the set has no extent, and leaves the origin at once.
        let low = facets.iter().map(|(_, low)| *low).reduce(f64::min);
        let limit = high + UNIQUE * self.scale;
        let unique = facets.len() > 1
            && stands_out(best, limit, |take| {
                facets.iter().for_each(|(normal, low)| take(*normal, *low));
            })
            && rises_around(best, limit, self.planar, |normal| self.height(normal));
        let slack = 1e-9 * self.scale;
        Way {
            low: low.map_or(0.0, |low| (low - slack).min(high).max(0.0)),
            high: high.max(0.0),
            normal: unique.then_some(best),
        }
    }

    /// Returns the start of a polytope: four points far from each other, or a direction in which
    /// the set is flat.
    fn spread(&self) -> Result<[DVec3; 4], DVec3> {
        let points = self.all_around();
        let farthest = |measure: &dyn Fn(&DVec3) -> f64| {
            let best = points
                .iter()
                .max_by(|p, q| measure(p).total_cmp(&measure(q)));
            *best.expect("there are points")
        };
        let a = points[0];
        let b = farthest(&|point| point.distance(a));
        let Some(along) = unit(b - a) else {
            return Err(DVec3::X);
        };
        let beside = |point: &DVec3| (*point - a).reject_from_normalized(along);
        let c = farthest(&|point| beside(point).length());
        // The sampled directions may have missed a sliver's extent.
        let (across, _) = along.any_orthonormal_pair();
        let c = [c, (self.support)(across), (self.support)(-across)]
            .into_iter()
            .max_by(|p, q| beside(p).length().total_cmp(&beside(q).length()))
            .expect("there are three");
        let Some(across) = unit(beside(&c)).filter(|_| beside(&c).length() > FLAT * self.scale)
        else {
            return Err(across);
        };
        let normal = along.cross(across).normalize();
        let over = |point: &DVec3| normal.dot(*point - a);
        let (up, down) = ((self.support)(normal), (self.support)(-normal));
        let d = if over(&up) >= -over(&down) { up } else { down };
        if over(&d).abs() <= FLAT * self.scale {
            return Err(normal);
        }
        Ok([a, b, c, d])
    }

    /// Grows the hull of support points at the facet closest to the origin.
    fn way_out_of_polytope(&self) -> Way {
        let start = match self.spread() {
            Ok(start) => start,
            // The set is flat and contains the origin, so the translation has length 0.
            Err(normal) => {
                let (up, down) = (self.height(normal), self.height(-normal));
                let high = up.min(down).max(0.0);
                return Way {
                    low: 0.0,
                    high,
                    normal: None,
                };
            }
        };
        let mut hull = Hull::new(start, FLAT * self.scale);
        let mut search = Search::new(self.scale);
        search.look(DVec3::X, self.height(DVec3::X));
        let mut sound = true;
        while let Some(face) = hull.nearest() {
            let (normal, low) = (hull.faces[face].normal, hull.faces[face].low);
            if search.is_over(low) || hull.points.len() > MAX_POINTS {
                break;
            }
            let point = (self.support)(normal);
            search.look(normal, point.dot(normal));
            if search.is_settled(normal, low) || hull.points.contains(&point) {
                hull.faces[face].done = true;
            } else if !hull.add(point) {
                sound = false;
                break;
            }
        }
        let mut facets = hull.facets();
        let low = facets
            .iter()
            .map(|(_, low)| *low)
            .fold(search.least, f64::min);
        sound &= hull.is_convex(1e-10 * self.scale);
        if !sound || search.least - low > 10.0 * MET * self.scale {
            facets.sort_by(|p, q| p.1.total_cmp(&q.1));
            for (normal, _) in facets.iter().take(DESCENTS) {
                let (normal, height) = self.downhill(*normal);
                search.look(normal, height);
            }
        }
        if !sound {
            facets.clear();
        }
        self.way(&facets, search.best, search.least)
    }

    /// Follows a direction downhill to a direction with a locally least support height.
    fn downhill(&self, mut normal: DVec3) -> (DVec3, f64) {
        let mut height = self.height(normal);
        let (mut step, mut turn) = (0.05, 0.0_f64);
        for _ in 0..MAX_TURNS {
            if step < 1e-8 {
                break;
            }
            let (u, v) = normal.any_orthonormal_pair();
            let tries = (0..6).map(|number| {
                let (sin, cos) =
                    (turn + f64::from(number) * core::f64::consts::FRAC_PI_3).sin_cos();
                (normal + (u * cos + v * sin) * step).normalize()
            });
            let lower = tries
                .map(|direction| (direction, self.height(direction)))
                .min_by(|p, q| p.1.total_cmp(&q.1))
                .filter(|(_, lower)| *lower < height - 1e-10 * self.scale);
            match lower {
                Some(lower) => (normal, height) = lower,
                None => step *= 0.5,
            }
            turn += 1.0;
        }
        (normal, height)
    }
}

/// The state of the search for the shortest translation.
struct Search {
    scale: f64,
    least: f64,
    best: DVec3,
    /// All evaluated directions with their support heights.
    tried: Vec<(DVec3, f64)>,
}

impl Search {
    fn new(scale: f64) -> Self {
        Self {
            scale,
            least: f64::INFINITY,
            best: DVec3::X,
            tried: Vec::new(),
        }
    }

    fn look(&mut self, normal: DVec3, height: f64) {
        if height < self.least {
            (self.least, self.best) = (height, normal);
        }
        self.tried.push((normal, height));
    }

    fn is_rival(&self, normal: DVec3) -> bool {
        normal.distance(self.best) >= SAME_WAY
    }

    /// Returns `true` if facets of at least the height `low` have no effect on the result. In this
    /// case, the length is known, and it is known whether the direction is unique.
    fn is_over(&self, low: f64) -> bool {
        let limit = self.least + UNIQUE * self.scale;
        let rivals = || {
            self.tried
                .iter()
                .any(|(normal, height)| *height < limit && self.is_rival(*normal))
        };
        low > limit || (low >= self.least - MET * self.scale && rivals())
    }

    /// Returns `true` if a facet with this normal needs no further refinement.
    fn is_settled(&self, normal: DVec3, low: f64) -> bool {
        let met = self.least - MET * self.scale;
        let last = self
            .tried
            .last()
            .map_or(f64::INFINITY, |(_, height)| *height);
        last - low <= MET * self.scale || (low >= met && !self.is_rival(normal))
    }
}

/// Moves from a point in the hull of at most three corners, and a new corner, to the point of the
/// hull closest to the origin. Keeps the needed corners, with their weights. Returns `None` if the
/// corners are affinely dependent.
fn descend(corners: &mut Vec<(DVec3, f64)>) -> Option<DVec3> {
    loop {
        let target = nearest_in_span(corners)?;
        if target.iter().all(|weight| *weight > 0.0) {
            for (corner, weight) in corners.iter_mut().zip(target) {
                corner.1 = weight;
            }
            break;
        }
        // The step ends where the hull ends.
        let steps = corners.iter().zip(&target);
        let step = steps
            .filter(|(_, weight)| **weight <= 0.0)
            .map(|((_, old), weight)| old / (old - weight))
            .fold(1.0, f64::min);
        for (corner, weight) in corners.iter_mut().zip(target) {
            corner.1 += step * (weight - corner.1);
        }
        let least = corners
            .iter()
            .map(|corner| corner.1)
            .fold(f64::INFINITY, f64::min);
        corners.retain(|corner| corner.1 > least.max(0.0));
    }
    Some(
        corners
            .iter()
            .map(|(corner, weight)| *corner * *weight)
            .sum(),
    )
}

/// Returns the weights of the point closest to the origin in the affine span of some points.
fn nearest_in_span(corners: &[(DVec3, f64)]) -> Option<Vec<f64>> {
    let base = corners[0].0;
    // Gram-Schmidt gives orthogonal axes. Then the coefficients are expressed in terms of the
    // points.
    let mut axes: Vec<DVec3> = Vec::new();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (corner, _) in &corners[1..] {
        let edge = *corner - base;
        let mut rest = edge;
        let mut row = Vec::new();
        for axis in &axes {
            let part = axis.dot(rest);
            rest -= *axis * part;
            row.push(part);
        }
        let length = rest.length();
        if length <= 1e-13 * edge.length() {
            return None;
        }
        row.push(length);
        axes.push(rest / length);
        rows.push(row);
    }
    let mut parts: Vec<f64> = axes.iter().map(|axis| -axis.dot(base)).collect();
    let mut weights = vec![0.0; corners.len()];
    for number in (0..axes.len()).rev() {
        let weight = parts[number] / rows[number][number];
        weights[number + 1] = weight;
        for (part, coefficient) in parts.iter_mut().zip(&rows[number]) {
            *part -= weight * coefficient;
        }
    }
    weights[0] = 1.0 - weights[1..].iter().sum::<f64>();
    Some(weights)
}

struct Face {
    corners: [usize; 3],
    normal: DVec3,
    /// The distance of the face's plane from the origin, or infinity for a face without area.
    low: f64,
    /// `true` if the face is known to lie on the boundary of the set.
    done: bool,
}

/// The hull of points, built incrementally.
struct Hull {
    points: Vec<DVec3>,
    faces: Vec<Face>,
    slack: f64,
}

impl Hull {
    fn new(points: [DVec3; 4], slack: f64) -> Self {
        let [a, b, c, d] = points;
        let mut hull = Self {
            points: points.to_vec(),
            faces: Vec::new(),
            slack,
        };
        let outward = (b - a).cross(c - a).dot(d - a) < 0.0;
        for [p, q, r] in [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]] {
            hull.push(if outward { [p, q, r] } else { [p, r, q] });
        }
        hull
    }

    fn push(&mut self, corners: [usize; 3]) {
        let [a, b, c] = corners.map(|number| self.points[number]);
        let normal = unit((b - a).cross(c - a)).unwrap_or(DVec3::ZERO);
        let low = if normal == DVec3::ZERO {
            f64::INFINITY
        } else {
            normal.dot(a).max(normal.dot(b)).max(normal.dot(c))
        };
        self.faces.push(Face {
            corners,
            normal,
            low,
            done: false,
        });
    }

    fn nearest(&self) -> Option<usize> {
        let open = self.faces.iter().enumerate().filter(|(_, face)| !face.done);
        let nearest = open.min_by(|(_, p), (_, q)| p.low.total_cmp(&q.low));
        nearest.map(|(number, _)| number)
    }

    /// Adds a point. Returns `false` if rounding leaves the visible faces without a simple rim.
    fn add(&mut self, point: DVec3) -> bool {
        let new = self.points.len();
        self.points.push(point);
        let mut sides = HashSet::new();
        let slack = self.slack;
        let mut seen = Vec::new();
        self.faces.retain(|face| {
            let visible = face.normal.dot(point) > face.low + slack;
            if visible {
                seen.push(face.corners);
            }
            !visible
        });
        for [a, b, c] in seen {
            for (start, end) in [(a, b), (b, c), (c, a)] {
                if !sides.remove(&(end, start)) {
                    sides.insert((start, end));
                }
            }
        }
        let rim: HashMap<usize, usize> = sides.iter().copied().collect();
        if rim.len() < sides.len() {
            return false;
        }
        // This loop walks once around the whole rim.
        let Some(first) = rim.keys().min().copied() else {
            return false;
        };
        let mut at = first;
        for step in 1..=rim.len() {
            let Some(next) = rim.get(&at).copied() else {
                return false;
            };
            self.push([at, next, new]);
            at = next;
            if at == first && step < rim.len() {
                return false;
            }
        }
        at == first
    }

    fn facets(&self) -> Vec<(DVec3, f64)> {
        let faces = self.faces.iter().filter(|face| face.low < f64::INFINITY);
        faces.map(|face| (face.normal, face.low)).collect()
    }

    /// Returns `true` if the hull is closed and all points lie below all faces, so that its faces
    /// bound the hull.
    fn is_convex(&self, slack: f64) -> bool {
        let sides: HashMap<(usize, usize), usize> = self
            .faces
            .iter()
            .flat_map(
                |Face {
                     corners: [a, b, c], ..
                 }| [(*a, *b), (*b, *c), (*c, *a)],
            )
            .fold(HashMap::new(), |mut sides, side| {
                *sides.entry(side).or_default() += 1;
                sides
            });
        let closed = sides
            .iter()
            .all(|((a, b), count)| *count == 1 && sides.contains_key(&(*b, *a)));
        let below = |face: &Face| {
            let mut points = self.points.iter();
            face.low == f64::INFINITY
                || points.all(|point| face.normal.dot(*point) <= face.low + slack)
        };
        closed && self.faces.iter().all(below)
    }
}
