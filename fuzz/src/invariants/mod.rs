//! What must hold for any two shapes in any two poses, whatever the bits. Shared by the fuzz targets and by
//! `tests/it/queries/invariants.rs`, so that both say the same.
//!
//! There is no oracle in here. What is asked is that the answers agree with each other, with what a few support points
//! prove, and with the answers for the same pair moved.

mod case;
#[path = "../../../tests/support/counted.rs"]
mod counted;
mod dimension;
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
pub use dimension::Dimension;
pub use shape::Law;
pub use source::Source;

use dimension::{Place, Turn, same_bits, same_number};
use shape::{Extent, Hull, Shape};
use source::Chooser;

/// How far the length of a normal may be from 1.
const UNIT: f64 = 5e-7;

/// What rounding to f32 does to the difference of two numbers of size 1.
const ROUNDING: f64 = 2.4e-7;

/// What is known of where a point is, as a fraction of its distance from its shape's own origin.
const LEVER: f64 = 5e-12;

/// The least that f32 can show.
const LEAST: f64 = 1e-44;

/// Where anything is larger than this, results do not fit into f32.
const LARGEST: f64 = 1e30;

/// Where the least number of a pair is a smaller part than this of the largest, and not 0, f64 cannot hold it and its
/// products beside the other one.
const SPREAD: f64 = 1e-12;

/// What a case was.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub law: Law,
    pub hit: bool,
    /// The most support evaluations of one shape in one query.
    pub evaluations: usize,
}

/// Looks at a case, and panics where an invariant does not hold.
pub fn check<V: Dimension>(case: &Case<V>) -> Outcome {
    let [a, b] = [&case.a, &case.b].map(check_collider);
    if let (Some(a), Some(b)) = (a, b) {
        check_compound(case, [a, b]);
    }
    check_surface(&case.a);
    check_ground(case);
    let a = Side::new(&case.a, case.at_a, case.is_general);
    let b = Side::new(&case.b, case.at_b, case.is_general);
    let pair = Pair { a: &a, b: &b };
    let law = a.law.max(b.law);
    if law == Law::Sound {
        a.watched.is_strict.set(true);
        b.watched.is_strict.set(true);
    }
    let answers = pair.answers();
    match law {
        Law::Empty => answers.are_none(),
        Law::Fickle => {}
        Law::Lawless => {
            answers.agree_on_hit();
            pair.is_mirrored(&answers);
        }
        Law::Sound => {
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
        law,
        hit: answers.intersects,
        evaluations: a.most.get().max(b.most.get()),
    }
}

/// A collider is refused exactly where it is no shape, with a reason that applies. Returns what is not.
fn check_collider<V: Dimension>(shape: &Shape<V>) -> Option<Collider> {
    if shape.overflows() {
        return None;
    }
    let (collider, expected) = shape.collider();
    assert_eq!(collider.is_ok(), expected, "the verdict of try_new");
    match collider {
        Ok(collider) => {
            assert!(!collider.is_inert(), "a shape that is none");
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
                ShapeError::NoPoints => shape.law() == Law::Empty,
                _ => false,
            };
            assert!(applies, "{error} does not apply");
            None
        }
    }
}

/// Two colliders make a compound if both are shapes, in poses that are some.
fn check_compound<V: Dimension>(case: &Case<V>, [a, b]: [Collider; 2]) {
    let parts = [(&case.at_a, a), (&case.at_b, b)];
    let is_pose = |place: &Place<V>| V::matrix(place.turn).is_some() && place.at.deep().is_finite();
    let expected = parts.iter().all(|(place, _)| is_pose(place));
    let compound = V::compound(parts.map(|(place, it)| (V::isometry(place), it)));
    match compound {
        Ok(compound) => assert!(expected && !compound.is_inert(), "of a pose that is none"),
        Err(error) => assert!(
            !expected && error == ShapeError::PoseNotFinite,
            "{error} does not apply"
        ),
    }
}

