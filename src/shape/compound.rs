//! What is not convex: convex parts, fixed to each other.

use core::{cmp::Ordering, ops::ControlFlow};
use std::{borrow::Cow, fmt, sync::Arc};

use crate::{
    shape::{
        HalfSpace, Shape, ShapeError, Support,
        bounds::{Bounds, centre_of},
        bvh::Tree,
        order::compare_shapes,
        points::farthest,
        support::checked_radius,
        surface::Surface,
    },
    space::{DVector, Pose, Space},
    tolerance::TOUCHING,
};

/// Convex parts under a tree of boxes. Parts are known by their numbers, from 0, in the order in which they were given.
#[derive(Clone)]
pub struct Compound<V: Space> {
    parts: Arc<Parts<V>>,
    /// The boxes of the parts, without the margin.
    tree: Arc<Tree>,
    centre: V::DVec,
    /// The margin around every part.
    margin: f32,
    /// Of a surface, whether only the outer side collides.
    one_sided: bool,
}

/// A pose in a space.
type PoseOf<V> = Pose<<V as Space>::DVec>;

/// A linear map of a space.
type MatrixOf<V> = <<V as Space>::DVec as DVector>::Matrix;

/// The parts of a compound.
pub enum Parts<V: Space> {
    /// Shapes, each in its place.
    Shapes(Box<[(PoseOf<V>, Shape<V>)]>),
    /// The facets of a surface.
    Surface(Surface<V>),
}

