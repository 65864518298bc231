// Where the reader is, in the address of the page: a link to a result, a flow or a moment can be sent.

export interface Place {
  result?: string;
  flow?: number;
  /** The time that is shown, in seconds. */
  from?: number;
  to?: number;
}

/** What the address says. */
export function place(): Place {
  const said = new URLSearchParams(location.hash.slice(1));
  const number = (name: string): number | undefined => {
    const text = said.get(name);
    return text === null || !Number.isFinite(Number(text)) ? undefined : Number(text);
  };
  return { result: said.get("result") ?? undefined, flow: number("flow"), from: number("from"), to: number("to") };
}

/** Writes into the address where the reader is now. */
export function note(now: Place): void {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(now)) if (value !== undefined) said.set(name, String(value));
  history.replaceState(null, "", `#${said}`);
}