/// A surface of points, whatever they are, is one, or there is a reason that applies.
fn check_surface<V: Dimension>(shape: &Shape<V>) {
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
    let is_finite = points.iter().all(|point| point.deep().is_finite());
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

/// A half-space and a shape: how far the shape reaches against the normal says all.
fn check_ground<V: Dimension>(case: &Case<V>) {
    let (normal, place) = &case.ground;
    let Some(ground) = V::ground(*normal) else {
        return;
    };
    let side = Side::new(&case.b, case.at_b, case.is_general);
    let pose = V::isometry(place);
    side.begin();
    let intersects = query::intersects(&ground, pose, &side.watched, side.pose);
    side.begin();
    let contact = query::contact(&ground, pose, &side.watched, side.pose);
    side.begin();
    let distance = query::distance(&ground, pose, &side.watched, side.pose);
    if side.law == Law::Fickle {
        return;
    }
    assert_eq!(contact.is_some(), intersects, "contact with a half-space");
    side.begin();
    let back = query::contact(&side.watched, side.pose, &ground, pose);
    let mirrored = match (&contact, &back) {
        (Some(contact), Some(back)) => {
            same_bits(contact.normal, opposite(back.normal))
                && same_number(contact.depth, back.depth)
                && same_bits(contact.point_a, back.point_b)
        }
        _ => contact.is_none() && back.is_none(),
    };
    assert!(mirrored, "{contact:?} is not mirrored by {back:?}");
    let turn = V::matrix(place.turn).filter(|_| place.at.deep().is_finite());
    let (Some(turn), Law::Sound) = (turn, side.law) else {
        let is_none = turn.is_none() || side.law == Law::Empty;
        assert!(!(is_none && intersects), "what is no shape is hit");
        return;
    };
    let between = side.place.at.deep() - place.at.deep();
    let largest = between.abs().max_element().max(side.extent.lever);
    if !(largest < LARGEST && Pair { a: &side, b: &side }.fits()) {
        return;
    }
    side.begin();
    let upward = turn * V::upward(&ground);
    let gap = between.dot(upward) - side.height(-upward);
    // What rounding makes of a sum of lengths, and of the way from one place to the other.
    let Extent { size, lever } = side.extent;
    let slack = 1.4e-5 * size + LEVER * (lever + between.length()) + LEAST;
    let found = match &contact {
        Some(contact) => {
            let off = contact.normal.deep().distance(upward);
            assert!(off <= UNIT, "{contact:?}, and not {upward}");
            -f64::from(contact.depth)
        }
        None => f64::from(distance.distance),
    };
    assert!(
        (found - gap).abs() <= slack + ROUNDING * gap.abs(),
        "{found:e} from a half-space, and not {gap:e}"
    );
}

/// A shape in a pose.
struct Side<'c, V: Dimension> {
    shape: &'c Shape<V>,
    watched: Counted<Box<dyn Support<Vector = V> + 'c>>,
    /// The most support evaluations in one query.
    most: Cell<usize>,
    place: Place<V>,
    is_general: bool,
    pose: V::Isometry,
    /// The rotation in f64; none in a pose that is none.
    turn: DMat3,
    extent: Extent,
    law: Law,
}

impl<'c, V: Dimension> Side<'c, V> {
    fn new(shape: &'c Shape<V>, place: Place<V>, is_general: bool) -> Self {
        let turn = V::matrix(place.turn).filter(|_| place.at.deep().is_finite());
        Self {
            shape,
            watched: Counted::new(shape.support())
                .bounded()
                .iterative(is_general),
            is_general,
            most: Cell::new(0),
            place,
            pose: V::isometry(&place),
            turn: turn.unwrap_or_default(),
            extent: shape.extent(),
            law: if turn.is_some() {
                shape.law()
            } else {
                Law::Empty
            },
        }
    }

