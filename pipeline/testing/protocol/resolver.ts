import { claimAnew } from './claims.ts';
import { addAcknowledging } from './consumers.ts';
import { accountOf, ownerAt, settle } from './state.ts';
import type { Adding, State } from './state.ts';

/**
 * Resolvers write the events that they receive to EVENTS, in the order of each account, except events whose id they
 * know.
 */
export function addResolving(adding: Adding): void {
  const { state, rules, size, step } = adding;
  for (const [index, { claim, held, ids, last }] of state.ingest.owners.entries()) {
    const who = `resolver ${claim}`;
    for (const [at, { event, isSettled }] of held.entries()) {
      const isBehind = held.some(
        (one, place) =>
          place < at &&
          !one.isSettled &&
          (!rules.accountsWaitAlone || accountOf(one.event, size) === accountOf(event, size)),
      );
      if (isSettled || isBehind) continue;
      if (ids.includes(event)) {
        step(`${who} knows ${event}`, (next) => settle(ownerAt(next.ingest, index), at));
      } else if (state.stalled.includes(accountOf(event, size))) {
        continue;
      } else if (state.refused.includes(event)) {
        addRefused(adding, index, at, event);
      } else if (rules.oneWriter && last !== (state.events.log.at(-1)?.at ?? 0)) {
        step(`${who} finds that EVENTS has another last message`, (next) => {
          next.ingest.owners.splice(index, 1);
          if (index === 0) claimAnew(next, 'ingest', rules);
        });
      } else {
        step(`${who} writes ${event}`, (next) => write(next, index, at, event));
      }
    }
  }
  addAcknowledging(adding, 'ingest');
}

/** The resolver splits a refused batch until the refused event is alone. */
function addRefused({ state, rules, step }: Adding, index: number, at: number, event: number): void {
  if (!rules.refusedIsLetter) return;
  step(`resolver ${ownerAt(state.ingest, index).claim} makes ${event} a dead letter`, (next) => {
    settle(ownerAt(next.ingest, index), at);
    if (!next.dead.includes(event)) next.dead.push(event);
  });
}

function write(next: State, index: number, at: number, event: number): string | undefined {
  const resolver = ownerAt(next.ingest, index);
  const { log } = next.events;
  const isThere = log.some((message) => message.event === event);
  settle(resolver, at);
  resolver.ids = [...resolver.ids, event].toSorted((a, b) => a - b);
  log.push({ event, at: (next.clock += 1) });
  resolver.last = next.clock;
  next.checkpoint = { seq: log.length, at: next.clock, ids: resolver.ids };
  return isThere ? `TWICE: ${event} is written to EVENTS again` : undefined;
}

/** The database refuses an event permanently, or stops writing for an account, perhaps forever. */
export function addDatabase({ state, size, step, fault }: Adding): void {
  for (const { event } of state.ingest.log) {
    if (state.events.log.some((message) => message.event === event) || state.refused.includes(event)) continue;
    fault('refusals', `the database refuses ${event}`, (next) => void next.refused.push(event));
    const account = accountOf(event, size);
    if (state.stalled.includes(account)) continue;
    fault('stalls', `the database writes nothing of account ${account}`, (next) => void next.stalled.push(account));
  }
  const reached = (next: State): void => {
    next.stalled = [];
  };
  if (state.stalled.length > 0) step('the database writes of every account again', reached, true);
}
