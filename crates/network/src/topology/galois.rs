//! Finite fields, of which Slim Flies are made.

/// The field of q elements, where q is a power of a prime p. An element is a polynomial over the
/// integers modulo p, as a number: its digits to the base p are the coefficients.
#[derive(Debug)]
pub(super) struct Field {
    p: u32,
    /// The powers of a primitive element, from 1 on.
    powers: Vec<u32>,
    /// By element other than 0: which power it is.
    exponents: Vec<usize>,
}

/// The prime of which `q` is a power; none if there is none.
pub(super) fn prime_of_power(q: u32) -> Option<u32> {
    let p = (2..=q).find(|divisor| q.is_multiple_of(*divisor))?;
    std::iter::successors(Some(q), |left| left.is_multiple_of(p).then(|| left / p)).any(|left| left == 1).then_some(p)
}

impl Field {
    /// The field of `q` elements, a power of a prime. Its primitive element is x, and x^n, where q =
    /// p^n, is the smallest number with which that is primitive; so with n = 1 the element is the
    /// smallest primitive root modulo p.
    pub(super) fn new(q: u32) -> Field {
        let p = prime_of_power(q).expect("the size of a field is a power of a prime");
        let powers = (1..q).find_map(|top| primitive_powers(p, q, top)).expect("each field has a primitive element");
        let mut exponents = vec![0; q as usize];
        powers.iter().enumerate().for_each(|(exponent, power)| exponents[*power as usize] = exponent);
        Field { p, powers, exponents }
    }

    /// Power `exponent` of the primitive element.
    pub(super) fn power(&self, exponent: usize) -> u32 {
        self.powers[exponent % self.powers.len()]
    }

    pub(super) fn add(&self, a: u32, b: u32) -> u32 {
        add(self.p, a, b)
    }

    /// a - b.
    pub(super) fn subtract(&self, a: u32, b: u32) -> u32 {
        // p - 1 is -1 modulo p.
        add(self.p, a, scale(self.p, b, self.p - 1))
    }

    pub(super) fn multiply(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power(self.exponents[a as usize] + self.exponents[b as usize])
    }
}

/// The powers of x from 1 on, where x^n = `top` and q = p^n; none if they are not all elements but 0.
fn primitive_powers(p: u32, q: u32, top: u32) -> Option<Vec<u32>> {
    let high = q / p;
    let times_x = |a: u32| add(p, a % high * p, scale(p, top, a / high));
    let mut powers = vec![1];
    let mut next = times_x(1);
    while next > 1 && powers.len() < q as usize {
        powers.push(next);
        next = times_x(next);
    }
    (next == 1 && powers.len() == q as usize - 1).then_some(powers)
}

/// The sum of two polynomials over the integers modulo `p`.
fn add(p: u32, a: u32, b: u32) -> u32 {
    if a == 0 && b == 0 { 0 } else { (a % p + b % p) % p + p * add(p, a / p, b / p) }
}

/// A polynomial times `factor`, modulo `p`.
fn scale(p: u32, a: u32, factor: u32) -> u32 {
    if a == 0 { 0 } else { a % p * factor % p + p * scale(p, a / p, factor) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axioms of a field, for all elements. In that of 9 elements with x^2 = x + 1, (x + 1)^2 =
    /// x^2 + 2 x + 1 = 3 x + 2 = 2: 4 * 4 = 2.
    #[test]
    fn a_field_is_one() {
        for q in [2, 3, 4, 5, 7, 8, 9, 16, 25, 27] {
            let f = Field::new(q);
            let all = || 0..q;
            for a in all() {
                assert_eq!((f.add(a, 0), f.multiply(a, 1), f.subtract(a, a)), (a, a, 0));
                assert!(a == 0 || all().filter(|b| f.multiply(a, *b) == 1).count() == 1, "{a} of {q}");
                for b in all() {
                    assert_eq!((f.add(a, b), f.multiply(a, b)), (f.add(b, a), f.multiply(b, a)));
                    assert_eq!(f.add(f.subtract(a, b), b), a);
                    for c in all() {
                        assert_eq!(f.multiply(f.multiply(a, b), c), f.multiply(a, f.multiply(b, c)));
                        assert_eq!(f.multiply(a, f.add(b, c)), f.add(f.multiply(a, b), f.multiply(a, c)));
                    }
                }
            }
        }
        let f = Field::new(9);
        assert_eq!((f.multiply(3, 3), f.multiply(4, 4)), (4, 2));
        assert_eq!([5, 7, 11].map(|q| Field::new(q).power(1)), [2, 3, 2]);
    }

    #[test]
    fn powers_of_primes_are_known() {
        let powers: Vec<u32> = (0..33).filter(|q| prime_of_power(*q).is_some()).collect();
        assert_eq!(powers, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
        assert_eq!(prime_of_power(27), Some(3));
    }
}
