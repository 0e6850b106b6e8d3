//! From the solvers' answers, in the frame of the pair, to results in the world.

use smallvec::SmallVec;

use crate::{
    query::{
        analytic::{boxes::Blocks, half_space::Facing},
        epa::{Penetration, penetration},
        gjk::{Gjk, Goal, State},
        length_to_f32,
        manifold::{ContactFrame, meetings},
        minkowski::{MinkowskiDifference, Pair},
        off_core::off_cores,
    },
    shape::{DVecOf, Support},
    space::{DVector, Space},
    tolerance::DEPTH_GAP,
};

/// Two shapes touching: which way out, how far, and where.
///
/// In the world's frame and units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<V> {
    /// Unit vector **from the first shape to the second**: moving the second one by `normal * depth`, or the first one by
    /// the opposite, leaves them just touching, and no shorter way does.
    ///
    /// Where the geometry leaves it free, because several ways out are equally short, it is one of them, always the same
    /// for the same shapes in the same poses. For concentric balls it is the x axis of one of the two.
    pub normal: V,
    /// How far the shapes are in each other along the normal; 0 if they only touch.
    pub depth: f32,
    /// The point of the first shape's surface that is deepest in the second.
    pub point_a: V,
    /// The point of the second shape's surface that is deepest in the first: `point_a - normal * depth`.
    pub point_b: V,
}

/// How far two shapes are apart, and between which points.
///
/// In the world's frame and units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance<V> {
    /// The least distance between a point of the one and a point of the other; 0 if they touch.
    pub distance: f32,
    /// The first shape's point nearest to the second shape; if they touch, a point that both have in common.
    pub point_a: V,
    /// The second shape's point nearest to the first shape; if they touch, a point that both have in common.
    pub point_b: V,
}

/// A contact in f64 and the world's axes, each point relative to its own shape's translation: exact far from the
/// origin as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalContact<D> {
    /// Unit, from the first shape named by the caller to the second.
    pub normal: D,
    /// 0 or more.
    pub depth: f64,
    /// On the first shape, from its translation.
    pub offset_a: D,
    /// On the second shape, from its translation.
    pub offset_b: D,
}

/// A pair, and how it is solved.
pub struct Solver<'a, A: Support + ?Sized, B: ?Sized> {
    pair: Pair<'a, A, B>,
    way: Way<DVecOf<A>>,
}

/// How a pair is solved.
enum Way<D: DVector> {
    /// By GJK, as far as it was asked to go, and EPA where that does not suffice.
    Steps(Gjk<D>),
    /// In closed form: one of the two is a half-space.
    HalfSpace(Facing<D>),
    /// In closed form: both are blocks.
    Blocks(Blocks<D>),
}

