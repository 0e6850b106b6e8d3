//! Colliders that are not a single convex shape: compounds, and the surfaces of levels.

use crate::{
    Collider,
    math::{Vec2, Vec3},
    shape::{
        AnyColliderShape, ColliderShape, Compound, CompoundParts, Dimension, MeshSurface,
        ShapeError, Surface,
    },
    space::QueryPose,
};

/// # Compounds and surfaces
///
/// Each constructor has two forms. The short form never fails: if its input is invalid, the
/// collider is inert, and one warning names the entity. The `try_` form returns the error.
impl Collider {
    /// Combines several colliders, each in a pose relative to the entity, into one collider. The
    /// result can be concave.
    ///
    /// A pose is a [`QueryPose`] of the same dimension, such as a `Vec2` or an `Isometry3d`, or a
    /// `Transform` of scale 1.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn spawn(mut commands: Commands) {
    ///     commands.spawn(Collider::compound([
    ///         (Vec3::ZERO, Collider::capsule_3d(0.05, 1.0)),
    ///         (Vec3::new(0.0, 0.5, 0.0), Collider::cuboid(0.5, 0.2, 0.2)),
    ///     ]));
    /// }
    /// ```
    ///
    /// A compound collides as one collider. A pair sends one `Started` and one `Ended`, with the
    /// contact of the deepest part. The event's [`part`](crate::CollisionEvent::part) is the index
    /// of the deepest part, and [`Collisions::parts`](crate::Collisions::parts) returns the
    /// contacts of all parts. Each contact is exact for its own part: `normal * depth` is the
    /// shortest translation out of this part, not out of the whole compound.
    ///
    /// If a part is itself a compound, the parts of that compound are inserted in its place.
    ///
    /// [`try_compound`](Self::try_compound) lists the invalid inputs.
    pub fn compound<P: Into<QueryPose<Self>>>(parts: impl IntoIterator<Item = (P, Self)>) -> Self {
        Self::try_compound(parts).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`compound`](Self::compound), or an error if it is invalid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let parts = [(Vec2::ZERO, Collider::circle(1.0)), (Vec2::X, Collider::sphere(1.0))];
    /// assert_eq!(Collider::try_compound(parts).unwrap_err(), ShapeError::MixedDimensions);
    /// ```
    ///
    /// # Errors
    ///
    /// * [`NoParts`](ShapeError::NoParts): there are no parts.
    /// * [`PartWithoutShape`](ShapeError::PartWithoutShape): a part is a default `Collider`.
    /// * The error of a part: the shape of the part is invalid.
    /// * [`MixedDimensions`](ShapeError::MixedDimensions): parts or poses have different
    ///   dimensions.
    /// * [`SurfaceInCompound`](ShapeError::SurfaceInCompound): a part is a surface.
    /// * [`Unbounded`](ShapeError::Unbounded): a part is a half-space.
    /// * [`PoseNotFinite`](ShapeError::PoseNotFinite): a pose is not finite.
    /// * [`PartTransform`](ShapeError::PartTransform): a `Transform` has a scale other than 1, or
    ///   in 2D a rotation about x or y.
    /// * [`BeyondF32`](ShapeError::BeyondF32): the bounding box of a part exceeds the range of f32.
    /// * [`NotFinite`](ShapeError::NotFinite): the support function of a [`custom`](Self::custom)
    ///   part returns NaN.
    pub fn try_compound<P: Into<QueryPose<Self>>>(
        parts: impl IntoIterator<Item = (P, Self)>,
    ) -> Result<Self, ShapeError> {
        let parts = parts.into_iter().map(|(pose, part)| (pose.into(), part));
        let parts: Vec<(QueryPose<Self>, Self)> = parts.collect();
        let (_, first) = parts.first().ok_or(ShapeError::NoParts)?;
        match first.shape() {
            AnyColliderShape::D3(_) => compound_in::<Vec3>(&parts),
            // If the first part has no shape, `compound_in` returns the error of that part.
            _ => compound_in::<Vec2>(&parts),
        }
    }

