import type { Step } from './explore.ts';

/**
 * What keeps the promises, each rule in one of the files it names. Without it a trace breaks one of them: these are the
 * bugs that were there.
 */
export type Rules = {
  /** An answer of the log without a sequence is no yes (`shared/nats/publish/publish-answer.ts`). */
  readonly yesNeedsSequence: boolean;
  /** What a reader has not finished comes first with the next one (`shared/nats/consume/consumers.ts`). */
  readonly unfinishedFirst: boolean;
  /** The log refuses whoever has lost the claim to a consumer (the same). */
  readonly oneOwner: boolean;
  /** A log that has lost its end puts its consumers back to the end it has (nats-server). */
  readonly placesPutBack: boolean;
  /** A message is known by its sequence and its time (`shared/nats/consume/taken-messages.ts`). */
  readonly knownByTime: boolean;
  /** Events of a visitor wait behind a failed one (`pipeline/workers/dispatch/parked`). */
  readonly visitorsWait: boolean;
  /** A frame is acknowledged when what became of it is stored (`pipeline/workers/resolve/resolver.ts`). */
  readonly storedBeforeAcknowledged: boolean;
  /** What is set aside is kept as a dead letter before it leaves its log (`pipeline/workers/dispatch/outbox`). */
  readonly setAsideIsKept: boolean;
  /** The dead letter of a frame that was set aside is known when it is written again (the same). */
  readonly lettersAreKnown: boolean;
  /** Only what was worked on by itself in a second death is set aside (`pipeline/workers/worker/suspicion.ts`). */
  readonly oneDeathIsNoProof: boolean;
  /** What is suspected is worked on by itself (`pipeline/workers/dispatch/inbox/isolation.ts`). */
  readonly suspectsGoAlone: boolean;
};

export const ourRules: Rules = {
  yesNeedsSequence: true,
  unfinishedFirst: true,
  oneOwner: true,
  placesPutBack: true,
  knownByTime: true,
  visitorsWait: true,
  storedBeforeAcknowledged: true,
  setAsideIsKept: true,
  lettersAreKnown: true,
  oneDeathIsNoProof: true,
  suspectsGoAlone: true,
};

/** How many of each there may still be. */
export type Faults = {
  /** A resolver or dispatcher dies, and another one claims its consumer. */
  readonly deaths: number;
  /** One stands still, is taken for dead, and goes on beside its successor. */
  readonly pauses: number;
  /** A destination fails to take an event, once or for good. */
  readonly failures: number;
  /** A log loses its newest message and uses its sequence again. */
  readonly cuts: number;
  /** The log has no quorum for a while. */
  readonly outages: number;
  /** An answer to a publish does not arrive. */
  readonly silences: number;
  /** An event takes down whoever sends it: from then on each time, be it out of its account's log or the retry log. */
  readonly poisons: number;
};

export const noFaults: Faults = { deaths: 0, pauses: 0, failures: 0, cuts: 0, outages: 0, silences: 0, poisons: 0 };

export type Size = { readonly visitors: number; readonly eventsEach: number };

type Message = {
  readonly event: number;
  /** When it was stored; no two messages have the same. */
  readonly at: number;
};

/** A durable consumer, as the server knows it. Sequences begin with 1. */
type Consumer = {
  /** Of its owner. */
  claim: number;
  floor: number;
  /** Acknowledged above the floor. */
  acknowledged: number[];
  handedOut: number;
  /** Handed to somebody who died, and handed out again sooner or later. */
  late: number[];
};

type Held = Message & { readonly seq: number; isSettled: boolean };

/** A resolver or a dispatcher: what is in its memory. */
type Owner = {
  readonly claim: number;
  held: Held[];
  /** A resolver's ids, or the events that a dispatcher knows to wait in the retry log, in their order. */
  ids: number[];
  /** Delivered out of the retry log, and still in it. */
  retried: number[];
};

type Stage = { log: Message[]; consumer: Consumer; owners: Owner[] };

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
  /** The retry log: an event to be sent again, and behind it those of its visitor that wait. */
  waiting: number[];
  dead: number[];
  /** What takes down whoever sends it, and how often that happened. */
  poison: number[];
  takenDown: number;
  /** What dispatchers were working on when poison took them down. */
  suspected: Suspect[];
  /** What is not worked on any more. */
  setAside: Suspect[];
  /** What of that is kept as a dead letter. */
  letters: Suspect[];
  /** First deliveries, in their order. */
  delivered: number[];
  clock: number;
  left: Record<keyof Faults, number>;
};

