import type { Step } from './explore.ts';
import type { Faults, Rules, Size } from './rules.ts';

export type Message = {
  readonly event: number;
  /** Time at which the message was stored, by the model's clock; different for each message. */
  readonly at: number;
};

/** A durable consumer, as the server knows it. Sequences begin with 1. */
export type Consumer = {
  /** Claim of its owner. */
  claim: number;
  floor: number;
  /** Sequences above the floor that are acknowledged. */
  acknowledged: number[];
  handedOut: number;
  /** Sequences that were delivered to a process that died; they will be redelivered at some time. */
  late: number[];
};

/** The version that decided about an event; 0 if the event is decided again at each attempt. */
type Decided = { readonly decidedBy: number };

export type Held = Message & Decided & { readonly seq: number; isSettled: boolean };

/** A message of the retry log: an event to retry, by its sequence in EVENTS. */
export type Reference = Message & Decided & { readonly seq: number };

/** The memory of a resolver or a dispatcher. */
export type Owner = {
  readonly claim: number;
  held: Held[];
  /**
   * For a resolver, the ids that it knows. For a dispatcher, the events that wait in the retry log as far as it knows,
   * in order.
   */
  ids: number[];
  /** Events that a retry has delivered, and that are still in the retry log. */
  retried: number[];
  /** When the last message of EVENTS was stored, as far as a resolver knows. */
  last: number;
};

export type Stage = { log: Message[]; consumer: Consumer; owners: Owner[] };
export type StageName = 'ingest' | 'events';

/** A frame or a reference: its log, and the event in it. */
export type Suspect = `${'events' | 'retry'} ${number}`;

export type State = {
  /** For each visitor, the number of the event that its client is sending or will send next. */
  sending: number[];
  acknowledged: number[];
  /** Events that were lost with the end of a log. */
  destroyed: number[];
  hasQuorum: boolean;
  /** Publishes that a leader without a quorum has seen. */
  undecided: number[];
  ingest: Stage;
  events: Stage;
  /** Sequences of EVENTS that retention removed. */
  removed: number[];
  /** The ids that resolvers had written when EVENTS ended with the message `seq`. */
  checkpoint: { readonly seq: number; readonly at: number; readonly ids: readonly number[] };
  /** Events that the database refuses (`refused`), and accounts for which it writes nothing (`stalled`). */
  refused: number[];
  stalled: number[];
  /** The version that is live. */
  version: number;
  /** The retry log: events to retry, and events that wait for an earlier event of their visitor. */
  waiting: Reference[];
  dead: number[];
  /** Events that crash their dispatcher, and the number of dispatchers that crashed. */
  poison: number[];
  takenDown: number;
  /** Messages in flight when a poison event crashed a dispatcher. */
  suspected: Suspect[];
  /** Messages that are no longer sent. */
  quarantined: Suspect[];
  /** Quarantined messages that are stored as dead letters. */
  letters: Suspect[];
  /** Events in the order of their first deliveries. */
  delivered: number[];
  clock: number;
  left: Record<keyof Faults, number>;
};

/** Changes a state. Returns the promise that the change breaks. */
export type Change = (next: State) => string | void;
export type Adding = {
  readonly state: State;
  readonly rules: Rules;
  readonly size: Size;
  readonly step: (what: string, change: Change, isFault?: boolean) => void;
  readonly fault: (kind: keyof Faults, what: string, change: Change) => void;
};

const visitorStep = 10;

/** The number of an event: 12 is the second event of the first visitor. */
export const eventOf = (visitor: number, number: number): number => (visitor + 1) * visitorStep + number;
const visitorOf = (event: number): number => Math.floor(event / visitorStep);
export const isSameVisitor = (event: number, other: number): boolean => visitorOf(event) === visitorOf(other);
export const accountOf = (event: number, { hasAccountEach }: Size): number =>
  hasAccountEach === true ? visitorOf(event) : 0;
/** The id that the client gave the event. */
export const idOf = (event: number, { sharesIds }: Size): number => (sharesIds === true ? event % visitorStep : event);

export function firstState({ visitors }: Size, faults: Faults): State {
  const stage = (): Stage => ({
    log: [],
    consumer: { claim: 1, floor: 0, acknowledged: [], handedOut: 0, late: [] },
    owners: [{ claim: 1, held: [], ids: [], retried: [], last: 0 }],
  });
  return {
    sending: Array.from({ length: visitors }, () => 1),
    acknowledged: [],
    destroyed: [],
    hasQuorum: true,
    undecided: [],
    ingest: stage(),
    events: stage(),
    removed: [],
    checkpoint: { seq: 0, at: 0, ids: [] },
    refused: [],
    stalled: [],
    version: 1,
    waiting: [],
    dead: [],
    poison: [],
    takenDown: 0,
    suspected: [],
    quarantined: [],
    letters: [],
    delivered: [],
    clock: 1,
    left: { ...faults },
  };
}

export function ownerAt({ owners }: Stage, index: number): Owner {
  const owner = owners[index];
  if (owner === undefined) throw new Error(`there is no owner ${index}`);
  return owner;
}

/** Marks the owner's message at index `at` as settled. */
export function settle(owner: Owner, at: number): void {
  owner.held = owner.held.map((one, place) => (place === at ? { ...one, isSettled: true } : one));
}

/** Collects all steps that `add` finds possible in a state, given as JSON. */
export function collectSteps(
  text: string,
  rules: Rules,
  size: Size,
  add: (adding: Adding) => void,
): readonly Step<State>[] {
  const found: Step<State>[] = [];
  const state = JSON.parse(text) as State;
  const step: Adding['step'] = (what, change, isFault = false) => {
    const next = JSON.parse(text) as State;
    const broken = change(next);
    if (rules.oneOwner) forgetIdle(next);
    found.push({ what, next, isFault, ...(typeof broken === 'string' ? { broken } : {}) });
  };
  const fault: Adding['fault'] = (kind, what, change) => {
    if (state.left[kind] === 0) return;
    const counted: Change = (next) => {
      next.left[kind] -= 1;
      return change(next);
    };
    step(what, counted, true);
  };
  add({ state, rules, size, step, fault });
  return found;
}

/** Removes replaced owners that have nothing in flight: the log refuses their next request, and they end. */
function forgetIdle({ ingest, events }: State): void {
  ingest.owners = ingest.owners.filter(({ held }, index) => index === 0 || held.length > 0);
  events.owners = events.owners.filter(({ held, ids }, index) => index === 0 || held.length + ids.length > 0);
}