    /// Creates a surface of triangles: a level, terrain, or a prop that need not be solid.
    ///
    /// Each triangle is given by the indices of its three vertices.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn spawn_floor(mut commands: Commands) {
    ///     commands.spawn(Collider::trimesh(
    ///         [Vec3::ZERO, 8.0 * Vec3::Z, 8.0 * Vec3::X, Vec3::new(8.0, 0.0, 8.0)],
    ///         [[0, 1, 2], [2, 1, 3]],
    ///     ));
    /// }
    /// ```
    ///
    /// A surface has no interior: a shape that is wholly behind the surface touches nothing. The
    /// contacts do not depend on how the surface is divided into triangles:
    ///
    /// * If the core of the shape does not overlap the surface, the shape has a contact at each
    ///   local minimum of the distance. (The core of a ball is its center.) A seam between two
    ///   triangles adds no contact.
    /// * If the core overlaps triangles, the contact gives the shortest translation that clears
    ///   these triangles without taking the center through the surface.
    /// * The shape is pushed to the side of the surface on which the shape's center lies. A
    ///   compound is pushed as a whole. With [`one_sided`](Self::one_sided), only the outer side
    ///   collides.
    ///
    /// Triangles need not share vertices. Edges that differ by a few rounding errors of `f32` count
    /// as joined. A vertex on an edge is also joined to this edge. Duplicate triangles and
    /// triangles of opposite winding are allowed. Triangles of zero area touch nothing. The event's
    /// [`part`](crate::CollisionEvent::part) is the index of the triangle.
    ///
    /// The cost grows with the number of triangles that a shape touches. Use meshes of few
    /// triangles for levels, and primitives or hulls for moving bodies. The [guide to
    /// levels](crate::guide::levels) has drawings and advice.
    ///
    /// A half-space pushes a surface, like any other shape, along the normal of the half-space. Two
    /// surfaces touch where their triangles cross:
    ///
    /// * If one surface is at most half as large as the other, the smaller surface is treated as a
    ///   body. The center of this body is the center of the surface's bounding box in the surface's
    ///   own frame.
    /// * Otherwise, the surfaces are pushed apart along the normal with the smaller depth. Surfaces
    ///   are never pushed along the normal of a seam, or out of the back of a one-sided surface.
    ///
    /// [`try_trimesh`](Self::try_trimesh) lists the invalid inputs.
    pub fn trimesh(
        vertices: impl IntoIterator<Item = Vec3>,
        triangles: impl IntoIterator<Item = [u32; 3]>,
    ) -> Self {
        Self::try_trimesh(vertices, triangles).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`trimesh`](Self::trimesh), or an error if it is invalid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let error = Collider::try_trimesh([Vec3::X, Vec3::Y], [[0, 1, 2]]).unwrap_err();
    /// assert!(matches!(error, ShapeError::VertexOutOfRange { index: 2, count: 2 }));
    /// ```
    ///
    /// # Errors
    ///
    /// * [`NoFacets`](ShapeError::NoFacets): no triangle has a nonzero area. The area counts as
    ///   zero if the corners coincide, or lie on one line to 12 digits.
    /// * [`VertexOutOfRange`](ShapeError::VertexOutOfRange): the index of a vertex is too large.
    /// * [`NotFinite`](ShapeError::NotFinite): a vertex is NaN or infinite.
    /// * [`BeyondF32`](ShapeError::BeyondF32): the bounding box of a triangle exceeds the range of
    ///   f32.
    pub fn try_trimesh(
        vertices: impl IntoIterator<Item = Vec3>,
        triangles: impl IntoIterator<Item = [u32; 3]>,
    ) -> Result<Self, ShapeError> {
        surface(vertices, triangles)
    }

