//! Settings of a struct that applies as a whole, or not.

use linkpool_settings::{
    Bounds, Condition, Declared, Gated, Kinds, Preset, Setting, Settings, State, Visit, Written, Wrong, settings,
};

settings! {
    /// Parameters of a window.
    pub struct Window {
        /// Initial window,
        /// packets.
        initial: u32 = 10, paper_2013 = 1, within Bounds::POSITIVE;
        /// Does it grow in slow start?
        slow_start: bool = true;
        /// Packets by which it grows at most.
        growth: u32 = 2, when |c| c.slow_start => "`slow_start = true`";
    }
}

/// What was shown: key, documentation, whether it applies, and its condition.
#[derive(Default)]
struct Shown(Vec<(&'static str, String, bool, Option<Condition>)>);

impl Visit for Shown {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, _: &mut T, state: State) {
        self.0.push((setting.key, setting.text(), state.applies, state.condition));
    }

    fn table<S: Declared>(&mut self, _: &'static str, _: &'static [&'static str], _: &mut Option<S>, _: Option<Wrong>) {
        unreachable!("there is none");
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, _: &mut K) {
        unreachable!("there is none");
    }

    fn preset(&self) -> Preset {
        Preset::Paper2013
    }
}

const GATE: Condition = "`control = \"x\"`";

/// What is shown of settings that apply as a whole, or not.
fn shown(applies: bool, slow_start: bool) -> Vec<(&'static str, bool, Option<Condition>)> {
    let mut shown = Shown::default();
    let mut window = Window { slow_start, ..Window::defaults(Preset::Linux) };
    window.each(&mut Gated { visit: &mut shown, applies, condition: GATE });
    shown.0.into_iter().map(|(key, _, applies, condition)| (key, applies, condition)).collect()
}

#[test]
fn a_condition_is_that_of_the_struct_unless_the_setting_s_own_is_what_fails() {
    let own = Some("`slow_start = true`");
    let gate = Some(GATE);
    assert_eq!(shown(true, true), [("initial", true, gate), ("slow_start", true, gate), ("growth", true, own)]);
    assert_eq!(shown(true, false), [("initial", true, gate), ("slow_start", true, gate), ("growth", false, own)]);
    for slow_start in [false, true] {
        let all = shown(false, slow_start);
        assert_eq!(all, [("initial", false, gate), ("slow_start", false, gate), ("growth", false, gate)]);
    }
}

#[test]
fn the_preset_is_that_of_the_visitor() {
    let gated = Gated { visit: &mut Shown::default(), applies: true, condition: GATE };
    assert_eq!(gated.preset(), Preset::Paper2013);
    let presets = [Preset::Linux, Preset::Paper2013];
    assert_eq!(presets.map(|preset| Window::defaults(preset).initial), [10, 1]);
}

#[test]
fn documentation_is_one_line() {
    let mut shown = Shown::default();
    Window::defaults(Preset::Linux).each(&mut shown);
    let texts: Vec<&str> = shown.0.iter().map(|(_, text, ..)| text.as_str()).collect();
    let wanted = ["Initial window, packets.", "Does it grow in slow start?", "Packets by which it grows at most."];
    assert_eq!(texts, wanted);
}