impl<'a, A, B> Solver<'a, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    #[inline(always)]
    pub fn new(pair: Pair<'a, A, B>) -> Self {
        match Blocks::new(&pair) {
            Some(blocks) => Self::of_blocks(pair, blocks),
            None => Self::of_no_blocks(pair),
        }
    }

    /// The solver of a pair of which [`Blocks`] knows this.
    #[inline]
    pub fn of_blocks(pair: Pair<'a, A, B>, blocks: Blocks<DVecOf<A>>) -> Self {
        let way = Way::Blocks(blocks);
        Self { pair, way }
    }

    /// The solver of a pair for which [`Blocks`] has no closed form.
    #[inline]
    pub fn of_no_blocks(pair: Pair<'a, A, B>) -> Self {
        // Two half-spaces, and one with what is no shape, go by GJK, to which half-spaces are no shapes either.
        let way = match Facing::new(&pair) {
            Some(facing) => Way::HalfSpace(facing),
            None => Way::Steps(Gjk::new(&pair)),
        };
        Self { pair, way }
    }

    /// Whether the shapes touch.
    #[inline]
    pub fn hit(&mut self) -> bool {
        match &mut self.way {
            Way::Steps(gjk) => {
                gjk.run(&self.pair, Goal::Verdict);
                gjk.hit()
            }
            Way::HalfSpace(facing) => facing.hit(&self.pair),
            Way::Blocks(blocks) => blocks.hit(self.pair.radius_sum()),
        }
    }

    /// The contact of shapes of which [`hit`](Self::hit) has said that they touch.
    #[inline]
    pub fn contact(&mut self) -> LocalContact<DVecOf<A>> {
        let cores = self.cores();
        self.pair.contact(&cores)
    }

    /// The points of the manifold, likewise; the deepest one first. There is at least one, and all have one normal.
    pub fn manifold(&mut self) -> SmallVec<[LocalContact<DVecOf<A>>; 4]> {
        let cores = self.cores();
        if self.pair.has_point() {
            // A point meets the other shape in one.
            let mut contacts = SmallVec::new();
            contacts.push(self.pair.contact(&cores));
            return contacts;
        }
        let frame = ContactFrame::new(cores.normal);
        let scale = match &self.way {
            Way::Steps(_) | Way::Blocks(_) => cores.scale,
            Way::HalfSpace(facing) => facing.scale(&self.pair),
        };
        let mut contacts = SmallVec::new();
        let off = |first, second| off_cores(&self.pair, first, second);
        for meeting in meetings(&self.pair, &frame, scale, cores.first, cores.second, off) {
            let [first, second] = meeting.points(&frame);
            let depth = (meeting.depth() + self.pair.radius_sum()).max(0.0);
            let witnesses = self.pair.on_surfaces(cores.normal, first, second);
            contacts.push(self.pair.in_world(cores.normal, depth, witnesses));
        }
        contacts
    }

    /// What a depth may be off: see [`DEPTH_GAP`].
    pub fn depth_gap(&self) -> f64 {
        match &self.way {
            Way::Steps(gjk) => DEPTH_GAP * gjk.scale,
            Way::HalfSpace(_) | Way::Blocks(_) => 0.0,
        }
    }

    /// Returns `true` if the cores are known to be apart. For shapes of which [`hit`](Self::hit)
    /// has said that they touch.
    pub fn cores_are_apart(&mut self) -> bool {
        match &mut self.way {
            Way::Steps(gjk) => {
                gjk.run(&self.pair, Goal::Contact);
                !gjk.cores_may_touch()
            }
            Way::Blocks(Blocks::Met(cores)) => cores.depth < 0.0,
            Way::Blocks(Blocks::Apart) | Way::HalfSpace(_) => true,
        }
    }

    /// The contact if the second shape named by the caller is to leave the plane that bounds one of
    /// the two, the first or the second, along a unit normal of that plane in the world's axes. It
    /// takes one support point.
    pub fn contact_over(
        &self,
        direction: DVecOf<A>,
        plane_of_first: bool,
    ) -> LocalContact<DVecOf<A>> {
        let direction = self.in_pair(direction);
        let vertex = self.pair.vertex(direction);
        let way = vertex.point.dot(direction);
        // The lowest point of the other one, and what is under it.
        let (first, second) = if plane_of_first == self.pair.swapped {
            (vertex.first, vertex.first - direction * way)
        } else {
            (vertex.second + direction * way, vertex.second)
        };
        let witnesses = self.pair.on_surfaces(direction, first, second);
        let depth = (way + self.pair.radius_sum()).max(0.0);
        self.pair.in_world(direction, depth, witnesses)
    }

    /// A direction from the one shape named by the caller to the other, in the frame and order of the pair.
    fn in_pair(&self, direction: DVecOf<A>) -> DVecOf<A> {
        let direction = DVecOf::<A>::transpose(self.pair.frame) * direction;
        if self.pair.swapped {
            -direction
        } else {
            direction
        }
    }

    /// The contact of the cores: where they are apart, but within the radii, with a depth less than 0.
    #[inline]
    fn cores(&mut self) -> Penetration<DVecOf<A>> {
        let cores = match &mut self.way {
            Way::HalfSpace(facing) => facing.cores(),
            Way::Blocks(Blocks::Met(cores)) => *cores,
            // They do not touch, so nobody asks; but if so, the answer is what GJK's would be.
            Way::Blocks(Blocks::Apart) => apart(
                &nearest_of_cores(&self.pair, Goal::Nearest),
                DVector::axis(0),
            ),
            Way::Steps(gjk) => {
                gjk.run(&self.pair, Goal::Contact);
                if gjk.cores_may_touch() {
                    return penetration(&self.pair, &gjk.simplex, gjk.scale);
                }
                apart(gjk, DVector::axis(0))
            }
        };
        self.pair.touching(cores)
    }

    /// The distance, with the shapes' nearest points each relative to its own shape's translation; `None` if there is
    /// no such thing, because something is no shape.
    #[inline]
    pub fn distance(&mut self) -> Option<(f64, LocalContact<DVecOf<A>>)> {
        let (hit, cores) = match &mut self.way {
            Way::HalfSpace(facing) => (facing.hit(&self.pair), facing.nearest()),
            Way::Steps(gjk) => {
                gjk.run(&self.pair, Goal::Distance);
                if gjk.state == State::NoShape {
                    return None;
                }
                (gjk.hit(), apart(gjk, DVector::ZERO))
            }
            Way::Blocks(blocks) => {
                let hit = blocks.hit(self.pair.radius_sum());
                let cores = match blocks {
                    Blocks::Met(cores) if cores.depth < 0.0 => *cores,
                    // How far boxes are apart, and what they have in common, is left to GJK.
                    _ => {
                        let goal = if hit { Goal::Distance } else { Goal::Nearest };
                        apart(&nearest_of_cores(&self.pair, goal), DVector::ZERO)
                    }
                };
                (hit, cores)
            }
        };
        Some(self.pair.distance(hit, &cores))
    }

    /// The two points of a result in the world.
    #[inline]
    pub fn in_space(&self, points: &LocalContact<DVecOf<A>>) -> [A::Vector; 2] {
        self.pair.in_space(points)
    }

    /// A contact in the world.
    #[inline]
    pub fn in_world_and_f32(&self, contact: &LocalContact<DVecOf<A>>) -> Contact<A::Vector> {
        self.pair.in_world_and_f32(contact)
    }
}

