//! The rays and casts of [`SpatialQuery`], recorded for the debug drawing.
//!
//! Nothing is recorded unless the drawing has turned the log on: a query then only reads a flag. As
//! the fixed steps do not run in every frame, their queries have a list of their own, which is kept
//! until the next step. Otherwise their lines would flicker.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bevy::prelude::*;

use crate::{
    Collider, ColliderMotion,
    math::Vec3,
    query::{CastHit, Ray, RayHit},
    space::Space,
};

/// Maximum number of queries in a list.
const LIMIT: usize = 4096;

/// A query and its first hit.
#[derive(Clone, Debug)]
pub enum LoggedQuery {
    Ray {
        origin: Vec3,
        direction: Vec3,
        /// The length up to the hit, or the maximum.
        length: f32,
        /// The normal at the hit.
        normal: Option<Vec3>,
    },
    Cast(Box<LoggedCast>),
}

/// A moving shape and its first hit.
#[derive(Clone, Debug)]
pub struct LoggedCast {
    pub collider: Collider,
    pub motion: ColliderMotion,
    pub hit: Option<CastHit<Vec3>>,
}

/// The recorded queries. Queries of several systems may be recorded at the same time.
#[derive(Resource, Debug, Default)]
pub struct QueryLog {
    is_on: AtomicBool,
    is_in_step: AtomicBool,
    step: Mutex<Vec<LoggedQuery>>,
    frame: Mutex<Vec<LoggedQuery>>,
}

impl QueryLog {
    /// Begins a fixed step, and forgets the queries of the previous one.
    pub fn begin_step(&self) {
        self.is_in_step.store(true, Ordering::Relaxed);
        lock(&self.step).clear();
    }

    /// Ends the fixed steps of a frame.
    pub fn end_steps(&self) {
        self.is_in_step.store(false, Ordering::Relaxed);
    }

    /// Returns the queries of the last fixed step, and removes and returns those since the last
    /// call. Turns the log on.
    pub fn take(&self) -> Vec<LoggedQuery> {
        self.is_on.store(true, Ordering::Relaxed);
        let mut queries = lock(&self.step).clone();
        queries.append(&mut lock(&self.frame));
        queries
    }

    /// Turns the log off, and frees its memory.
    pub fn turn_off(&self) {
        if self.is_on.swap(false, Ordering::Relaxed) {
            *lock(&self.step) = Vec::new();
            *lock(&self.frame) = Vec::new();
        }
    }

    /// Records a ray and its first hit.
    pub fn add_ray<V: Space>(&self, ray: &Ray<V>, hit: Option<&RayHit<V>>) {
        self.add(|| LoggedQuery::Ray {
            origin: ray.origin.to_vec3(),
            direction: ray.direction.to_vec3(),
            length: hit.map_or(ray.max_distance, |hit| hit.distance),
            normal: hit.map(|hit| hit.normal.to_vec3()),
        });
    }

    /// Records a cast and its first hit.
    pub fn add_cast(
        &self,
        collider: &Collider,
        motion: &ColliderMotion,
        hit: Option<&CastHit<Vec3>>,
    ) {
        self.add(|| {
            LoggedQuery::Cast(Box::new(LoggedCast {
                collider: collider.clone(),
                motion: *motion,
                hit: hit.copied(),
            }))
        });
    }

    fn add(&self, query: impl FnOnce() -> LoggedQuery) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let is_in_step = self.is_in_step.load(Ordering::Relaxed);
        let mut list = lock(if is_in_step { &self.step } else { &self.frame });
        if list.len() < LIMIT {
            list.push(query());
        }
    }
}

/// Locks a list. A list is valid after a panic, too.
fn lock(list: &Mutex<Vec<LoggedQuery>>) -> MutexGuard<'_, Vec<LoggedQuery>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
