//! The rays and casts of [`SpatialQuery`](crate::SpatialQuery), recorded for the debug drawing.
//!
//! Queries call [`QueryLog::add_ray`] and [`QueryLog::add_cast`]. The drawing reads the log once
//! per frame.
//!
//! Only the debug drawing adds the log to the app. Without the log, or while it is off, a query
//! records nothing. Fixed steps do not run in every frame. So the queries of the last step stay in
//! a separate list until the next step. Otherwise, their lines would flicker.
#![cfg_attr(
    not(feature = "debug-plugin"),
    allow(dead_code, reason = "only the debug drawing reads the log")
)]

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bevy::prelude::*;

use crate::{
    Collider,
    math::Vec3,
    query::{CastHit, Motion, Ray, RayHit},
    space::Space,
};

/// The maximum number of queries in a list.
const LIMIT: usize = 4096;

/// A query and its first hit.
#[derive(Clone, Debug)]
pub enum LoggedQuery {
    Ray {
        origin: Vec3,
        direction: Vec3,
        /// The distance of the hit, or the maximum distance of the ray.
        length: f32,
        /// The normal at the hit.
        normal: Option<Vec3>,
    },
    /// The cast is boxed, because it is much larger than a ray.
    Cast(Box<(Collider, Motion<Collider>, Option<CastHit<Vec3>>)>),
}

/// The recorded queries. Queries of several systems may be recorded at the same time.
#[derive(Resource, Debug, Default)]
pub struct QueryLog {
    is_on: AtomicBool,
    lists: Mutex<QueryLists>,
}

#[derive(Debug, Default)]
struct QueryLists {
    /// `true` while the fixed steps of a frame run.
    is_in_step: bool,
    /// The queries of the last fixed step.
    step: Vec<LoggedQuery>,
    /// The queries outside of fixed steps since the last frame.
    frame: Vec<LoggedQuery>,
}

impl QueryLog {
    /// Begins a fixed step, and removes the queries of the previous step.
    pub fn begin_step(&self) {
        let mut lists = self.lists();
        lists.is_in_step = true;
        lists.step.clear();
    }

    /// Ends the fixed steps of a frame.
    pub fn end_steps(&self) {
        self.lists().is_in_step = false;
    }

    /// Returns the queries of the last fixed step, and the other queries since the last call. This
    /// call removes the other queries, and turns the log on.
    pub fn take(&self) -> Vec<LoggedQuery> {
        self.is_on.store(true, Ordering::Relaxed);
        let QueryLists { step, frame, .. } = &mut *self.lists();
        step.iter().cloned().chain(frame.drain(..)).collect()
    }

    /// Turns the log off, and frees its memory.
    pub fn turn_off(&self) {
        if self.is_on.swap(false, Ordering::Relaxed) {
            let mut lists = self.lists();
            (lists.step, lists.frame) = (Vec::new(), Vec::new());
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
        motion: &Motion<Collider>,
        hit: Option<&CastHit<Vec3>>,
    ) {
        self.add(|| LoggedQuery::Cast(Box::new((collider.clone(), *motion, hit.copied()))));
    }

    fn add(&self, query: impl FnOnce() -> LoggedQuery) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let lists = &mut *self.lists();
        let list = if lists.is_in_step {
            &mut lists.step
        } else {
            &mut lists.frame
        };
        if list.len() < LIMIT {
            list.push(query());
        }
    }

    /// Locks the lists, which stay valid even after a panic.
    fn lists(&self) -> MutexGuard<'_, QueryLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
