// Labels of axes that do not touch each other.

/** The width of a label of 12 pixels, a little too wide rather than too narrow. */
export const labelWidth = (text: string): number => 6.9 * text.length;

/** Values of a logarithmic axis of `width` pixels that have room for their labels, the roundest first. */
export function sizeTicks(sizes: number[], width: number, write: (value: number) => string): number[] {
  const low = Math.min(...sizes), high = Math.max(...sizes);
  const span = Math.log(high / low) || 1;
  const distinct = [...new Set(sizes)];
  const round: number[] = [];
  for (const digit of [1, 5, 2]) {
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) round.push(digit * 10 ** power);
  }
  // Few sizes are their own labels, the ends first; of many those of round values.
  const wanted = distinct.length <= 6 ? [low, high, ...distinct] : round.filter((value) => value >= low && value <= high);
  const taken: { value: number; at: number; half: number }[] = [];
  for (const value of wanted) {
    const at = (Math.log(value / low) / span) * width, half = labelWidth(write(value)) / 2 + 4;
    if (taken.every((other) => Math.abs(other.at - at) > other.half + half)) taken.push({ value, at, half });
  }
  return taken.map((one) => one.value).sort((a, b) => a - b);
}

/** The decimals with which all multiples of `step` are written in full: 2 of 0.25. */
export function decimals(step: number): number {
  for (let n = 0; n < 12; n++) {
    const whole = Math.round(step * 10 ** n);
    if (whole > 0 && Math.abs(step * 10 ** n - whole) < 1e-6 * whole) return n;
  }
  return 12;
}
