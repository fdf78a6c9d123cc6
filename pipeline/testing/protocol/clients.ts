import { eventOf } from './state.ts';
import type { Adding, Stage, State } from './state.ts';

/**
 * A client sends its events one after the other, and repeats each event until it is acknowledged. Gateways store events
 * and acknowledge them.
 */
export function addClients({ state, rules, size, step, fault }: Adding): void {
  for (const [visitor, number] of state.sending.entries()) {
    if (number > size.eventsEach) continue;
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

/** Stores an event once: the log knows the ids of its messages. */
function store(next: State, { log }: Stage, event: number): void {
  if (log.some((message) => message.event === event)) return;
  log.push({ event, at: (next.clock += 1) });
}

export function addQuorum({ state, step, fault }: Adding): void {
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
