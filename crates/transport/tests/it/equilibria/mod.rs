//! Equilibria of congestion control algorithms under given loss or mark probabilities, against the
//! theory's numbers.
//!
//! `docs/equilibria` has the same with the network simulated, and plots.

mod coupled;
mod ideal;
mod marks;
mod tcp;

/// `measured` is within `tolerance` of `theory`.
#[track_caller]
fn close(what: &str, measured: f64, theory: f64, tolerance: f64) {
    let off = measured / theory - 1.0;
    println!("{what}: {measured:.4}, theory {theory:.4}, {:+.1}%", 100.0 * off);
    assert!(off.abs() <= tolerance, "{what}: {measured} is {:.1}% off the theory's {theory}", 100.0 * off);
}
