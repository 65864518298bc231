//! The results of a run: outcomes, and the tables in which they are written.

pub(crate) mod changes_table;
pub(crate) mod column;
pub(crate) mod elsewhere;
pub(crate) mod event;
pub(crate) mod flows_table;
pub(crate) mod ideal;
pub(crate) mod iterations;
pub(crate) mod jobs;
pub(crate) mod jobs_table;
pub(crate) mod links_table;
pub(crate) mod outcome;
pub(crate) mod passing;
mod pauses_table;
pub(crate) mod ranks_table;
pub(crate) mod read;
pub(crate) mod readable;
pub(crate) mod requests_table;
pub(crate) mod sample;
pub(crate) mod series;
pub(crate) mod sink;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod tables;
mod tiers_table;
pub(crate) mod ways;
pub(crate) mod workloads_table;
