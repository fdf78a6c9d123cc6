import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';

const Behaviour = Type.Object(
  {
    /** Prefix of the request paths to which the behaviour applies; the longest match wins. */
    path: Type.String({ pattern: '^/', default: '/' }),
    /** Status of the answers; with `failFirst`, of the failing answers only, 503 by default. */
    status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
    /** JSON body of answers whose status is not 2xx. */
    body: Type.Optional(Type.Unknown()),
    /** Wait before the answer, in ms. */
    delayMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
    /** Fail this many requests, then answer 200. */
    failFirst: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Never answer. */
    hang: Type.Optional(Type.Boolean()),
    /** Seconds in the `Retry-After` header of answers whose status is not 2xx. */
    retryAfterS: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);

export type Behaviour = Static<typeof Behaviour>;

const check = Compile(Behaviour);

export type Decision = {
  /** Null: the sink does not answer. */
  readonly status: number | null;
  readonly delayMs: number;
  readonly retryAfterS: number | undefined;
  readonly body?: unknown;
};

/** How the sink answers, by path prefix. Paths without a behaviour get a 200 at once. */
export type Behaviours = {
  /** Sets the behaviour of a prefix and resets its count. Returns why `input` is invalid; undefined if it is valid. */
  set(input: unknown): string | undefined;
  clear(): void;
  list(): readonly Behaviour[];
  /** Decides how to answer one request, and counts the request. */
  decide(path: string): Decision;
};

export function createBehaviours(): Behaviours {
  const entries = new Map<string, { readonly behaviour: Behaviour; seen: number }>();
  return {
    set(input) {
      const candidate = typeof input === 'object' && input !== null ? { path: '/', ...input } : input;
      if (!check.Check(candidate)) {
        const [error] = check.Errors(candidate);
        return `${error?.instancePath.slice(1) || 'behaviour'} ${error?.message ?? 'is not valid'}`;
      }
      entries.set(candidate.path, { behaviour: candidate, seen: 0 });
      return undefined;
    },
    clear: () => entries.clear(),
    list: () => [...entries.values()].map((entry) => entry.behaviour),
    decide(path) {
      const prefix = [...entries.keys()]
        .filter((key) => path.startsWith(key))
        .toSorted((a, b) => b.length - a.length)[0];
      const entry = prefix === undefined ? undefined : entries.get(prefix);
      if (entry === undefined) return { status: 200, delayMs: 0, retryAfterS: undefined };
      entry.seen += 1;
      return decideFrom(entry.behaviour, entry.seen);
    },
  };
}

function decideFrom(behaviour: Behaviour, nth: number): Decision {
  const { failFirst, delayMs = 0, retryAfterS, body } = behaviour;
  if (behaviour.hang === true) return { status: null, delayMs, retryAfterS };
  if (failFirst === undefined) return { status: behaviour.status ?? 200, delayMs, retryAfterS, body };
  return { status: nth <= failFirst ? (behaviour.status ?? 503) : 200, delayMs, retryAfterS, body };
}
