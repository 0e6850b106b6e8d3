//! The invariants of queries for any two shapes in any two poses. The fuzz targets and
//! `tests/it/queries/invariants.rs` check these invariants.
//!
//! There is no oracle. The results of the queries must agree with each other, with the bounds that
//! a few support points prove, and with the results for the same pair after a motion.

mod case;
#[path = "../../../tests/support/counted.rs"]
mod counted;
mod dimension;
mod facts;
mod points;
mod primitive;
mod shape;
mod source;

use std::cell::Cell;

use bevy::math::{DMat3, DVec3};
use headbutt::{
    Collider, ShapeError, Support,
    query::{self, Contact, Distance, Manifold},
};

pub use case::Case;
pub use counted::Counted;
pub use facts::Validity;
pub use primitive::TestSpace;
pub use source::Source;

use dimension::{Dimension, Pose, equal_bits, equal_number};
use facts::Extent;
use shape::{Hull, Shape};

/// The tolerance of the length of a normal.
const UNIT: f64 = 5e-7;

/// The rounding error of the difference of two f32 numbers of about 1.
const ROUNDING: f64 = 2.4e-7;

/// The rounding error of a point, as a fraction of its distance from its shape's own origin.
const ORIGIN_ROUNDING: f64 = 5e-12;

/// About ten times the smallest positive f32 number.
const LEAST: f64 = 1e-44;

/// Up to this coordinate, no result exceeds the range of f32.
const LARGEST: f64 = 1e30;

/// The least ratio of a pair's smallest nonzero number to its largest number. At smaller ratios,
/// the precision of f64 is not sufficient.
const SPREAD: f64 = 1e-12;

/// The result of checking a case.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub validity: Validity,
    pub hit: bool,
    /// The maximum number of support evaluations of one shape in one query.
    pub evaluations: usize,
}

/// Checks a case, and panics if an invariant does not hold.
pub fn check<V: TestSpace>(case: &Case<V>) -> Outcome {
    let [a, b] = [&case.a, &case.b].map(check_collider);
    if let (Some(a), Some(b)) = (a, b) {
        check_compound(case, [a, b]);
    }
    check_surface(&case.a);
    check_ground(case);
    let a = Side::new(&case.a, case.pose_a, case.is_iterative);
    let b = Side::new(&case.b, case.pose_b, case.is_iterative);
    let pair = Pair { a: &a, b: &b };
    let validity = a.validity.max(b.validity);
    if validity == Validity::Valid {
        a.counted.is_strict.set(true);
        b.counted.is_strict.set(true);
    }
    let answers = pair.answers();
    match validity {
        Validity::Empty => answers.are_none(),
        Validity::Nondeterministic => {}
        Validity::Invalid => {
            answers.agree_on_hit();
            pair.is_mirrored(&answers);
        }
        Validity::Valid => {
            answers.agree();
            answers.are_sound();
            pair.is_mirrored(&answers);
            if pair.fits() {
                pair.is_bounded(&answers);
                pair.has_true_points(&answers);
                pair.is_solved_by(&answers);
                pair.stays_when_moved(&answers, &case.motion);
            }
        }
    }
    a.begin();
    b.begin();
    Outcome {
        validity,
        hit: answers.intersects,
        evaluations: a.most.get().max(b.most.get()),
    }
}

