import type { Step } from './explore.ts';
import type { Faults, Rules, Size } from './rules.ts';

export type Message = {
  readonly event: number;
  /** When it was stored; no two messages have the same. */
  readonly at: number;
};

/** A durable consumer, as the server knows it. Sequences begin with 1. */
export type Consumer = {
  /** Of its owner. */
  claim: number;
  floor: number;
  /** Acknowledged above the floor. */
  acknowledged: number[];
  handedOut: number;
  /** Handed to a process that died, and handed out again sooner or later. */
  late: number[];
};

/** Which version decided what becomes of an event; 0 where each attempt decides again. */
type Decided = { readonly decidedBy: number };

export type Held = Message & Decided & { readonly seq: number; isSettled: boolean };

/** Of the retry log: an event to be sent again is where it stands in EVENTS. */
export type Reference = Message & Decided & { readonly seq: number };

/** A resolver or a dispatcher: what is in its memory. */
export type Owner = {
  readonly claim: number;
  held: Held[];
  /** A resolver's ids, or the events that a dispatcher knows to wait in the retry log, in their order. */
  ids: number[];
  /** Delivered out of the retry log, and still in it. */
  retried: number[];
  /** When the last message of EVENTS was stored, as a resolver knows it. */
  last: number;
};

export type Stage = { log: Message[]; consumer: Consumer; owners: Owner[] };
export type StageName = 'ingest' | 'events';

/** A frame or a reference: its log, and the event in it. */
export type Suspect = `${'events' | 'retry'} ${number}`;

export type State = {
  /** By visitor: number of the event that it sends next, or is sending. */
  sending: number[];
  acknowledged: number[];
  /** Lost with the end of a log. */
  destroyed: number[];
  hasQuorum: boolean;
  /** Publishes that a leader without a quorum has seen. */
  undecided: number[];
  ingest: Stage;
  events: Stage;
  /** Sequences of EVENTS that retention removed. */
  removed: number[];
  /** The ids that resolvers have written, up to a message of EVENTS. */
  checkpoint: { readonly seq: number; readonly at: number; readonly ids: readonly number[] };
  /** Events that the database refuses, and accounts of which it writes nothing. */
  refused: number[];
  stalled: number[];
  /** The version that is live. */
  version: number;
  /** The retry log: an event to be sent again, and behind it those of its visitor that wait. */
  waiting: Reference[];
  dead: number[];
  /** What takes down its dispatcher, and how often that happened. */
  poison: number[];
  takenDown: number;
  /** What dispatchers were working on when poison took them down. */
  suspected: Suspect[];
  /** What is not worked on any more. */
  quarantined: Suspect[];
  /** What of that is kept as a dead letter. */
  letters: Suspect[];
  /** First deliveries, in their order. */
  delivered: number[];
  clock: number;
  left: Record<keyof Faults, number>;
};

/** What happens to a state. Returns the promise that it breaks. */
export type Change = (next: State) => string | void;
export type Adding = {
  readonly state: State;
  readonly rules: Rules;
  readonly size: Size;
  readonly step: (what: string, change: Change, isFault?: boolean) => void;
  readonly fault: (kind: keyof Faults, what: string, change: Change) => void;
};

const visitorStep = 10;

/** Such as 12: the second event of the first visitor. */
export const eventOf = (visitor: number, number: number): number => (visitor + 1) * visitorStep + number;
const visitorOf = (event: number): number => Math.floor(event / visitorStep);
export const isSameVisitor = (event: number, other: number): boolean => visitorOf(event) === visitorOf(other);
export const accountOf = (event: number, { hasAccountEach }: Size): number =>
  hasAccountEach === true ? visitorOf(event) : 0;
/** The id that its client gave an event. */
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

/** Marks a message that an owner holds as done with. */
export function settle(owner: Owner, at: number): void {
  owner.held = owner.held.map((one, place) => (place === at ? { ...one, isSettled: true } : one));
}

/** Everything that `add` can make happen in a state. */
export function collectSteps(
  state: State,
  rules: Rules,
  size: Size,
  add: (adding: Adding) => void,
): readonly Step<State>[] {
  const found: Step<State>[] = [];
  const text = JSON.stringify(state);
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

/** Of those that stood still, one with nothing in flight does nothing any more: it finds itself refused, and ends. */
function forgetIdle({ ingest, events }: State): void {
  ingest.owners = ingest.owners.filter(({ held }, index) => index === 0 || held.length > 0);
  events.owners = events.owners.filter(({ held, ids }, index) => index === 0 || held.length + ids.length > 0);
}