impl<V: Space> Parts<V> {
    fn len(&self) -> u32 {
        let count = match self {
            Self::Shapes(shapes) => shapes.len(),
            Self::Surface(surface) => surface.len(),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl<V: Space> Compound<V> {
    /// The parts, with a margin around each.
    pub fn new(parts: Parts<V>, margin: f32) -> Result<Self, ShapeError> {
        ShapeError::check_length("margin", margin)?;
        let count = parts.len();
        if count == 0 {
            return Err(ShapeError::NoParts);
        }
        if let Parts::Shapes(shapes) = &parts
            && shapes
                .iter()
                .any(|(_, shape)| shape.core().half_space().is_some())
        {
            return Err(ShapeError::Unbounded("a half-space"));
        }
        let bounds = |number: u32| {
            let (pose, shape) = part(&parts, number)?;
            Some((number, Bounds::around(&*shape, &pose)))
        };
        let tree = Tree::new((0..count).filter_map(bounds));
        Ok(Self {
            centre: match &parts {
                Parts::Shapes(shapes) => centre(shapes),
                Parts::Surface(_) => tree.middle(),
            },
            tree: Arc::new(tree),
            parts: Arc::new(parts),
            margin,
            one_sided: false,
        })
    }

    /// The same with a greater margin.
    pub fn rounded(&self, margin: f32) -> Result<Self, ShapeError> {
        ShapeError::check_length("margin", margin)?;
        let margin = self.margin + margin;
        ShapeError::check_length("margin", margin)?;
        Ok(Self {
            margin,
            ..self.clone()
        })
    }

    /// The same, of which only the outer sides of facets collide.
    pub fn one_sided(&self) -> Self {
        Self {
            one_sided: true,
            ..self.clone()
        }
    }

    /// Whether only the outer sides of facets collide.
    pub fn is_one_sided(&self) -> bool {
        self.one_sided
    }

    /// Where most of it is: the mean of the parts' centres, each weighed with the box around it in the part's own frame. (The box
    /// around all of them may have its middle where nothing is.) Of a surface it is the middle of its box.
    pub fn centre(&self) -> V::DVec {
        self.centre
    }

    /// An order of compounds that look alike from outside: by what they are made of.
    pub fn compare(&self, other: &Self) -> Ordering {
        let of_shapes = || {
            let (Parts::Shapes(own), Parts::Shapes(others)) = (&*self.parts, &*other.parts) else {
                return Ordering::Equal;
            };
            let compare = |((place, shape), (there, other)): (&(PoseOf<V>, _), &(PoseOf<V>, _))| {
                let order = place.total_cmp(there);
                order.then_with(|| compare_shapes::<V>(shape, other))
            };
            let mut orders = own.iter().zip(others).map(compare);
            orders.find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
        };
        let sides = self.one_sided.cmp(&other.one_sided);
        let counts = self.len().cmp(&other.len());
        sides.then(counts).then_with(of_shapes)
    }

    /// The longest side of the box around it.
    pub fn size(&self) -> f64 {
        self.tree.size()
    }

    /// How many parts there are.
    pub fn len(&self) -> u32 {
        self.parts.len()
    }

    /// The parts, and the margin around each.
    pub fn parts(&self) -> (&Parts<V>, f32) {
        (&self.parts, self.margin)
    }

    /// A part by its number, with its place in the compound, without the margin.
    pub fn part(&self, number: u32) -> Option<(PoseOf<V>, Cow<'_, Shape<V>>)> {
        part(&self.parts, number)
    }

    /// Calls `visit` with the number of each part that may have a point within `bounds`, in the frame of the compound.
    pub fn near(&self, bounds: &Bounds<V::DVec>, mut visit: impl FnMut(u32)) {
        self.tree.near(&bounds.grown(self.reach()), |number| {
            visit(number);
            ControlFlow::Continue(())
        });
    }

    /// Calls `visit` with the number of each part that may have a point in a ball, in the frame of
    /// the compound.
    pub fn near_ball(&self, centre: V::DVec, radius: f64, visit: impl FnMut(u32)) {
        self.tree.near_ball(centre, radius + self.reach(), visit);
    }

    /// Calls `visit` with the number of each part, without its margin, that may be no farther than
    /// `distance` from a point in the frame of the compound, until it returns `Break`.
    pub fn near_point(
        &self,
        point: V::DVec,
        distance: f64,
        visit: impl FnMut(u32) -> ControlFlow<()>,
    ) {
        let (min, max) = (point, point);
        let bounds = Bounds { min, max }.grown(distance);
        self.tree.near(&bounds, visit);
    }

    /// The same, if a linear map and then a translation put the compound where the bounds are.
    pub fn near_image(
        &self,
        bounds: &Bounds<V::DVec>,
        linear: MatrixOf<V>,
        translation: V::DVec,
        visit: impl FnMut(u32),
    ) {
        let reach = self.reach();
        let is_near =
            |it: Bounds<V::DVec>| bounds.overlaps(&it.grown(reach).mapped(linear, translation));
        self.tree.visit(is_near, visit);
    }

    /// Calls `visit` with the number of each part that may reach into a half-space in the frame of the compound, whose normal may
    /// be of any length.
    pub fn within(&self, half_space: &HalfSpace<V::DVec>, visit: impl FnMut(u32)) {
        let reach = half_space.normal.length() * self.reach();
        self.tree.within(&half_space.raised(reach), visit);
    }

    /// How far the margin reaches, with room for what counts as touching: see [`Bounds::around`].
    fn reach(&self) -> f64 {
        f64::from(self.margin) * (1.0 + 8.0 * TOUCHING)
    }

    /// The surface, if it is one.
    pub fn surface(&self) -> Option<&Surface<V>> {
        match &*self.parts {
            Parts::Shapes(_) => None,
            Parts::Surface(surface) => Some(surface),
        }
    }

    /// A point no lower along a direction than the surface is, and by no more than its grain higher: so near that the tree can
    /// leave out all but a few of its vertices.
    fn highest(&self, surface: &Surface<V>, direction: V::DVec) -> V::DVec {
        let unit = direction.unit().unwrap_or(V::DVec::axis(0));
        let (mut best, mut height) = (None, f64::NEG_INFINITY);
        self.tree.climb(unit, surface.height_tolerance(), |number| {
            for corner in surface.facet_vertices(number).into_iter().flatten() {
                if corner.dot(unit) > height {
                    (best, height) = (Some(corner), corner.dot(unit));
                }
            }
            height
        });
        match best.filter(|_| self.tree.is_whole()) {
            Some(best) => best + unit * surface.height_tolerance(),
            // Of what has facets too large for a box.
            None => farthest(surface.vertices(), direction),
        }
    }

    /// A point no lower along a direction than all parts are, and no higher but for what keeps the tree from being gone through
    /// where many are as high as each other.
    fn farthest_of(&self, shapes: &[(PoseOf<V>, Shape<V>)], direction: V::DVec) -> V::DVec {
        // A part's radius joins its core, because the parts differ in it.
        let unit = direction.unit().unwrap_or(V::DVec::axis(0));
        let reach = |(pose, shape): &(PoseOf<V>, Shape<V>)| {
            let inner = V::DVec::transpose(pose.rotation) * unit;
            let core = pose.rotation * shape.support(inner) + pose.translation;
            core + unit * checked_radius(shape.radius())
        };
        // What is NaN in one part is NaN in the whole, whichever it is: a compound of what is no shape is none.
        let farther = |a: V::DVec, b: V::DVec| {
            let is_farther = b.dot(unit) > a.dot(unit) || !b.is_finite();
            if is_farther && a.is_finite() { b } else { a }
        };
        let mut best = None;
        let mut look_at = |part| {
            let point = reach(part);
            best = Some(best.map_or(point, |best| farther(best, point)));
            best.map_or(f64::NEG_INFINITY, |best| best.dot(unit))
        };
        let mut slack = 0.0;
        if shapes.len() > FEW && self.tree.is_whole() {
            slack = AS_HIGH * self.tree.size();
            self.tree.climb(unit, slack, |number| {
                let part = shapes.get(number as usize);
                part.map_or(f64::NEG_INFINITY, &mut look_at)
            });
        } else {
            for part in shapes {
                look_at(part);
            }
        }
        best.unwrap_or(V::DVec::ZERO * f64::NAN) + unit * slack
    }
}

/// So many parts are all asked for the farthest point: to ask the tree takes about as long.
const FEW: usize = 8;

/// What differs in height by no more than this part of the size of a compound is as high: some times the room in the boxes of
/// the tree, for parts that are smaller than the whole.
const AS_HIGH: f64 = 1e-6;

fn centre<V: Space>(shapes: &[(PoseOf<V>, Shape<V>)]) -> V::DVec {
    let mean = |weight: fn(&Shape<V>) -> f64| {
        let (mut sum, mut total) = (V::DVec::ZERO, 0.0);
        for (pose, shape) in shapes {
            let weight = weight(shape);
            sum = sum + (pose.rotation * centre_of(shape) + pose.translation) * weight;
            total += weight;
        }
        Some(sum * (1.0 / total)).filter(|it| it.is_finite())
    };
    // Points hold nothing.
    mean(|shape| Bounds::around(shape, &Pose::IDENTITY).volume())
        .or_else(|| mean(|_| 1.0))
        .unwrap_or(V::DVec::ZERO)
}

fn part<V: Space>(parts: &Parts<V>, number: u32) -> Option<(PoseOf<V>, Cow<'_, Shape<V>>)> {
    Some(match parts {
        Parts::Shapes(shapes) => {
            let (pose, shape) = shapes.get(number as usize)?;
            (*pose, Cow::Borrowed(shape))
        }
        Parts::Surface(surface) => (Pose::IDENTITY, Cow::Owned(surface.facet(number)?)),
    })
}

/// The hull of all parts: what the box around a compound is asked of.
impl<V: Space> Support for Compound<V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        match &*self.parts {
            Parts::Surface(surface) => self.highest(surface, direction),
            Parts::Shapes(shapes) => self.farthest_of(shapes, direction),
        }
    }

    fn radius(&self) -> f64 {
        self.margin.into()
    }
}

impl<V: Space> fmt::Debug for Compound<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &*self.parts {
            Parts::Shapes(shapes) => {
                let shapes = shapes.iter().map(|(_, shape)| shape);
                formatter.debug_list().entries(shapes).finish()
            }
            Parts::Surface(surface) => write!(formatter, "Surface({} facets)", surface.len()),
        }
    }
}