/** A frame: its log, and the event in it. */
type Suspect = `${'events' | 'retry'} ${number}`;

const heldMax = 2;
/** Dispatchers that one event takes down, at most: two out of each log, where a frame has not been acknowledged. */
const takenDownMax = 4;
const visitorStep = 10;

/** Such as 12: the second event of the first visitor. */
const eventOf = (visitor: number, number: number): number => (visitor + 1) * visitorStep + number;
const visitorOf = (event: number): number => Math.floor(event / visitorStep);
const isSameVisitor = (event: number, other: number): boolean => visitorOf(event) === visitorOf(other);

export function firstState({ visitors }: Size, faults: Faults): State {
  const stage = (): Stage => ({
    log: [],
    consumer: { claim: 1, floor: 0, acknowledged: [], handedOut: 0, late: [] },
    owners: [{ claim: 1, held: [], ids: [], retried: [] }],
  });
  return {
    sending: Array.from({ length: visitors }, () => 1),
    acknowledged: [],
    destroyed: [],
    hasQuorum: true,
    undecided: [],
    ingest: stage(),
    events: stage(),
    waiting: [],
    dead: [],
    poison: [],
    takenDown: 0,
    suspected: [],
    setAside: [],
    letters: [],
    delivered: [],
    clock: 1,
    left: { ...faults },
  };
}

/** No loss: where nothing is left to do, what was acknowledged is delivered or a dead letter, or went with a log's end. */
export function lackingAtRest({ acknowledged, delivered, dead, destroyed }: State): string | undefined {
  const lost = acknowledged.filter((event) => ![delivered, dead, destroyed].some((list) => list.includes(event)));
  return lost.length === 0 ? undefined : `LOST: ${lost.join(', ')}`;
}

/** Everything that can happen in a state. */
export function stepsFrom(state: State, rules: Rules, size: Size): readonly Step<State>[] {
  const found: Step<State>[] = [];
  const text = JSON.stringify(state);
  const step: Add = (what, change, isFault = false) => {
    const next = JSON.parse(text) as State;
    const broken = change(next);
    if (rules.oneOwner) forgetIdle(next);
    found.push({ what, next, isFault, ...(typeof broken === 'string' ? { broken } : {}) });
  };
  const fault = (kind: keyof Faults, what: string, change: Change): void => {
    if (state.left[kind] === 0) return;
    step(
      what,
      (next) => {
        next.left[kind] -= 1;
        return change(next);
      },
      true,
    );
  };
  const adding = { state, rules, step, fault };
  addClients(adding, size);
  addQuorum(adding);
  for (const name of ['ingest', 'events'] as const) {
    addOwners(adding, name);
    addCut(adding, name);
  }
  addResolving(adding);
  addDispatching(adding);
  return found;
}

/** Of those that stood still, whoever has nothing in hand does nothing any more: it finds itself refused, and ends. */
function forgetIdle({ ingest, events }: State): void {
  ingest.owners = ingest.owners.filter(({ held }, index) => index === 0 || held.length > 0);
  events.owners = events.owners.filter(({ held, ids }, index) => index === 0 || held.length + ids.length > 0);
}

type Change = (next: State) => string | void;
type Add = (what: string, change: Change, isFault?: boolean) => void;
type Adding = {
  readonly state: State;
  readonly rules: Rules;
  readonly step: Add;
  readonly fault: (kind: keyof Faults, what: string, change: Change) => void;
};

/** Clients send one event after the other, the same again until it is answered; gateways store it and say so. */
function addClients({ state, rules, step, fault }: Adding, { eventsEach }: Size): void {
  for (const [visitor, number] of state.sending.entries()) {
    if (number > eventsEach) continue;
    const event = eventOf(visitor, number);
    const acknowledge = (next: State): void => {
      next.acknowledged.push(event);
      next.sending[visitor] = number + 1;
    };
    if (state.hasQuorum) {
      step(`${event} is stored and answered`, (next) => {
        store(next, next.ingest, event);
        acknowledge(next);
      });
      fault('silences', `${event} is stored, and the answer lost`, (next) => store(next, next.ingest, event));
    } else if (!state.undecided.includes(event)) {
      step(`${event} is seen by a leader without a quorum`, (next) => void next.undecided.push(event));
    } else if (!rules.yesNeedsSequence) {
      step(`${event} is a duplicate, without a sequence, and answered`, acknowledge);
    }
  }
}

