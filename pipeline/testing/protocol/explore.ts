/** One possible next step. */
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

type Seen<State> = { readonly state: State; readonly from: Seen<State> | undefined; readonly what: string };

/**
 * Visits every reachable state, in the order of its distance from the first, so that the first broken promise has the
 * shortest trace. `atRest` judges states in which only faults can happen. Throws if there are more than `statesMax`
 * states: the result is then unknown.
 */
export function explore<State>(
  first: State,
  stepsFrom: (state: State) => readonly Step<State>[],
  atRest: (state: State) => string | undefined,
  statesMax: number,
): Explored {
  const known = new Set([JSON.stringify(first)]);
  let front: Seen<State>[] = [{ state: first, from: undefined, what: '' }];
  while (front.length > 0) {
    const beyond: Seen<State>[] = [];
    for (const seen of front) {
      const steps = stepsFrom(seen.state);
      const lacking = steps.every(({ isFault }) => isFault) ? atRest(seen.state) : undefined;
      if (lacking !== undefined) return { states: known.size, trace: [...wayTo(seen), lacking] };
      for (const { what, next, broken } of steps) {
        const reached = { state: next, from: seen, what };
        if (broken !== undefined) return { states: known.size, trace: [...wayTo(reached), broken] };
        const key = JSON.stringify(next);
        if (known.has(key)) continue;
        known.add(key);
        if (known.size > statesMax) throw new Error(`exploring: there are more than ${statesMax} states`);
        beyond.push(reached);
      }
    }
    front = beyond;
  }
  return { states: known.size, trace: undefined };
}

function wayTo<State>(seen: Seen<State>): string[] {
  const way: string[] = [];
  for (let at: Seen<State> | undefined = seen; at?.from !== undefined; at = at.from) way.unshift(at.what);
  return way;
}
