/** One possible next step. A state is known by its JSON text. */
export type Step<State> = {
  /** Description for the trace. */
  readonly what: string;
  readonly next: State;
  /** Whether the step is a fault, which may happen but need not. */
  readonly isFault: boolean;
  /** The promise that the step breaks. */
  readonly broken?: string;
};

export type Explored = {
  readonly states: number;
  /**
   * The shortest sequence of steps to a broken promise, followed by that promise; undefined if no promise can be
   * broken.
   */
  readonly trace: readonly string[] | undefined;
};

type Seen = { readonly text: string; readonly from: Seen | undefined; readonly what: string };

/**
 * Visits every reachable state, in the order of its distance from the first, so that the first broken promise has the
 * shortest trace. `atRest` judges states in which only faults can happen. Throws if there are more than `statesMax`
 * states: the result is then unknown.
 */
export function explore<State>(
  first: State,
  stepsFrom: (text: string) => readonly Step<State>[],
  atRest: (state: State) => string | undefined,
  statesMax: number,
): Explored {
  const start = JSON.stringify(first);
  const known = new Set([start]);
  let front: Seen[] = [{ text: start, from: undefined, what: '' }];
  while (front.length > 0) {
    const beyond: Seen[] = [];
    for (const seen of front) {
      const steps = stepsFrom(seen.text);
      const lacking = steps.every(({ isFault }) => isFault) ? atRest(JSON.parse(seen.text) as State) : undefined;
      if (lacking !== undefined) return { states: known.size, trace: [...wayTo(seen), lacking] };
      for (const { what, next, broken } of steps) {
        const text = JSON.stringify(next);
        const reached = { text, from: seen, what };
        if (broken !== undefined) return { states: known.size, trace: [...wayTo(reached), broken] };
        if (known.has(text)) continue;
        known.add(text);
        if (known.size > statesMax) throw new Error(`exploring: there are more than ${statesMax} states`);
        beyond.push(reached);
      }
    }
    front = beyond;
  }
  return { states: known.size, trace: undefined };
}

function wayTo(seen: Seen): string[] {
  const way: string[] = [];
  for (let at: Seen | undefined = seen; at?.from !== undefined; at = at.from) way.unshift(at.what);
  return way;
}