/// Checks that building a collider fails exactly if the shape is invalid, and that the error
/// describes the fault. Returns the collider of a valid shape.
fn check_collider<V: TestSpace>(shape: &Shape<V>) -> Option<Collider> {
    if shape.overflows() {
        return None;
    }
    let (collider, expected) = shape.collider();
    assert_eq!(collider.is_ok(), expected, "the verdict of try_new");
    match collider {
        Ok(collider) => {
            assert!(
                !collider.is_inert(),
                "a valid shape makes an inert collider"
            );
            Some(collider)
        }
        Err(error) => {
            let mut numbers = shape.numbers();
            let others = shape.others();
            numbers.extend(&others);
            let applies = match error {
                ShapeError::NotFinite(_) => numbers.iter().any(|number| !number.is_finite()),
                ShapeError::Negative(_) => numbers.iter().any(|number| *number < 0.0),
                ShapeError::SideCount => others.iter().any(|sides| !(3.0..=4096.0).contains(sides)),
                ShapeError::Concave(_) => others.iter().any(|angle| (1.5..3.2).contains(angle)),
                ShapeError::NoPoints => shape.validity() == Validity::Empty,
                _ => false,
            };
            assert!(applies, "{error} does not apply");
            None
        }
    }
}

/// Checks that two colliders make a compound exactly if both poses are valid.
fn check_compound<V: TestSpace>(case: &Case<V>, [a, b]: [Collider; 2]) {
    let parts = [(&case.pose_a, a), (&case.pose_b, b)];
    let is_pose = |pose: &Pose<V>| {
        V::matrix(pose.rotation).is_some() && pose.translation.to_dvec3().is_finite()
    };
    let expected = parts.iter().all(|(pose, _)| is_pose(pose));
    let compound = V::compound(parts.map(|(pose, collider)| (V::isometry(pose), collider)));
    match compound {
        Ok(compound) => assert!(
            expected && !compound.is_inert(),
            "of a isometry that is none"
        ),
        // The support function of a custom part may be NaN, and a part may leave the range of f32.
        Err(ShapeError::NotFinite(_) | ShapeError::BeyondF32) => {}
        Err(error) => assert!(
            !expected && error == ShapeError::PoseNotFinite,
            "{error} does not apply"
        ),
    }
}

/// Checks that building a surface of arbitrary points succeeds, or that the error describes the
/// fault.
fn check_surface<V: TestSpace>(shape: &Shape<V>) {
    let (Shape::Hull(Hull { points, .. }) | Shape::Slice(points)) = shape else {
        return;
    };
    let count = points.len() as u32;
    let is_there = V::COUNT == 2 || count % 4 != 2;
    let missing = (!is_there).then_some([0, 1, count]);
    let facets: Vec<[u32; 3]> = (0..count)
        .map(|first| [first, first * 7 + 1, first + 2].map(|number| number % count))
        .chain(missing)
        .collect();
    let is_finite = points.iter().all(|point| point.to_dvec3().is_finite());
    let surface = V::surface(points, &facets);
    match surface {
        Ok(surface) => assert!(is_finite && is_there && !surface.is_inert()),
        Err(error) => assert!(
            match error {
                ShapeError::NotFinite(_) => !is_finite,
                ShapeError::VertexOutOfRange { index, count } =>
                    is_finite && !is_there && index as usize == count && count == points.len(),
                ShapeError::NoFacets(_) => is_finite && is_there,
                _ => false,
            },
            "{error} does not apply"
        ),
    }
}

