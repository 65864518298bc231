//! The period that statistics are about.

use linkpool_units::Time;

use super::Period;
use super::section::Section;
use crate::file::MeasureTable;
use crate::model::Measure;

pub(super) fn resolve(table: &MeasureTable, period: Option<Period>, section: &mut Section<'_, '_>) -> Option<Measure> {
    let Period { duration, end } = period?;
    let warm_up = table.warm_up.unwrap_or(Time::ZERO);
    if warm_up >= duration {
        let message = format!("{warm_up} is not before `duration`, {duration}, at which the last flows start");
        section.error("warm_up", message);
        return None;
    }
    let cut_off = table.cut_off.unwrap_or(duration);
    section.check(cut_off <= end, "cut_off", format!("{cut_off} is after the end of the run at {end}"));
    let message = format!("leaves no time to measure: `cut_off`, {cut_off}, must be after `warm_up`, {warm_up}");
    section.check(cut_off > warm_up, "cut_off", message);
    section.is_good().then_some(Measure { warm_up, cut_off })
}
