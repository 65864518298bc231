//! Programs of ranks as files say them: tests that need `linkpool-formats`, which stands above this
//! crate.

mod channels;
mod check;
mod interfaces;