/// Checks the queries of a half-space and a shape against the support point opposite to the normal.
fn check_ground<V: TestSpace>(case: &Case<V>) {
    let (normal, pose) = &case.ground;
    let Some(ground) = V::ground(*normal) else {
        return;
    };
    let side = Side::new(&case.b, case.pose_b, case.is_iterative);
    let isometry = V::isometry(pose);
    side.begin();
    let intersects = query::intersects(&ground, isometry, &side.counted, side.isometry);
    side.begin();
    let contact = query::contact(&ground, isometry, &side.counted, side.isometry);
    side.begin();
    let distance = query::distance(&ground, isometry, &side.counted, side.isometry);
    if side.validity == Validity::Nondeterministic {
        return;
    }
    assert_eq!(contact.is_some(), intersects, "contact with a half-space");
    side.begin();
    let back = query::contact(&side.counted, side.isometry, &ground, isometry);
    let mirrored = match (&contact, &back) {
        (Some(contact), Some(back)) => {
            equal_bits(contact.normal, opposite(back.normal))
                && equal_number(contact.depth, back.depth)
                && equal_bits(contact.point_a, back.point_b)
        }
        _ => contact.is_none() && back.is_none(),
    };
    assert!(mirrored, "{contact:?} is not mirrored by {back:?}");
    let rotation = V::matrix(pose.rotation).filter(|_| pose.translation.to_dvec3().is_finite());
    let (Some(rotation), Validity::Valid) = (rotation, side.validity) else {
        let is_none = rotation.is_none() || side.validity == Validity::Empty;
        assert!(!(is_none && intersects), "an invalid shape is hit");
        return;
    };
    let between = side.pose.translation.to_dvec3() - pose.translation.to_dvec3();
    let largest = between.abs().max_element().max(side.extent.origin_radius);
    if !(largest < LARGEST && Pair { a: &side, b: &side }.fits()) {
        return;
    }
    side.begin();
    let up = rotation * V::up(&ground);
    let gap = between.dot(up) - side.height(-up);
    // The tolerance is the rounding of a sum of lengths, and of the offset between the poses.
    let Extent {
        size,
        origin_radius,
    } = side.extent;
    let slack = 1.4e-5 * size + ORIGIN_ROUNDING * (origin_radius + between.length()) + LEAST;
    let found = match &contact {
        Some(contact) => {
            let off = contact.normal.to_dvec3().distance(up);
            assert!(off <= UNIT, "{contact:?}, expected the normal {up}");
            -f64::from(contact.depth)
        }
        None => f64::from(distance.distance),
    };
    assert!(
        (found - gap).abs() <= slack + ROUNDING * gap.abs(),
        "{found:e} from a half-space, expected {gap:e}"
    );
}

/// A shape in a pose.
struct Side<'c, V: TestSpace> {
    shape: &'c Shape<V>,
    counted: Counted<Box<dyn Support<Vector = V> + 'c>>,
    /// The maximum number of support evaluations in one query.
    most: Cell<usize>,
    pose: Pose<V>,
    is_iterative: bool,
    isometry: V::Isometry,
    /// The rotation in f64, or the identity if the pose is invalid.
    rotation: DMat3,
    extent: Extent,
    validity: Validity,
}

impl<'c, V: TestSpace> Side<'c, V> {
    fn new(shape: &'c Shape<V>, pose: Pose<V>, is_iterative: bool) -> Self {
        let rotation = V::matrix(pose.rotation).filter(|_| pose.translation.to_dvec3().is_finite());
        Self {
            shape,
            counted: Counted::new(shape.support())
                .bounded()
                .iterative(is_iterative),
            is_iterative,
            most: Cell::new(0),
            pose,
            isometry: V::isometry(&pose),
            rotation: rotation.unwrap_or_default(),
            extent: shape.extent(),
            validity: if rotation.is_some() {
                shape.validity()
            } else {
                Validity::Empty
            },
        }
    }

    /// Returns the same shape in another pose, or `None` if that pose is invalid.
    fn moved(&self, pose: Pose<V>) -> Option<Self> {
        let moved = Self::new(self.shape, pose, self.is_iterative);
        (moved.validity == self.validity).then_some(moved)
    }

    /// Begins a query: resets the count of evaluations.
    fn begin(&self) {
        let count = self.counted.take_evaluations();
        self.most.set(self.most.get().max(count));
    }

    /// Returns the height of the support point in a direction, relative to the translation.
    fn height(&self, direction: DVec3) -> f64 {
        let own = self.rotation.transpose() * direction;
        let point = V::dvec_to_3d(self.counted.support(V::dvec_from_3d(own)));
        own.dot(point) + own.length() * self.counted.radius()
    }

    /// Returns the difference between the heights of a point and of the support point in a
    /// direction.
    fn off_surface(&self, point: V, direction: DVec3) -> f64 {
        let offset = point.to_dvec3() - self.pose.translation.to_dvec3();
        (offset.dot(direction) - self.height(direction)).abs()
    }