/** Once: the log knows the ids of what it has. */
function store(next: State, { log }: Stage, event: number): void {
  if (log.some((message) => message.event === event)) return;
  log.push({ event, at: (next.clock += 1) });
}

function addQuorum({ state, step, fault }: Adding): void {
  if (state.hasQuorum) {
    fault('outages', 'the quorum is lost', (next) => {
      next.hasQuorum = false;
    });
    return;
  }
  step('the leader dies; the others have a quorum', (next) => {
    Object.assign(next, { hasQuorum: true, undecided: [] });
  });
  step('the followers come back', (next) => {
    for (const event of next.undecided) store(next, next.ingest, event);
    Object.assign(next, { hasQuorum: true, undecided: [] });
  });
}

/** Whoever owns the consumer from here on begins with what is not acknowledged, and with what waits in the log. */
function claimAnew(after: State, name: 'ingest' | 'events', rules: Rules): void {
  const stage = after[name];
  const { consumer: place } = stage;
  const seqs = Array.from({ length: place.handedOut - place.floor }, (_, at) => place.floor + 1 + at);
  if (rules.unfinishedFirst) place.handedOut = place.floor;
  else place.late = seqs.filter((seq) => !place.acknowledged.includes(seq));
  place.claim += 1;
  const ids = name === 'ingest' ? after.events.log.map(({ event }) => event) : after.waiting;
  stage.owners.unshift({ claim: place.claim, held: [], ids: [...ids], retried: [] });
}

/** Owners take messages, die, are taken for dead, and are followed. */
function addOwners({ state, rules, step, fault }: Adding, name: 'ingest' | 'events'): void {
  const { log, consumer, owners } = state[name];
  for (const [index, { claim, held }] of owners.entries()) {
    const who = `owner ${claim} of ${name}`;
    const isRefused = rules.oneOwner && claim !== consumer.claim;
    if (isRefused || held.length >= heldMax) continue;
    const next = nextSeq(consumer);
    const candidates = [...(next <= log.length ? [next] : []), ...consumer.late.filter((seq) => seq <= log.length)];
    const isSuspected = (event: number): boolean =>
      name === 'events' && rules.suspectsGoAlone && state.suspected.includes(`events ${event}`);
    const atWork = held.filter(({ isSettled }) => !isSettled);
    for (const seq of candidates) {
      const { event = 0 } = log[seq - 1] ?? {};
      if (atWork.length > 0 && [event, ...atWork.map((one) => one.event)].some(isSuspected)) continue;
      step(`${who} is given ${event}, ${seq} of its log`, (after) => {
        const stage = after[name];
        const owner = ownerAt(stage, index);
        const message = messageAt(stage, seq);
        if (stage.consumer.late.includes(seq)) stage.consumer.late = stage.consumer.late.filter((one) => one !== seq);
        else stage.consumer.handedOut = seq;
        const isKnown = owner.held.some((one) => one.seq === seq && (!rules.knownByTime || one.at === message.at));
        if (!isKnown) owner.held.push({ ...message, seq, isSettled: false });
        if (!rules.storedBeforeAcknowledged) acknowledge(stage.consumer, seq);
        return claim === consumer.claim ? undefined : `TWO OWNERS: ${claim} is given a message after ${consumer.claim}`;
      });
    }
  }
  const [current] = owners;
  fault('deaths', `owner ${current?.claim} of ${name} dies, and is followed`, (after) => {
    after[name].owners.shift();
    claimAnew(after, name, rules);
  });
  fault('pauses', `owner ${current?.claim} of ${name} stands still, and is followed`, (after) =>
    claimAnew(after, name, rules),
  );
}

function nextSeq({ handedOut, acknowledged, late }: Consumer): number {
  let seq = handedOut + 1;
  while (acknowledged.includes(seq) || late.includes(seq)) seq += 1;
  return seq;
}

function acknowledge(consumer: Consumer, seq: number): void {
  if (seq > consumer.floor && !consumer.acknowledged.includes(seq)) consumer.acknowledged.push(seq);
  while (consumer.acknowledged.includes(consumer.floor + 1)) {
    consumer.floor += 1;
    consumer.acknowledged = consumer.acknowledged.filter((one) => one > consumer.floor);
  }
  consumer.acknowledged.sort((a, b) => a - b);
}