    /// The same shape elsewhere, if that is a pose.
    fn moved(&self, place: Place<V>) -> Option<Self> {
        let moved = Self::new(self.shape, place, self.is_general);
        (moved.law == self.law).then_some(moved)
    }

    /// Begins a query.
    fn begin(&self) {
        let count = self.watched.take_evaluations();
        self.most.set(self.most.get().max(count));
    }

    /// How high the shape reaches in a direction above its translation.
    fn height(&self, direction: DVec3) -> f64 {
        let own = self.turn.transpose() * direction;
        let point = V::deepen(self.watched.support(V::flatten(own)));
        own.dot(point) + own.length() * self.watched.radius()
    }

    /// How far a point in the world is from being one of the surface that faces a direction.
    fn off_surface(&self, point: V, direction: DVec3) -> f64 {
        let offset = point.deep() - self.place.at.deep();
        (offset.dot(direction) - self.height(direction)).abs()
    }

    /// How far a point in the world is outside of the shape.
    fn outside(&self, point: V) -> f64 {
        let origin = [V::default()];
        let pose = V::isometry(&Place {
            turn: V::turn(DVec3::Z, 0.0),
            at: point,
        });
        self.begin();
        let distance = query::distance(&self.watched, self.pose, &origin[..], pose);
        distance.distance.into()
    }
}

/// All that is asked of a pair.
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
        assert!(!self.intersects, "what is no shape is hit");
        assert_eq!(self.distance.distance, f32::INFINITY, "of no shape");
        for point in [self.distance.point_a, self.distance.point_b] {
            assert!(point.deep().is_nan(), "{point:?} of no shape");
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

    /// No answer is NaN, normals are unit, depths are not negative, and there are as many points as there may be.
    fn are_sound(&self) {
        for point in [self.distance.point_a, self.distance.point_b] {
            assert!(!has_nan(point), "{:?}", self.distance);
        }
        if let Some(contact) = &self.contact {
            let off = (contact.normal.deep().length() - 1.0).abs();
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
            assert!(same_bits(manifold.normal, contact.normal), "{manifold:?}");
            for point in points {
                assert!(point.depth >= 0.0, "{manifold:?}");
                let nan = has_nan(point.point_a) || has_nan(point.point_b);
                assert!(!nan, "{manifold:?}");
            }
        }
    }

    /// Whether the other answers are these the other way round, to the bit.
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
                same_bits(opposite(manifold.normal), other.normal)
                    && points.len() == others.len()
                    && pairs.all(|(point, other)| {
                        same_number(point.depth, other.depth)
                            && same_bits(point.point_a, other.point_b)
                            && same_bits(point.point_b, other.point_a)
                    })
            }
            (manifold, other) => manifold.is_none() && other.is_none(),
        };
        let distance = same_number(self.distance.distance, other.distance.distance)
            && same_bits(self.distance.point_a, other.distance.point_b)
            && same_bits(self.distance.point_b, other.distance.point_a);
        self.intersects == other.intersects && contact && manifold && distance
    }

    /// The distance with a sign: less than 0 where the shapes are in each other.
    fn separation(&self) -> f64 {
        match &self.contact {
            Some(contact) => -f64::from(contact.depth),
            None => f64::from(self.distance.distance),
        }
    }
}

/// Two shapes in their poses.
struct Pair<'s, 'c, V: Dimension> {
    a: &'s Side<'c, V>,
    b: &'s Side<'c, V>,
}

impl<V: Dimension> Pair<'_, '_, V> {
    fn answers(&self) -> Answers<V> {
        let Self { a, b } = self;
        let begin = || {
            a.begin();
            b.begin();
        };
        let (shape_a, shape_b) = (&a.watched, &b.watched);
        begin();
        let intersects = query::intersects(shape_a, a.pose, shape_b, b.pose);
        begin();
        let contact = query::contact(shape_a, a.pose, shape_b, b.pose);
        begin();
        let resumed = query::test(shape_a, a.pose, shape_b, b.pose).map(query::Hit::contact);
        begin();
        let manifold = query::manifold(shape_a, a.pose, shape_b, b.pose);
        begin();
        let distance = query::distance(shape_a, a.pose, shape_b, b.pose);
        Answers {
            intersects,
            contact,
            resumed,
            manifold,
            distance,
        }
    }