    /// Creates a 2D polyline, which joins each point to the next by a segment: the ground of a
    /// platformer, or a wall. The polyline is closed if the last point equals the first point.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn spawn_hills(mut commands: Commands) {
    ///     let heights = [0.0, 1.0, 0.5, 2.0].into_iter().enumerate();
    ///     let points = heights.map(|(x, height)| Vec2::new(-(x as f32), height));
    ///     commands.spawn(Collider::polyline(points));
    /// }
    /// ```
    ///
    /// A polyline is a surface without an interior: see [`trimesh`](Self::trimesh). The outer side
    /// is to the right of the direction from each point to the next. So list the points of a
    /// solid's outline counter-clockwise, and the points of the ground from right to left. Only
    /// [`one_sided`](Self::one_sided) distinguishes the sides.
    ///
    /// [`try_polyline`](Self::try_polyline) lists the invalid inputs.
    pub fn polyline(points: impl IntoIterator<Item = Vec2>) -> Self {
        Self::try_polyline(points).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`polyline`](Self::polyline), or an error if it is invalid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// assert!(matches!(Collider::try_polyline([Vec2::X]), Err(ShapeError::NoFacets(_))));
    /// ```
    ///
    /// # Errors
    ///
    /// * [`NoFacets`](ShapeError::NoFacets): there are fewer than two distinct points.
    /// * [`NotFinite`](ShapeError::NotFinite): a point is NaN or infinite.
    /// * [`BeyondF32`](ShapeError::BeyondF32): the bounding box of a segment exceeds the range of
    ///   f32.
    pub fn try_polyline(points: impl IntoIterator<Item = Vec2>) -> Result<Self, ShapeError> {
        let points: Vec<Vec2> = points.into_iter().collect();
        let count = u32::try_from(points.len()).unwrap_or(u32::MAX);
        let segments = (1..count).map(|end| [end - 1, end, end]);
        surface(points, segments)
    }

    /// Creates a 2D surface of segments, for example of many outlines. Each segment is given by the
    /// indices of its two ends.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// // Two platforms, each from right to left, so that they are solid below.
    /// let ends = [Vec2::new(4.0, 0.0), Vec2::ZERO, Vec2::new(9.0, 2.0), Vec2::new(6.0, 2.0)];
    /// let platforms = Collider::polyline_with_indices(ends, [[0, 1], [2, 3]]).one_sided();
    /// let ball = Collider::circle(0.5);
    /// let hit = query::contact(&platforms, Vec2::ZERO, &ball, Vec2::new(7.0, 2.25)).unwrap();
    /// assert_eq!((hit.normal, hit.depth), (Vec3::Y, 0.25));
    /// ```
    ///
    /// The event's [`part`](crate::CollisionEvent::part) is the index of the segment. Otherwise,
    /// the result is the same as for a [`polyline`](Self::polyline).
    /// [`try_polyline_with_indices`](Self::try_polyline_with_indices) lists the invalid inputs.
    pub fn polyline_with_indices(
        vertices: impl IntoIterator<Item = Vec2>,
        segments: impl IntoIterator<Item = [u32; 2]>,
    ) -> Self {
        Self::try_polyline_with_indices(vertices, segments).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`polyline_with_indices`](Self::polyline_with_indices), or an error if it is
    /// invalid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let error = Collider::try_polyline_with_indices([Vec2::X, Vec2::Y], [[0, 2]]).unwrap_err();
    /// assert!(matches!(error, ShapeError::VertexOutOfRange { index: 2, count: 2 }));
    /// ```
    ///
    /// # Errors
    ///
    /// * [`NoFacets`](ShapeError::NoFacets): no segment has a nonzero length.
    /// * [`VertexOutOfRange`](ShapeError::VertexOutOfRange): the index of a vertex is too large.
    /// * [`NotFinite`](ShapeError::NotFinite): a vertex is NaN or infinite.
    /// * [`BeyondF32`](ShapeError::BeyondF32): the bounding box of a segment exceeds the range of
    ///   f32.
    pub fn try_polyline_with_indices(
        vertices: impl IntoIterator<Item = Vec2>,
        segments: impl IntoIterator<Item = [u32; 2]>,
    ) -> Result<Self, ShapeError> {
        let segments = segments.into_iter().map(|[start, end]| [start, end, end]);
        surface(vertices, segments)
    }

