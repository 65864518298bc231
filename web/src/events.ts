// What may befall a flow, and how its ticks look: names of colours, widths in pixels, lengths as shares of the lane.

export const KINDS: Record<string, { name: string; colour: string; width: number; length: number }> = {
  mark: { name: "marked ACK", colour: "mark", width: 1, length: 0.18 },
  trim: { name: "packet trimmed", colour: "loss", width: 1, length: 0.35 },
  loss: { name: "packet lost", colour: "loss", width: 2, length: 0.55 },
  pause: { name: "held back by a pause", colour: "paused", width: 2, length: 0.7 },
  timeout: { name: "timeout", colour: "timeout", width: 2.5, length: 1 },
  probe: { name: "tail loss probe", colour: "timeout", width: 1.5, length: 0.55 },
  recovery: { name: "fast recovery", colour: "recovery", width: 1.5, length: 0.4 },
  suppressed: { name: "subflow suppressed", colour: "mark", width: 2.5, length: 1 },
  released: { name: "subflow released", colour: "recovery", width: 2.5, length: 1 },
  established: { name: "subflow established", colour: "quiet", width: 1.5, length: 1 },
  other: { name: "other", colour: "quiet", width: 1, length: 0.3 },
};