    /// The distance with a sign: less than 0 where the shapes are in each other.
    fn separation(&self) -> f64 {
        let Self { a, b } = self;
        a.begin();
        b.begin();
        match query::contact(&a.watched, a.pose, &b.watched, b.pose) {
            Some(contact) => -f64::from(contact.depth),
            None => {
                a.begin();
                b.begin();
                let distance = query::distance(&a.watched, a.pose, &b.watched, b.pose);
                distance.distance.into()
            }
        }
    }

    /// Whether all results fit into f32, and the shapes into f64.
    fn fits(&self) -> bool {
        let reach = |side: &Side<V>| side.extent.lever + side.place.at.deep().abs().max_element();
        let numbers = [self.a, self.b].map(|side| side.shape.numbers());
        let sizes = numbers.iter().flatten().map(|number| number.abs());
        let least = sizes.clone().filter(|size| *size > 0.0).reduce(f64::min);
        let largest = sizes.fold(0.0, f64::max);
        reach(self.a).max(reach(self.b)) < LARGEST
            && least.is_none_or(|least| least >= SPREAD * largest)
    }

    /// How far lengths may be off.
    fn tolerance(&self) -> f64 {
        let (a, b) = (self.a.extent, self.b.extent);
        let sizes = 1e-5 * a.size.min(b.size) + 4e-6 * a.size.max(b.size);
        sizes + LEVER * (a.lever + b.lever) + LEAST
    }

    /// The second shape's pose in the frame of the first one's.
    fn relative(&self) -> (DMat3, DVec3) {
        let inverse = self.a.turn.transpose();
        let between = self.b.place.at.deep() - self.a.place.at.deep();
        (inverse * self.b.turn, inverse * between)
    }

    /// How far the shapes overlap along a direction: no way out is shorter than the shortest of these, and no distance
    /// less than the greatest of their opposites.
    fn overlap(&self, direction: DVec3) -> f64 {
        let between = self.b.place.at.deep() - self.a.place.at.deep();
        self.a.height(direction) + self.b.height(-direction) - between.dot(direction)
    }