    /// Creates a height field: a grid of heights along y over the xz plane, centered on the origin.
    ///
    /// `size` is the full length along x and z. The first `columns` heights are the row with the
    /// lowest z, in order of increasing x.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn spawn_hill(mut commands: Commands) {
    ///     let heights = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    ///     commands.spawn(Collider::heightfield(Vec2::new(10.0, 10.0), 3, &heights));
    /// }
    /// ```
    ///
    /// The result is a [`trimesh`](Self::trimesh) with two triangles per cell and its outer side
    /// up. In 2D, use a [`polyline`](Self::polyline) instead. The cell at row z and column x is
    /// divided by the diagonal from (x + 1, z) to (x, z + 1). The triangle with the corner (x, z)
    /// has the index 2 (z (columns - 1) + x), and the other triangle has the next index. An event's
    /// [`part`](crate::CollisionEvent::part) is this index.
    ///
    /// [`try_heightfield`](Self::try_heightfield) lists the invalid inputs.
    pub fn heightfield(size: Vec2, columns: usize, heights: &[f32]) -> Self {
        Self::try_heightfield(size, columns, heights).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`heightfield`](Self::heightfield), or an error if it is invalid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let error = Collider::try_heightfield(Vec2::ONE, 2, &[0.0, 1.0, 2.0]).unwrap_err();
    /// assert_eq!(error, ShapeError::HeightCount);
    /// ```
    ///
    /// # Errors
    ///
    /// * [`HeightCount`](ShapeError::HeightCount): the number of heights is not a multiple of the
    ///   number of columns, or there are fewer than two rows or columns.
    /// * [`NotFinite`](ShapeError::NotFinite): the size or a height is NaN or infinite.
    /// * [`BeyondF32`](ShapeError::BeyondF32): the bounding box of a triangle exceeds the range of
    ///   f32.
    /// * [`Negative`](ShapeError::Negative), [`Zero`](ShapeError::Zero): the size along x or z is
    ///   negative or 0.
    /// * [`NoFacets`](ShapeError::NoFacets): no cell has a nonzero area, because the size is too
    ///   small for `f32`.
    /// * [`VertexOutOfRange`](ShapeError::VertexOutOfRange): there are more than 2³² heights.
    pub fn try_heightfield(
        size: Vec2,
        columns: usize,
        heights: &[f32],
    ) -> Result<Self, ShapeError> {
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 || rows * columns != heights.len() {
            return Err(ShapeError::HeightCount);
        }
        if heights.iter().any(|height| !height.is_finite()) {
            return Err(ShapeError::NotFinite("height"));
        }
        ShapeError::check_lengths("size", size)?;
        if size.x == 0.0 || size.y == 0.0 {
            return Err(ShapeError::Zero("size"));
        }
        let fraction = |number: usize, count: usize| number as f32 / (count - 1) as f32 - 0.5;
        let vertices = heights.iter().enumerate().map(|(number, height)| {
            let (x, z) = (number % columns, number / columns);
            Vec3::new(
                size.x * fraction(x, columns),
                *height,
                size.y * fraction(z, rows),
            )
        });
        let cells = (0..rows - 1).flat_map(|z| (0..columns - 1).map(move |x| z * columns + x));
        let triangles = cells.flat_map(|corner| {
            let [a, b, c, d] = [corner, corner + 1, corner + columns, corner + columns + 1]
                .map(|number| u32::try_from(number).unwrap_or(u32::MAX));
            [[a, c, b], [b, c, d]]
        });
        surface(vertices, triangles)
    }

