//! The period that statistics are about.

use linkpool_settings::NoNames;

use super::Period;
use super::section::Section;
use super::settings::table;
use crate::model::Measure;

pub(super) fn resolve(period: Option<Period>, top: &mut Section<'_, '_>) -> Measure {
    let mut measure: Measure = table("measure", &NoNames, top);
    let (Some(Period { duration, end }), true) = (period, top.has("measure")) else {
        measure.cut_off = period.map_or(measure.cut_off, |period| period.duration);
        return measure;
    };
    top.within("measure", |section| {
        let warm_up = measure.warm_up;
        if warm_up >= duration {
            let message = format!("{warm_up} is not before `duration`, {duration}, at which the last flows start");
            return section.error("warm_up", message);
        }
        let cut_off = if section.has("cut_off") { measure.cut_off } else { duration };
        section.check(cut_off <= end, "cut_off", format!("{cut_off} is after the end of the run at {end}"));
        let message = format!("leaves no time to measure: `cut_off`, {cut_off}, must be after `warm_up`, {warm_up}");
        section.check(cut_off > warm_up, "cut_off", message);
        measure.cut_off = cut_off;
    });
    measure
}