    /// The answers for the shapes in the other order are the same the other way round, to the bit.
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
        let sound = self.a.law.max(self.b.law) == Law::Sound;
        assert!(
            self.has_no_order(),
            "{answers:?} is not mirrored by {back:?}"
        );
        let [of_a, of_b] = [self.a, self.b].map(|side| format!("{:?}", side.shape));
        if of_a == of_b {
            assert_eq!(
                format!("{answers:?}"),
                format!("{back:?}"),
                "two calls with nothing to tell them apart"
            );
        }
        if sound {
            assert_eq!(answers.intersects, back.intersects);
            let off = (answers.separation() - back.separation()).abs();
            assert!(off <= 2.0 * self.tolerance(), "{answers:?}, {back:?}");
        }
    }

    /// Whether nothing that the library looks at tells which of the two comes first: the poses are the same to the bit, and the
    /// shapes have the same radius and the same support points in the directions of its list, whatever they are elsewhere. A
    /// point has its place by being one. No more is excused, so that this is the list of the library, written out again.
    fn has_no_order(&self) -> bool {
        let pair = [self.a, self.b];
        let [pose_a, pose_b] = pair.map(|side| format!("{:?}", V::pose(side.pose)));
        let [is_point_a, is_point_b] = pair.map(|side| side.watched.core().is_point());
        let [radius_a, radius_b] = pair.map(|side| side.watched.radius().to_bits());
        let steps: usize = if V::COUNT == 2 { 7 } else { 3 };
        let directions = (0..steps.pow(V::COUNT as u32)).step_by(2).map(|number| {
            let component = |axis: usize| {
                let step = number / steps.pow(axis as u32) % steps;
                step as f64 - (steps / 2) as f64 + 0.013 * (axis + 1) as f64
            };
            DVec3::from([0, 1, 2].map(component))
        });
        let mut looks = directions.map(|direction| {
            let [of_a, of_b] = pair.map(|side| {
                let point = side.watched.support(V::flatten(direction));
                V::deepen(point).to_array().map(f64::to_bits)
            });
            of_a == of_b
        });
        pose_a == pose_b && is_point_a == is_point_b && radius_a == radius_b && looks.all(|it| it)
    }

    /// No support point proves the depth too large or the distance too small, and those along the normal prove the other
    /// side as well.
    fn is_bounded(&self, answers: &Answers<V>) {
        let separation = answers.separation();
        let slack = self.tolerance() + ROUNDING * separation.max(0.0);
        for direction in DIRECTIONS {
            let direction = V::deepen(V::flatten(direction.into())).normalize();
            let overlap = self.overlap(direction);
            assert!(
                separation >= -overlap - slack,
                "{separation:e}, but along {direction} the overlap is {overlap:e}: {answers:?}"
            );
        }
        if let Some(contact) = &answers.contact {
            let overlap = self.overlap(contact.normal.deep());
            assert!(
                (overlap + separation).abs() <= slack,
                "along the normal the overlap is {overlap:e}: {contact:?}"
            );
        } else {
            let Distance {
                point_a, point_b, ..
            } = answers.distance;
            let way = point_b.deep() - point_a.deep();
            // What rounding the points makes of the direction, and that of the overlap.
            let askew = (self.tolerance() + grain([point_a, point_b])) / separation;
            let reach = self.a.extent.size + self.b.extent.size;
            let overlap = self.overlap(way.try_normalize().unwrap_or(DVec3::X));
            assert!(
                askew > 0.1
                    || (overlap + separation).abs()
                        <= slack + 4.0 * askew * (reach + askew * separation),
                "{separation:e}, but along {way} the overlap is {overlap:e}: {answers:?}"
            );
        }
    }

    /// Points are where they should be: on their own shapes, and as far apart as is said.
    fn has_true_points(&self, answers: &Answers<V>) {
        let tolerance = self.tolerance();
        let Distance {
            distance,
            point_a,
            point_b,
        } = answers.distance;
        let distance = f64::from(distance);
        let slack = tolerance + grain([point_a, point_b]);
        let off = (point_a.deep().distance(point_b.deep()) - distance).abs();
        assert!(off <= slack + ROUNDING * distance, "apart: {answers:?}");
        self.hold(point_a, point_b, slack + tolerance, "nearest");

        if let Some(contact) = &answers.contact {
            let Contact {
                normal,
                depth,
                point_a,
                point_b,
            } = *contact;
            let normal = normal.deep();
            let slack = tolerance + grain([point_a, point_b]);
            let off = point_a.deep() - point_b.deep() - normal * f64::from(depth);
            assert!(off.length() <= slack, "off by {off}: {contact:?}");
            let off = [
                self.a.off_surface(point_a, normal),
                self.b.off_surface(point_b, -normal),
            ];
            assert!(
                off.iter().all(|off| *off <= slack),
                "off by {off:?}: {contact:?}"
            );
            self.hold(point_a, point_b, slack + tolerance, "contact");
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
                let normal = manifold.normal.deep();
                let slack = tolerance + grain([point.point_a, point.point_b]);
                let way = normal * f64::from(point.depth);
                let off = point.point_a.deep() - point.point_b.deep() - way;
                assert!(off.length() <= slack, "off by {off}: {manifold:?}");
                self.hold(point.point_a, point.point_b, slack + tolerance, "manifold");
            }
        }
    }

    /// Each point is in its own shape: the distance says so, and no support point denies it.
    fn hold(&self, point_a: V, point_b: V, slack: f64, which: &str) {
        for (body, point) in [(&self.a, point_a), (&self.b, point_b)] {
            let offset = point.deep() - body.place.at.deep();
            for direction in DIRECTIONS {
                let direction = V::deepen(V::flatten(direction.into())).normalize();
                let beyond = offset.dot(direction) - body.height(direction);
                assert!(
                    beyond <= slack,
                    "{which}: {point:?} is {beyond:e} beyond {direction}"
                );
            }
        }
        let outside = [self.a.outside(point_a), self.b.outside(point_b)];
        assert!(
            outside.iter().all(|outside| *outside <= slack),
            "{which}: {point_a:?} and {point_b:?} are {outside:?} outside of their shapes, allowed {slack:e}"
        );
    }

    /// Moving the second shape by the normal times the depth leaves the two touching.
    fn is_solved_by(&self, answers: &Answers<V>) {
        let Some(contact) = &answers.contact else {
            return;
        };
        let place = self.b.place;
        let way = contact.normal.deep() * f64::from(contact.depth);
        let at = V::of((place.at.deep() + way).as_vec3());
        let Some(b) = self.b.moved(Place { at, ..place }) else {
            return;
        };
        let left = Pair { a: self.a, b: &b }.separation();
        let rounded = (at.deep() - place.at.deep()).distance(way);
        assert!(
            left.abs() <= 2.0 * self.tolerance() + rounded,
            "{left:e} is left after moving by {contact:?}"
        );
    }

    /// Moving both shapes together changes nothing but what the rounding of the poses does.
    fn stays_when_moved(&self, answers: &Answers<V>, motion: &Place<V>) {
        let Some(turn) = V::matrix(motion.turn) else {
            return;
        };
        let carried = |place: &Place<V>| Place {
            turn: V::compose(motion.turn, place.turn),
            at: V::of((turn * place.at.deep() + motion.at.deep()).as_vec3()),
        };
        let (Some(a), Some(b)) = (
            self.a.moved(carried(&self.a.place)),
            self.b.moved(carried(&self.b.place)),
        ) else {
            return;
        };
        let moved = Pair { a: &a, b: &b };
        let (turn, between) = self.relative();
        let (turn_moved, between_moved) = moved.relative();
        let turned: f64 = (turn - turn_moved)
            .to_cols_array()
            .map(f64::abs)
            .iter()
            .sum();
        let rounded = between.distance(between_moved) + turned * self.b.extent.lever;
        let (before, after) = (answers.separation(), moved.separation());
        let slack = 2.0 * self.tolerance() + rounded + ROUNDING * before.max(after).max(0.0);
        assert!(
            (before - after).abs() <= slack,
            "{before:e}, and moved {after:e}; allowed {slack:e}"
        );
    }
}

/// Some directions, to look along; in the plane what is left of them there.
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

/// How far rounding to f32, in the world, may have moved two points against each other.
fn grain<V: Dimension>(points: [V; 2]) -> f64 {
    let lengths = points.map(|point| point.deep().length());
    ROUNDING * lengths[0].max(lengths[1]) + LEAST
}

fn has_nan<V: Dimension>(vector: V) -> bool {
    vector.deep().is_nan()
}

fn has_negative_zero<V: Dimension>(vector: V) -> bool {
    let components = vector.deep().to_array();
    components
        .iter()
        .any(|it| *it == 0.0 && it.is_sign_negative())
}

fn same_contact<V: Dimension>(left: &Contact<V>, right: &Contact<V>) -> bool {
    same_bits(left.normal, right.normal)
        && same_number(left.depth, right.depth)
        && same_bits(left.point_a, right.point_a)
        && same_bits(left.point_b, right.point_b)
}

/// The opposite of a normal. Taken from 0: no zero of a result has a sign.
fn opposite<V: Dimension>(normal: V) -> V {
    V::of((DVec3::ZERO - normal.deep()).as_vec3())
}