    /// Joins the parts of this compound: the result is the union of the parts, as one solid. Use it
    /// for ground that consists of several shapes, so that bodies do not catch between two parts.
    /// Colliders of other kinds are returned unchanged.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// // Two slabs and a ramp, as one floor.
    /// let slab = Collider::rectangle(4.0, 1.0);
    /// let ramp = Collider::triangle(Vec2::ZERO, Vec2::new(2.0, 0.0), Vec2::new(2.0, 1.0));
    /// let floor = Collider::compound([
    ///     (Vec2::new(-2.0, -0.5), slab.clone()),
    ///     (Vec2::new(2.0, -0.5), slab),
    ///     (Vec2::new(1.0, 0.0), ramp),
    /// ])
    /// .joined();
    /// // A box overlaps both slabs at their common side, and is pushed up.
    /// let crate_box = Collider::rectangle(1.0, 1.0);
    /// let hit = query::contact(&floor, Vec2::ZERO, &crate_box, Vec2::new(-0.2, 0.4)).unwrap();
    /// assert!(hit.normal.distance(Vec3::Y) < 1e-6 && (hit.depth - 0.1).abs() < 1e-6);
    /// ```
    ///
    /// Parts may overlap, touch, or be apart. They may be turned, and a corner of one part may
    /// touch the middle of a side of another part. Parts that are apart by a few roundings of f32
    /// count as touching: at most 9.5e-7 of the greatest |x| + |y| + |z| of their vertices.
    ///
    /// The faces inside the union do not exist, neither in contacts, casts and rays nor in
    /// `move_and_slide`. A body whose center is inside touches the union, and the contact is a
    /// short way out. Otherwise, the contacts are those of a [`one_sided`](Self::one_sided)
    /// surface of the exposed faces, as for [`cells`](Self::cells).
    ///
    /// The event's [`part`](crate::CollisionEvent::part) is the index of an exposed face, of which
    /// [`joined_part`](Self::joined_part) returns the part of the compound.
    ///
    /// The exposed faces are found once, here. So join the parts of rigid ground, not of bodies
    /// that change their shapes. If the union touches a mesh or another union, only the larger
    /// of the two can have an interior, and only if the smaller one is at most half as large.
    ///
    /// If the parts cannot be joined, the result is [inert](Self::is_inert):
    /// [`try_joined`](Self::try_joined) lists the reasons.
    #[must_use]
    pub fn joined(self) -> Self {
        self.try_joined().unwrap_or_else(Self::rejected)
    }

    /// Returns the [`joined`](Self::joined) compound, or an error if its parts cannot be joined.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let balls = Collider::compound([(Vec2::ZERO, Collider::circle(1.0))]);
    /// assert_eq!(balls.try_joined().unwrap_err(), ShapeError::PartNotPolyhedral);
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PartNotPolyhedral`](ShapeError::PartNotPolyhedral): a part is flat, or has a curved
    ///   side. The parts may be boxes, polygons, convex hulls, tetrahedra, and extrusions of
    ///   polygons.
    /// * [`PartMargins`](ShapeError::PartMargins): some parts have different
    ///   [margins](Self::rounded). Equal margins become the margin around the union.
    /// * [`TooManyPoints`](ShapeError::TooManyPoints): a part has more than 1,024 vertices.
    pub fn try_joined(self) -> Result<Self, ShapeError> {
        Ok(match self.shape {
            AnyColliderShape::D2(shape) => Self::of_shape(shape.joined()?),
            AnyColliderShape::D3(shape) => Self::of_shape(shape.joined()?),
            _ => self,
        })
    }

    /// Returns the index of the part of a [`joined`](Self::joined) compound that has a face. `part`
    /// is the index of the face, from a [`CollisionEvent`](crate::CollisionEvent) or from the hit
    /// of a ray, a cast or a slide. Returns `None` if the collider is not a joined compound.
    ///
    /// If a body touches several parts in the plane of a contact, each of these parts has a
    /// contact.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{prelude::*, query::Ray};
    ///
    /// let slab = Collider::rectangle(4.0, 1.0);
    /// let slabs = [(Vec2::new(-2.0, -0.5), slab.clone()), (Vec2::new(2.0, -0.5), slab)];
    /// let floor = Collider::compound(slabs).joined();
    /// let ray = Ray::new(Vec2::new(3.0, 2.0), Vec2::NEG_Y);
    /// let hit = query::cast_ray(&floor, Vec2::ZERO, ray).unwrap();
    /// assert_eq!(floor.joined_part(hit.part), Some(1));
    /// ```
    pub fn joined_part(&self, part: u32) -> Option<u32> {
        fn of<V: Dimension>(collider: &Collider, part: u32) -> Option<u32> {
            let ColliderShape::Compound(compound) = V::body_of(collider.shape())? else {
                return None;
            };
            compound.surface()?.joined_parts()?.part_of_facet(part)
        }
        of::<Vec2>(self, part).or_else(|| of::<Vec3>(self, part))
    }