    /// Returns the distance from the shape to a point in the world.
    fn distance_to(&self, point: V) -> f64 {
        let origin = [V::default()];
        let isometry = V::isometry(&Pose {
            rotation: V::rotation(DVec3::Z, 0.0),
            translation: point,
        });
        self.begin();
        let distance = query::distance(&self.counted, self.isometry, &origin[..], isometry);
        distance.distance.into()
    }
}

/// The results of all queries for a pair.
#[derive(Debug)]
struct Answers<V: Dimension> {
    intersects: bool,
    contact: Option<Contact<V>>,
    resumed: Option<Contact<V>>,
    manifold: Option<Manifold<V>>,
    distance: Distance<V>,
}

impl<V: Dimension> Answers<V> {
    fn are_none(&self) {
        self.agree_on_hit();
        assert!(!self.intersects, "an invalid shape is hit");
        assert_eq!(
            self.distance.distance,
            f32::INFINITY,
            "distance of an invalid shape"
        );
        for point in [self.distance.point_a, self.distance.point_b] {
            assert!(
                point.to_dvec3().is_nan(),
                "nearest point {point:?} of an invalid shape"
            );
        }
    }

    fn agree_on_hit(&self) {
        let hit = self.intersects;
        assert_eq!(self.contact.is_some(), hit, "contact");
        assert_eq!(self.resumed.is_some(), hit, "test");
        assert_eq!(self.manifold.is_some(), hit, "manifold");
    }

    fn agree(&self) {
        self.agree_on_hit();
        let distance = self.distance.distance;
        assert!(distance >= 0.0, "distance {distance}");
        assert_eq!(distance == 0.0, self.intersects, "distance {distance}");
        if let (Some(contact), Some(resumed)) = (&self.contact, &self.resumed) {
            assert!(same_contact(contact, resumed), "{contact:?}, {resumed:?}");
        }
    }

    /// Asserts that no result is NaN, normals have unit length, depths are not negative, and
    /// manifolds have no more points than allowed.
    fn are_sound(&self) {
        for point in [self.distance.point_a, self.distance.point_b] {
            assert!(!has_nan(point), "{:?}", self.distance);
        }
        if let Some(contact) = &self.contact {
            let off = (contact.normal.to_dvec3().length() - 1.0).abs();
            assert!(off <= UNIT, "not unit: {contact:?}");
            assert!(contact.depth >= 0.0, "{contact:?}");
            for vector in [contact.normal, contact.point_a, contact.point_b] {
                assert!(!has_nan(vector), "{contact:?}");
                assert!(
                    !has_negative_zero(vector),
                    "a zero with a sign: {contact:?}"
                );
            }
        }
        if let (Some(contact), Some(manifold)) = (&self.contact, &self.manifold) {
            let points = manifold.points();
            let most = if V::COUNT == 2 { 2 } else { 4 };
            assert!((1..=most).contains(&points.len()), "{manifold:?}");
            assert!(equal_bits(manifold.normal, contact.normal), "{manifold:?}");
            for point in points {
                assert!(point.depth >= 0.0, "{manifold:?}");
                let nan = has_nan(point.point_a) || has_nan(point.point_b);
                assert!(!nan, "{manifold:?}");
            }
        }
    }