/** A server that starts on files that end too early. Its readers connect again, and their consumers are rewound. */
function addCut({ state, rules, fault }: Adding, name: 'ingest' | 'events'): void {
  if (state[name].log.length === 0) return;
  fault('cuts', `the log of ${name} loses its newest message`, (next) => {
    const { log, consumer } = next[name];
    const lost = log.pop();
    if (lost !== undefined && !next.destroyed.includes(lost.event)) next.destroyed.push(lost.event);
    if (rules.placesPutBack) {
      consumer.floor = Math.min(consumer.floor, log.length);
      consumer.acknowledged = consumer.acknowledged.filter((seq) => seq <= log.length);
      consumer.handedOut = consumer.floor;
    }
  });
}

function ownerAt({ owners }: Stage, index: number): Owner {
  const owner = owners[index];
  if (owner === undefined) throw new Error(`there is no owner ${index}`);
  return owner;
}

function messageAt({ log }: Stage, seq: number): Message {
  const message = log[seq - 1];
  if (message === undefined) throw new Error(`there is no message ${seq}`);
  return message;
}

/** What is settled is acknowledged, oldest first, unless another message has its sequence by now. */
function addAcknowledging({ state, rules, step }: Adding, name: 'ingest' | 'events'): void {
  for (const [index, { claim, held }] of state[name].owners.entries()) {
    const [oldest] = held;
    if (oldest?.isSettled !== true) continue;
    step(`owner ${claim} of ${name} acknowledges ${oldest.event}`, (next) => {
      const stage = next[name];
      ownerAt(stage, index).held.shift();
      const isSame = stage.log[oldest.seq - 1]?.at === oldest.at;
      if (isSame || !rules.knownByTime) acknowledge(stage.consumer, oldest.seq);
    });
  }
}

/** Resolvers write what they take to EVENTS, in order, unless they know its id. */
function addResolving(adding: Adding): void {
  const { state, step } = adding;
  for (const [index, { claim, held, ids }] of state.ingest.owners.entries()) {
    const at = held.findIndex(({ isSettled }) => !isSettled);
    const event = held[at]?.event;
    if (event === undefined) continue;
    const isKnown = ids.includes(event);
    step(`resolver ${claim} ${isKnown ? 'knows' : 'writes'} ${event}`, (next) => {
      const resolver = ownerAt(next.ingest, index);
      resolver.held = resolver.held.map((one, place) => (place === at ? { ...one, isSettled: true } : one));
      if (isKnown) return;
      resolver.ids.push(event);
      next.events.log.push({ event, at: (next.clock += 1) });
    });
  }
  addAcknowledging(adding, 'ingest');
}

/** Dispatchers send what they take, one event of a visitor at a time, and keep what fails in the retry log. */
function addDispatching(adding: Adding): void {
  const { state, rules, step } = adding;
  for (const [index, { claim, held, ids, retried }] of state.events.owners.entries()) {
    const who = `dispatcher ${claim}`;
    const settle = (next: State, at: number): Owner => {
      const dispatcher = ownerAt(next.events, index);
      dispatcher.held = dispatcher.held.map((one, place) => (place === at ? { ...one, isSettled: true } : one));
      return dispatcher;
    };
    const keep = (next: State, at: number, event: number): void => {
      const dispatcher = settle(next, at);
      if (!next.waiting.includes(event)) next.waiting.push(event);
      if (!dispatcher.ids.includes(event)) dispatcher.ids.push(event);
    };
    for (const [at, { event, isSettled }] of held.entries()) {
      const isBehind = held.some((one, place) => place < at && !one.isSettled && isSameVisitor(one.event, event));
      if (isSettled || isBehind) continue;
      if (rules.visitorsWait && ids.includes(event)) {
        step(`${who} knows that ${event} waits`, (next) => void settle(next, at));
      } else if (rules.visitorsWait && ids.some((one) => isSameVisitor(one, event))) {
        step(`${who} parks ${event}`, (next) => keep(next, at, event));
      } else {
        addAttempt(adding, index, `events ${event}`, {
          deliver: (next) => {
            settle(next, at);
            return deliver(next, event);
          },
          fail: (next) => keep(next, at, event),
          setAside: (next) => void settle(next, at),
        });
      }
    }
    for (const event of ids) {
      const isHead = !ids.slice(0, ids.indexOf(event)).some((one) => isSameVisitor(one, event));
      if (!isHead) continue;
      const forget = (next: State): void => {
        const dispatcher = ownerAt(next.events, index);
        dispatcher.ids = dispatcher.ids.filter((one) => one !== event);
        dispatcher.retried = dispatcher.retried.filter((one) => one !== event);
        next.waiting = next.waiting.filter((one) => one !== event);
      };
      if (!state.waiting.includes(event)) {
        step(`${who} finds that ${event} waits no more`, forget);
      } else if (retried.includes(event)) {
        step(`${who} takes ${event} out of the retry log`, forget);
      } else {
        const isDone = (next: State): void => void ownerAt(next.events, index).retried.push(event);
        addAttempt(adding, index, `retry ${event}`, {
          deliver: (next) => {
            isDone(next);
            return deliver(next, event);
          },
          fail: (next) => {
            next.dead.push(event);
            forget(next);
          },
          setAside: isDone,
        });
      }
    }
  }
  addAcknowledging(adding, 'events');
}

