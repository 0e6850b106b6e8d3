//! The polytope of EPA, in both dimensions. EPA calls the methods of [`Polytope`].

/// A facet of EPA's polytope: an edge in 2D, and a triangle in 3D.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolytopeFacet<D> {
    /// The outward unit normal.
    pub normal: D,
    /// The plane's distance from the origin: `normal · p` for each point p of the facet's plane.
    /// The distance is negative if the origin is beyond the plane.
    pub distance: f64,
    /// The indices of the facet's vertices. In 2D, the third index is unused.
    pub vertices: [u16; 3],
    /// The index of the facet in its polytope.
    pub index: usize,
}

/// The reason why EPA cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpaEnd {
    /// There is no capacity for more vertices or facets.
    Full,
    /// Because of rounding, a vertex repeats, no facet has an area, or the facets that are visible
    /// from a vertex are not bounded by one simple loop. Another cause is a support point that is
    /// not finite.
    Stuck,
}

/// The convex body of EPA: an inner approximation of the Minkowski difference, which grows with
/// each added point.
///
/// A polytope stores the indices of its vertices. The caller stores their coordinates and passes
/// them as `points`. The default is an empty polytope. A polytope is large, so
/// [`begin`](Self::begin) fills it in place.
pub trait Polytope<D>: Default {
    /// Fills an empty polytope with the simplex of the first `DIMENSION + 1` points. Returns `None`
    /// if these points span no volume.
    fn begin(&mut self, points: &[D]) -> Option<()>;

    /// Returns the distances of all facets' planes from the origin, by facet index. The distance is
    /// infinite for a facet that has no area or is no longer part of the boundary.
    fn distances(&self) -> &[f64];

    /// Returns the facet at an index.
    fn facet(&self, index: usize) -> Option<PolytopeFacet<D>>;

    /// Adds the last of `points`, which is beyond the plane of facet `beyond`. A point within
    /// `tolerance` of a plane counts as on the plane. An error leaves the polytope unchanged.
    fn grow(
        &mut self,
        points: &[D],
        beyond: &PolytopeFacet<D>,
        tolerance: f64,
    ) -> Result<(), EpaEnd>;

    /// Returns the facet of nonzero area with the smallest (signed) distance from the origin.
    fn nearest(&self) -> Option<PolytopeFacet<D>> {
        // The loop finds the minimum, four distances at a time and without a branch. Then the index
        // of the minimum is found.
        let lesser = |a: f64, b: f64| if b < a { b } else { a };
        let (fours, rest) = self.distances().as_chunks::<4>();
        let [mut a, mut b, mut c, mut d] = [f64::INFINITY; 4];
        for [of_a, of_b, of_c, of_d] in fours {
            a = lesser(a, *of_a);
            b = lesser(b, *of_b);
            c = lesser(c, *of_c);
            d = lesser(d, *of_d);
        }
        let mut least = lesser(lesser(a, b), lesser(c, d));
        for distance in rest {
            least = lesser(least, *distance);
        }
        if least == f64::INFINITY {
            return None;
        }
        let mut numbered = self.distances().iter().enumerate();
        let (index, _) = numbered.find(|(_, distance)| **distance == least)?;
        self.facet(index)
    }

    /// Returns all facets of nonzero area.
    fn facets(&self) -> impl Iterator<Item = PolytopeFacet<D>> {
        let facets = self.distances().iter().enumerate();
        let with_area = facets.filter(|(_, distance)| **distance < f64::INFINITY);
        with_area.filter_map(|(index, _)| self.facet(index))
    }
}