    /// Returns `true` if the other results are the mirror image of these results, bit for bit.
    fn mirrored(&self, other: &Self) -> bool {
        let contact = match (&self.contact, &other.contact) {
            (Some(contact), Some(other)) => {
                let mirrored = Contact {
                    normal: opposite(contact.normal),
                    depth: contact.depth,
                    point_a: contact.point_b,
                    point_b: contact.point_a,
                };
                same_contact(&mirrored, other)
            }
            (contact, other) => contact.is_none() && other.is_none(),
        };
        let manifold = match (&self.manifold, &other.manifold) {
            (Some(manifold), Some(other)) => {
                let (points, others) = (manifold.points(), other.points());
                let mut pairs = points.iter().zip(others);
                equal_bits(opposite(manifold.normal), other.normal)
                    && points.len() == others.len()
                    && pairs.all(|(point, other)| {
                        equal_number(point.depth, other.depth)
                            && equal_bits(point.point_a, other.point_b)
                            && equal_bits(point.point_b, other.point_a)
                    })
            }
            (manifold, other) => manifold.is_none() && other.is_none(),
        };
        let distance = equal_number(self.distance.distance, other.distance.distance)
            && equal_bits(self.distance.point_a, other.distance.point_b)
            && equal_bits(self.distance.point_b, other.distance.point_a);
        self.intersects == other.intersects && contact && manifold && distance
    }

    /// Returns the signed distance: negative if the shapes overlap.
    fn separation(&self) -> f64 {
        match &self.contact {
            Some(contact) => -f64::from(contact.depth),
            None => f64::from(self.distance.distance),
        }
    }
}

/// Two shapes in their poses.
struct Pair<'s, 'c, V: TestSpace> {
    a: &'s Side<'c, V>,
    b: &'s Side<'c, V>,
}

impl<V: TestSpace> Pair<'_, '_, V> {
    fn answers(&self) -> Answers<V> {
        let Self { a, b } = self;
        let begin = || {
            a.begin();
            b.begin();
        };
        let (shape_a, shape_b) = (&a.counted, &b.counted);
        begin();
        let intersects = query::intersects(shape_a, a.isometry, shape_b, b.isometry);
        begin();
        let contact = query::contact(shape_a, a.isometry, shape_b, b.isometry);
        begin();
        let resumed =
            query::touch(shape_a, a.isometry, shape_b, b.isometry).map(query::Touch::contact);
        begin();
        let manifold = query::manifold(shape_a, a.isometry, shape_b, b.isometry);
        begin();
        let distance = query::distance(shape_a, a.isometry, shape_b, b.isometry);
        Answers {
            intersects,
            contact,
            resumed,
            manifold,
            distance,
        }
    }

    /// Returns the signed distance: negative if the shapes overlap.
    fn separation(&self) -> f64 {
        let Self { a, b } = self;
        a.begin();
        b.begin();
        match query::contact(&a.counted, a.isometry, &b.counted, b.isometry) {
            Some(contact) => -f64::from(contact.depth),
            None => {
                a.begin();
                b.begin();
                let distance = query::distance(&a.counted, a.isometry, &b.counted, b.isometry);
                distance.distance.into()
            }
        }
    }

    /// Returns `true` if f32 has the range for all results, and f64 the precision for the shapes.
    fn fits(&self) -> bool {
        let largest_coordinate = |side: &Side<V>| {
            side.extent.origin_radius + side.pose.translation.to_dvec3().abs().max_element()
        };
        let numbers = [self.a, self.b].map(|side| side.shape.numbers());
        let sizes = numbers.iter().flatten().map(|number| number.abs());
        let least = sizes.clone().filter(|size| *size > 0.0).reduce(f64::min);
        let largest = sizes.fold(0.0, f64::max);
        largest_coordinate(self.a).max(largest_coordinate(self.b)) < LARGEST
            && least.is_none_or(|least| least >= SPREAD * largest)
    }

    /// Returns the tolerance of lengths.
    fn tolerance(&self) -> f64 {
        let (a, b) = (self.a.extent, self.b.extent);
        let sizes = 1e-5 * a.size.min(b.size) + 4e-6 * a.size.max(b.size);
        sizes + ORIGIN_ROUNDING * (a.origin_radius + b.origin_radius) + LEAST
    }

    /// Returns the second pose in the frame of the first pose.
    fn relative(&self) -> (DMat3, DVec3) {
        let inverse = self.a.rotation.transpose();
        let between = self.b.pose.translation.to_dvec3() - self.a.pose.translation.to_dvec3();
        (inverse * self.b.rotation, inverse * between)
    }

