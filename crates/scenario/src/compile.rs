//! Who makes algorithms of the source text in a scenario.

use linkpool_transport::control::Definition;

/// Compiles congestion control algorithms.
pub trait Compile {
    /// The algorithms that `source`, the text of `file`, defines. The same text gives the same
    /// definitions.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, with the line in it.
    fn compile(&self, file: &str, source: &str) -> Result<Vec<&'static Definition>, String>;
}

/// Somebody without a compiler.
#[derive(Clone, Copy, Debug)]
pub struct NoCompiler;

impl Compile for NoCompiler {
    fn compile(&self, _: &str, _: &str) -> Result<Vec<&'static Definition>, String> {
        Err("algorithms in Python do not run here; leave `controls` out, and name one of linkpool's own in `control`"
            .to_string())
    }
}