    /// Makes this surface one-sided: a shape whose center is behind a facet passes through that
    /// facet. Colliders of other kinds are returned unchanged.
    ///
    #[cfg_attr(
        doc,
        doc = "![A ball whose center is below the floor is ignored][one-sided]\n\n"
    )]
    #[cfg_attr(doc, doc = include_str!("../../docs/pictures.md"))]
    /// The outer side of a triangle is the side from which its corners appear counter-clockwise.
    /// The outer side of a polyline is to the right of its direction. A mirroring scale does not
    /// swap the sides.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// // The ground runs from right to left, so its outer side is the upper side.
    /// let ground = Collider::polyline([Vec2::new(9.0, 0.0), Vec2::new(-9.0, 0.0)]).one_sided();
    /// assert!(!ground.is_inert());
    /// ```
    ///
    /// Use one-sided surfaces for terrain, rooms and closed models whose facets all have the same
    /// winding. A one-sided facet never pulls a shape through from behind. Models of mixed winding,
    /// and sheets that collide from both sides, should be two-sided.
    ///
    /// A one-sided surface is not enough for a platform that characters jump through. As soon as a
    /// character's center is above the platform, the character is pushed up by half of its height.
    /// For such a platform, use [`OneWay`](crate::OneWay) instead.
    #[must_use]
    pub fn one_sided(self) -> Self {
        match self.shape {
            AnyColliderShape::D2(shape) => Self::of_shape(shape.one_sided()),
            AnyColliderShape::D3(shape) => Self::of_shape(shape.one_sided()),
            _ => self,
        }
    }
}

fn compound_in<V: Dimension>(
    parts: &[(QueryPose<Collider>, Collider)],
) -> Result<Collider, ShapeError> {
    let mut shapes = Vec::new();
    for (pose, collider) in parts {
        let shape = V::body_of(collider.shape()).ok_or_else(|| match collider.shape() {
            AnyColliderShape::Inert | AnyColliderShape::NoCells(_) => ShapeError::PartWithoutShape,
            AnyColliderShape::Rejected(error) => *error,
            AnyColliderShape::D2(_) | AnyColliderShape::D3(_) => ShapeError::MixedDimensions,
        })?;
        let pose = pose.part_pose::<V>()?;
        match shape {
            ColliderShape::Convex(shape) => shapes.push((pose, shape.clone())),
            ColliderShape::Compound(compound) => match compound.parts() {
                (CompoundParts::Surface(_), _) => return Err(ShapeError::SurfaceInCompound),
                (CompoundParts::Shapes(inner), margin) => {
                    for (inner_pose, shape) in inner {
                        let shape = shape.clone().rounded(margin)?;
                        shapes.push((pose.after(inner_pose), shape));
                    }
                }
            },
        }
    }
    Compound::new(CompoundParts::Shapes(shapes.into()), 0.0).map(of_compound)
}

fn surface<V: Dimension>(
    vertices: impl IntoIterator<Item = V>,
    facets: impl IntoIterator<Item = [u32; 3]>,
) -> Result<Collider, ShapeError> {
    let vertices = vertices.into_iter().collect();
    let mesh = MeshSurface::new(vertices, facets.into_iter().collect())?;
    let parts = CompoundParts::Surface(Surface::Mesh(mesh));
    Compound::new(parts, 0.0).map(of_compound)
}

fn of_compound<V: Dimension>(compound: Compound<V>) -> Collider {
    Collider::of_shape(ColliderShape::Compound(compound))
}