    /// Returns the overlap of the shapes along a direction: an upper bound of the depth. If the
    /// overlap is negative, its absolute value is a lower bound of the distance.
    fn overlap(&self, direction: DVec3) -> f64 {
        let between = self.b.pose.translation.to_dvec3() - self.a.pose.translation.to_dvec3();
        self.a.height(direction) + self.b.height(-direction) - between.dot(direction)
    }

    /// Asserts that swapping the shapes mirrors the results to the bit.
    fn is_mirrored(&self, answers: &Answers<V>) {
        let swapped = Pair {
            a: self.b,
            b: self.a,
        };
        let back = swapped.answers();
        back.agree_on_hit();
        if answers.mirrored(&back) {
            return;
        }
        let sound = self.a.validity.max(self.b.validity) == Validity::Valid;
        assert!(
            self.has_no_order(),
            "{answers:?} is not mirrored by {back:?}"
        );
        let [of_a, of_b] = [self.a, self.b].map(|side| format!("{:?}", side.shape));
        if of_a == of_b {
            assert_eq!(
                format!("{answers:?}"),
                format!("{back:?}"),
                "two calls with indistinguishable arguments"
            );
        }
        if sound {
            assert_eq!(answers.intersects, back.intersects);
            let off = (answers.separation() - back.separation()).abs();
            assert!(off <= 2.0 * self.tolerance(), "{answers:?}, {back:?}");
        }
    }

    /// Returns `true` if the library cannot order the two shapes. In this case, the poses are equal
    /// bit for bit, and the shapes have equal radii and equal support points in a list of
    /// directions. In addition, either both shapes are points, or neither shape is a point. This
    /// function repeats the library's list of directions.
    fn has_no_order(&self) -> bool {
        let pair = [self.a, self.b];
        let [pose_a, pose_b] = pair.map(|side| format!("{:?}", V::pose(side.isometry)));
        let [is_point_a, is_point_b] = pair.map(|side| side.counted.core().is_point());
        let [radius_a, radius_b] = pair.map(|side| side.counted.radius().to_bits());
        let steps: usize = if V::COUNT == 2 { 7 } else { 3 };
        let directions = (0..steps.pow(V::COUNT as u32)).step_by(2).map(|number| {
            let component = |axis: usize| {
                let step = number / steps.pow(axis as u32) % steps;
                step as f64 - (steps / 2) as f64 + 0.013 * (axis + 1) as f64
            };
            DVec3::from([0, 1, 2].map(component))
        });
        let mut comparisons = directions.map(|direction| {
            let [of_a, of_b] = pair.map(|side| {
                let point = side.counted.support(V::dvec_from_3d(direction));
                V::dvec_to_3d(point).to_array().map(f64::to_bits)
            });
            of_a == of_b
        });
        pose_a == pose_b
            && is_point_a == is_point_b
            && radius_a == radius_b
            && comparisons.all(|is_equal| is_equal)
    }

    /// Asserts that no direction has less overlap than the depth, and that the overlap along the
    /// normal is the depth. Asserts the same for the distance.
    fn is_bounded(&self, answers: &Answers<V>) {
        let separation = answers.separation();
        let slack = self.tolerance() + ROUNDING * separation.max(0.0);
        for direction in DIRECTIONS {
            let direction = V::dvec_to_3d(V::dvec_from_3d(direction.into())).normalize();
            let overlap = self.overlap(direction);
            assert!(
                separation >= -overlap - slack,
                "{separation:e}, but along {direction} the overlap is {overlap:e}: {answers:?}"
            );
        }
        if let Some(contact) = &answers.contact {
            let overlap = self.overlap(contact.normal.to_dvec3());
            assert!(
                (overlap + separation).abs() <= slack,
                "along the normal the overlap is {overlap:e}: {contact:?}"
            );
        } else {
            let Distance {
                point_a, point_b, ..
            } = answers.distance;
            let offset = point_b.to_dvec3() - point_a.to_dvec3();
            // Rounding the points tilts the direction by up to this angle.
            let tilt = (self.tolerance() + rounding_of([point_a, point_b])) / separation;
            let size = self.a.extent.size + self.b.extent.size;
            let overlap = self.overlap(offset.try_normalize().unwrap_or(DVec3::X));
            assert!(
                tilt > 0.1
                    || (overlap + separation).abs()
                        <= slack + 4.0 * tilt * (size + tilt * separation),
                "{separation:e}, but along {offset} the overlap is {overlap:e}: {answers:?}"
            );
        }
    }

