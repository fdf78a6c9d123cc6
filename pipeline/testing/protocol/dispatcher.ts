import { addAcknowledging } from './consumers.ts';
import { addAttempt } from './poison.ts';
import { idOf, isSameVisitor, ownerAt, settle } from './state.ts';
import type { Adding, Held, Reference, State } from './state.ts';

/**
 * Dispatchers send the events that they receive, one event of a visitor at a time. For a failed event they store a
 * reference in the retry log.
 */
export function addDispatching(adding: Adding): void {
  for (const index of adding.state.events.owners.keys()) {
    addFresh(adding, index);
    addRetries(adding, index);
  }
  addAcknowledging(adding, 'events');
}

function addFresh(adding: Adding, index: number): void {
  const { state, rules, step } = adding;
  const { claim, held, ids } = ownerAt(state.events, index);
  const who = `dispatcher ${claim}`;
  for (const [at, one] of held.entries()) {
    const { event, isSettled } = one;
    const isBehind = held.some((other, place) => place < at && !other.isSettled && isSameVisitor(other.event, event));
    if (isSettled || isBehind) continue;
    const done = (next: State): void => settle(ownerAt(next.events, index), at);
    const keep = (next: State): void => {
      done(next);
      keepReference(next, one, adding);
      const dispatcher = ownerAt(next.events, index);
      if (!dispatcher.ids.includes(event)) dispatcher.ids.push(event);
    };
    if (rules.visitorsWait && ids.includes(event)) {
      step(`${who} knows that ${event} waits`, done);
    } else if (rules.visitorsWait && ids.some((other) => isSameVisitor(other, event))) {
      step(`${who} has ${event} wait behind another`, keep);
    } else {
      addAttempt(adding, index, `events ${event}`, {
        deliver(next) {
          done(next);
          return deliver(next, one);
        },
        fail: keep,
        quarantine: done,
      });
    }
  }
}

/** Stores a reference once: the log knows the names of its messages. */
function keepReference(next: State, { event, at, seq, decidedBy }: Held, { rules, size }: Adding): void {
  const isKnown = next.waiting.some((one) =>
    rules.namedByPlace ? one.seq === seq && one.at === at : idOf(one.event, size) === idOf(event, size),
  );
  if (!isKnown) next.waiting.push({ event, at, seq, decidedBy });
}

function addRetries(adding: Adding, index: number): void {
  const { state, step } = adding;
  const { claim, ids, retried } = ownerAt(state.events, index);
  const who = `dispatcher ${claim}`;
  for (const event of ids) {
    const isHead = !ids.slice(0, ids.indexOf(event)).some((one) => isSameVisitor(one, event));
    if (!isHead) continue;
    const forget = (next: State): void => {
      const dispatcher = ownerAt(next.events, index);
      dispatcher.ids = dispatcher.ids.filter((one) => one !== event);
      dispatcher.retried = dispatcher.retried.filter((one) => one !== event);
      next.waiting = next.waiting.filter((one) => one.event !== event);
    };
    const reference = state.waiting.find((one) => one.event === event);
    if (reference === undefined) {
      step(`${who} finds that ${event} waits no more`, forget);
    } else if (retried.includes(event)) {
      step(`${who} takes ${event} out of the retry log`, forget);
    } else if (!isReadable(state, reference)) {
      step(`${who} finds that EVENTS has no ${event}`, forget);
    } else {
      const done = (next: State): void => void ownerAt(next.events, index).retried.push(event);
      addAttempt(adding, index, `retry ${event}`, {
        deliver(next) {
          done(next);
          return deliver(next, reference);
        },
        fail(next) {
          next.dead.push(event);
          forget(next);
        },
        quarantine: done,
      });
    }
  }
}

const isReadable = ({ events, removed }: State, { seq, at }: Reference): boolean =>
  !removed.includes(seq) && events.log[seq - 1]?.at === at;

/**
 * Checks the order of first deliveries: no event is first delivered after a later event of its visitor. Dead letters
 * are exempt: if a dispatcher dies before it has recorded the dead letter, the next one sends the event again, as a
 * replay would. Also checks that events are sent with the settings of the version that decided about them, which must
 * still be live.
 */
function deliver(next: State, { event, decidedBy }: Held | Reference): string | undefined {
  if (decidedBy !== 0 && decidedBy !== next.version) {
    return `MIXED: version ${decidedBy} decides about ${event}, and version ${next.version} sends it`;
  }
  if (next.delivered.includes(event) || next.dead.includes(event)) return undefined;
  const later = next.delivered.find((one) => isSameVisitor(one, event) && one > event);
  next.delivered.push(event);
  if (later === undefined || next.destroyed.includes(event)) return undefined;
  return `OUT OF ORDER: ${event} comes after ${later}`;
}

/** A control plane makes another version live. */
export function addPublishing({ state, fault }: Adding): void {
  fault('publishes', `version ${state.version + 1} is live`, (next) => {
    next.version += 1;
  });
}