/// From what is known of the cores to results in the world.
impl<A, B> Pair<'_, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    /// The contact of cores whose shapes touch. By the tolerance they may do although they are apart by more than their
    /// radii, but no depth is less than 0.
    #[inline(always)]
    fn touching(&self, cores: Penetration<DVecOf<A>>) -> Penetration<DVecOf<A>> {
        let depth = cores.depth.max(-self.radius_sum());
        Penetration { depth, ..cores }
    }

    /// The contact of the shapes from that of the cores.
    #[inline(always)]
    fn contact(&self, cores: &Penetration<DVecOf<A>>) -> LocalContact<DVecOf<A>> {
        let witnesses = self.on_surfaces(cores.normal, cores.first, cores.second);
        self.in_world(cores.normal, cores.depth + self.radius_sum(), witnesses)
    }

    /// The same, if the shapes touch.
    #[inline(always)]
    pub fn contact_of_blocks(&self, blocks: &Blocks<DVecOf<A>>) -> Option<LocalContact<DVecOf<A>>> {
        match blocks {
            Blocks::Met(cores) if blocks.hit(self.radius_sum()) => {
                Some(self.contact(&self.touching(*cores)))
            }
            _ => None,
        }
    }

    /// A contact in the world.
    #[inline(always)]
    pub fn in_world_and_f32(&self, contact: &LocalContact<DVecOf<A>>) -> Contact<A::Vector> {
        let [point_a, point_b] = self.in_space(contact);
        Contact {
            normal: A::Vector::from_f64(contact.normal),
            depth: length_to_f32(contact.depth),
            point_a,
            point_b,
        }
    }

    /// The distance of the shapes, and their nearest points, from those of the cores.
    #[inline(always)]
    fn distance(
        &self,
        hit: bool,
        cores: &Penetration<DVecOf<A>>,
    ) -> (f64, LocalContact<DVecOf<A>>) {
        let Penetration {
            normal,
            first,
            second,
            depth,
            ..
        } = *cores;
        let (distance, witnesses) = if hit {
            // Between the cores' nearest points, as far from the first as its radius reaches, is a point of both shapes.
            let common = first + normal * self.first_radius.min(-depth);
            (0.0, [common, common])
        } else {
            // What is proved to be apart is not 0, whatever rounding has left of it.
            let distance = (-depth - self.radius_sum()).max(f64::MIN_POSITIVE);
            (distance, self.on_surfaces(normal, first, second))
        };
        (distance, self.in_world(normal, 0.0, witnesses))
    }

    /// The two points of a result in the world.
    #[inline(always)]
    fn in_space(&self, points: &LocalContact<DVecOf<A>>) -> [A::Vector; 2] {
        let [origin_a, origin_b] = self.origins;
        [
            A::Vector::from_f64(origin_a + points.offset_a),
            A::Vector::from_f64(origin_b + points.offset_b),
        ]
    }

    /// Moves points on the cores out to the surfaces.
    #[inline(always)]
    fn on_surfaces(
        &self,
        normal: DVecOf<A>,
        first: DVecOf<A>,
        second: DVecOf<A>,
    ) -> [DVecOf<A>; 2] {
        [
            first + normal * self.first_radius,
            second - normal * self.second_radius,
        ]
    }

    /// From the pair's frame and order to the world's axes and the caller's order.
    #[inline(always)]
    fn in_world(
        &self,
        normal: DVecOf<A>,
        depth: f64,
        [first, second]: [DVecOf<A>; 2],
    ) -> LocalContact<DVecOf<A>> {
        let rotation = self.frame;
        let normal = rotation * normal;
        let first = rotation * first;
        let second = rotation * (second - self.relative.translation);
        let (normal, offset_a, offset_b) = if self.swapped {
            (-normal, second, first)
        } else {
            (normal, first, second)
        };
        LocalContact {
            normal,
            depth,
            offset_a,
            offset_b,
        }
    }
}

/// How far the cores are apart, by GJK.
fn nearest_of_cores<A, B>(pair: &Pair<A, B>, goal: Goal) -> Gjk<DVecOf<A>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let mut gjk = Gjk::new(pair);
    gjk.run(pair, goal);
    gjk
}

/// Cores that are apart, as GJK has found them; the normal is the one given where they are not. v = a - b between the cores: from
/// the first to the second it is -v.
#[inline]
fn apart<D: DVector>(gjk: &Gjk<D>, otherwise: D) -> Penetration<D> {
    let (first, second) = gjk.nearest.witnesses(&gjk.simplex);
    Penetration {
        normal: (-gjk.across()).unit().unwrap_or(otherwise),
        depth: -gjk.distance,
        scale: gjk.scale,
        first,
        second,
    }
}