    /// Asserts that all points lie on their own shapes, and that pairs of points are as far apart
    /// as the depth or the distance.
    fn has_true_points(&self, answers: &Answers<V>) {
        let tolerance = self.tolerance();
        let Distance {
            distance,
            point_a,
            point_b,
        } = answers.distance;
        let distance = f64::from(distance);
        let slack = tolerance + rounding_of([point_a, point_b]);
        let off = (point_a.to_dvec3().distance(point_b.to_dvec3()) - distance).abs();
        assert!(off <= slack + ROUNDING * distance, "apart: {answers:?}");
        self.contain(point_a, point_b, slack + tolerance, "nearest");

        if let Some(contact) = &answers.contact {
            let Contact {
                normal,
                depth,
                point_a,
                point_b,
            } = *contact;
            let normal = normal.to_dvec3();
            let slack = tolerance + rounding_of([point_a, point_b]);
            let off = point_a.to_dvec3() - point_b.to_dvec3() - normal * f64::from(depth);
            assert!(off.length() <= slack, "off by {off}: {contact:?}");
            let off = [
                self.a.off_surface(point_a, normal),
                self.b.off_surface(point_b, -normal),
            ];
            assert!(
                off.iter().all(|off| *off <= slack),
                "off by {off:?}: {contact:?}"
            );
            self.contain(point_a, point_b, slack + tolerance, "contact");
        }

        if let (Some(contact), Some(manifold)) = (&answers.contact, &answers.manifold) {
            let points = manifold.points();
            let deepest = points.iter().map(|point| point.depth).fold(0.0, f32::max);
            let first = points.first().map_or(f32::NAN, |point| point.depth);
            assert_eq!(first, deepest, "the deepest first: {manifold:?}");
            let off = (f64::from(deepest) - f64::from(contact.depth)).abs();
            assert!(
                off <= tolerance,
                "off by {off:e}: {manifold:?}, {contact:?}"
            );
            for point in points {
                let normal = manifold.normal.to_dvec3();
                let slack = tolerance + rounding_of([point.point_a, point.point_b]);
                let translation = normal * f64::from(point.depth);
                let off = point.point_a.to_dvec3() - point.point_b.to_dvec3() - translation;
                assert!(off.length() <= slack, "off by {off}: {manifold:?}");
                self.contain(point.point_a, point.point_b, slack + tolerance, "manifold");
            }
        }
    }

    /// Asserts that each point is in its own shape, by its distance and by support points.
    fn contain(&self, point_a: V, point_b: V, slack: f64, which: &str) {
        for (body, point) in [(&self.a, point_a), (&self.b, point_b)] {
            let offset = point.to_dvec3() - body.pose.translation.to_dvec3();
            for direction in DIRECTIONS {
                let direction = V::dvec_to_3d(V::dvec_from_3d(direction.into())).normalize();
                let beyond = offset.dot(direction) - body.height(direction);
                assert!(
                    beyond <= slack,
                    "{which}: {point:?} is {beyond:e} beyond {direction}"
                );
            }
        }
        let distances = [self.a.distance_to(point_a), self.b.distance_to(point_b)];
        assert!(
            distances.iter().all(|distance| *distance <= slack),
            "{which}: {point_a:?} and {point_b:?} are {distances:?} outside, allowed {slack:e}"
        );
    }