type Attempt = { readonly deliver: Change; readonly fail: Change; readonly setAside: Change };

/** A dispatcher sends an event that is its turn: that may take it down, and then does so each time until it is set aside. */
function addAttempt({ state, rules, step, fault }: Adding, index: number, suspect: Suspect, attempt: Attempt): void {
  const [from, number] = suspect.split(' ');
  const event = Number(number);
  const { claim, held } = ownerAt(state.events, index);
  const who = `dispatcher ${claim}`;
  const which = from === 'retry' ? `${event} of the retry log` : `${event}`;
  const atWork = new Set<Suspect>([suspect]);
  for (const one of held) if (!one.isSettled) atWork.add(`events ${one.event}`);
  if (state.setAside.includes(suspect)) {
    step(`${who} sets ${which} aside`, (next) => {
      attempt.setAside(next);
      return keepLetter(next, suspect, event, rules);
    });
    return;
  }
  if (rules.suspectsGoAlone && state.suspected.includes(suspect) && atWork.size > 1) return;
  const takeDown = (next: State): string | undefined => {
    suspectAfterDeath(next, [...atWork], rules);
    next.events.owners.splice(index, 1);
    if (index === 0) claimAnew(next, 'events', rules);
    next.takenDown += 1;
    return next.takenDown > takenDownMax ? `ENDLESS: ${event} takes down one dispatcher after the other` : undefined;
  };
  if (state.poison.includes(event)) {
    step(`${who} is taken down by ${which}`, takeDown);
    return;
  }
  step(`${who} delivers ${which}`, attempt.deliver);
  fault('failures', `${who} fails to deliver ${which}`, attempt.fail);
  fault('poisons', `${who} is taken down by ${which}`, (next) => {
    next.poison.push(event);
    return takeDown(next);
  });
}

/** The first death has all that was worked on suspected; what is worked on by itself in another one is set aside. */
function suspectAfterDeath(next: State, atWork: readonly Suspect[], rules: Rules): void {
  const guilty = atWork.filter((one) => next.suspected.includes(one));
  if (atWork.length === 1) next.setAside.push(...guilty);
  if (!rules.oneDeathIsNoProof) next.setAside.push(...atWork);
  next.suspected = [...new Set([...next.suspected, ...atWork])].toSorted();
}

/** Once: the log knows the ids of what it has. */
function keepLetter(next: State, suspect: Suspect, event: number, rules: Rules): string | undefined {
  if (!next.poison.includes(event)) return `INNOCENT: ${event} is set aside`;
  const isKept = next.letters.includes(suspect);
  if (!rules.setAsideIsKept || (isKept && rules.lettersAreKnown)) return undefined;
  next.letters.push(suspect);
  if (!next.dead.includes(event)) next.dead.push(event);
  return isKept ? `TWICE: ${event} is a dead letter again` : undefined;
}

/**
 * Order of first deliveries: nothing comes first behind a later one of its visitor. What was given up has no place in it
 * any more: where its dispatcher dies before it has noted that, the next one sends it once more, as a replay would.
 */
function deliver(next: State, event: number): string | undefined {
  if (next.delivered.includes(event) || next.dead.includes(event)) return undefined;
  const later = next.delivered.find((one) => isSameVisitor(one, event) && one > event);
  next.delivered.push(event);
  if (later === undefined || next.destroyed.includes(event)) return undefined;
  return `OUT OF ORDER: ${event} comes after ${later}`;
}