    /// Asserts that the shapes just touch after the second shape has moved by the normal times the
    /// depth.
    fn is_solved_by(&self, answers: &Answers<V>) {
        let Some(contact) = &answers.contact else {
            return;
        };
        let pose = self.b.pose;
        let exact = contact.normal.to_dvec3() * f64::from(contact.depth);
        let translation = V::from_vec3((pose.translation.to_dvec3() + exact).as_vec3());
        let Some(b) = self.b.moved(Pose {
            translation,
            ..pose
        }) else {
            return;
        };
        let left = Pair { a: self.a, b: &b }.separation();
        let rounded = (translation.to_dvec3() - pose.translation.to_dvec3()).distance(exact);
        assert!(
            left.abs() <= 2.0 * self.tolerance() + rounded,
            "{left:e} is left after moving by {contact:?}"
        );
    }

    /// Asserts that a motion of both shapes changes the results by no more than the rounding of
    /// poses.
    fn stays_when_moved(&self, answers: &Answers<V>, motion: &Pose<V>) {
        let Some(rotation) = V::matrix(motion.rotation) else {
            return;
        };
        let carried = |pose: &Pose<V>| Pose {
            rotation: V::compose(motion.rotation, pose.rotation),
            translation: V::from_vec3(
                (rotation * pose.translation.to_dvec3() + motion.translation.to_dvec3()).as_vec3(),
            ),
        };
        let (Some(a), Some(b)) = (
            self.a.moved(carried(&self.a.pose)),
            self.b.moved(carried(&self.b.pose)),
        ) else {
            return;
        };
        let moved = Pair { a: &a, b: &b };
        let (rotation, between) = self.relative();
        let (rotation_moved, between_moved) = moved.relative();
        let rotated: f64 = (rotation - rotation_moved)
            .to_cols_array()
            .map(f64::abs)
            .iter()
            .sum();
        let rounded = between.distance(between_moved) + rotated * self.b.extent.origin_radius;
        let (before, after) = (answers.separation(), moved.separation());
        let slack = 2.0 * self.tolerance() + rounded + ROUNDING * before.max(after).max(0.0);
        assert!(
            (before - after).abs() <= slack,
            "{before:e}, and moved {after:e}; allowed {slack:e}"
        );
    }
}

/// Directions in which bounds are tested. In 2D, z is dropped.
const DIRECTIONS: [[f64; 3]; 12] = [
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [1e-9, 0.0, 1.0],
    [1e-9, 0.0, -1.0],
    [0.3, 0.7, 0.5],
    [-0.6, -0.2, 0.4],
    [0.8, -0.3, -0.7],
    [-0.5, 0.9, -0.1],
    [-0.7, 0.6, 0.8],
    [0.1, -0.8, -0.2],
];

/// Returns the error of the offset between two points that are rounded to f32 in the world.
fn rounding_of<V: Dimension>(points: [V; 2]) -> f64 {
    let lengths = points.map(|point| point.to_dvec3().length());
    ROUNDING * lengths[0].max(lengths[1]) + LEAST
}

fn has_nan<V: Dimension>(vector: V) -> bool {
    vector.to_dvec3().is_nan()
}

fn has_negative_zero<V: Dimension>(vector: V) -> bool {
    let components = vector.to_dvec3().to_array();
    components
        .iter()
        .any(|component| *component == 0.0 && component.is_sign_negative())
}

fn same_contact<V: Dimension>(left: &Contact<V>, right: &Contact<V>) -> bool {
    equal_bits(left.normal, right.normal)
        && equal_number(left.depth, right.depth)
        && equal_bits(left.point_a, right.point_a)
        && equal_bits(left.point_b, right.point_b)
}

/// Returns the opposite of a normal, without negative zeros.
fn opposite<V: Dimension>(normal: V) -> V {
    V::from_vec3((DVec3::ZERO - normal.to_dvec3()).as_vec3())
}
