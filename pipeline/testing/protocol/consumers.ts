import { claimAnew } from './claims.ts';
import type { Rules } from './rules.ts';
import { accountOf, ownerAt } from './state.ts';
import type { Adding, Consumer, Message, Stage, StageName, State } from './state.ts';

const heldMax = 2;

/** Owners receive messages, die or are considered dead, and are replaced. */
export function addOwners(adding: Adding, name: StageName): void {
  const { state, rules, size, step, fault } = adding;
  const { log, consumer, owners } = state[name];
  for (const [index, { claim, held }] of owners.entries()) {
    if (rules.oneOwner && claim !== consumer.claim) continue;
    const next = nextSeq(consumer);
    const candidates = [...(next <= log.length ? [next] : []), ...consumer.late.filter((seq) => seq <= log.length)];
    const atWork = held.filter(({ isSettled }) => !isSettled);
    for (const seq of candidates) {
      const { event } = messageAt(state[name], seq);
      // Each account has its own limit of messages in flight.
      const beside = rules.accountsWaitAlone
        ? held.filter((one) => accountOf(one.event, size) === accountOf(event, size))
        : held;
      if (beside.length >= heldMax) continue;
      const isAlone = atWork.length === 0 || ![event, ...atWork.map((one) => one.event)].some(isSuspected);
      if (!isAlone) continue;
      step(`owner ${claim} of ${name} is given ${event}, ${seq} of its log`, (after) => {
        take(after, name, index, seq, rules);
        return claim === consumer.claim ? undefined : `TWO OWNERS: ${claim} is given a message after ${consumer.claim}`;
      });
    }
  }
  function isSuspected(event: number): boolean {
    return name === 'events' && rules.suspectsGoAlone && state.suspected.includes(`events ${event}`);
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

function take(after: State, name: StageName, index: number, seq: number, rules: Rules): void {
  const stage = after[name];
  const owner = ownerAt(stage, index);
  const message = messageAt(stage, seq);
  if (stage.consumer.late.includes(seq)) stage.consumer.late = stage.consumer.late.filter((one) => one !== seq);
  else stage.consumer.handedOut = seq;
  const isKnown = owner.held.some((one) => one.seq === seq && (!rules.knownByTime || one.at === message.at));
  const decidedBy = rules.decidedAtAttempt ? 0 : after.version;
  if (!isKnown) owner.held.push({ ...message, seq, decidedBy, isSettled: false });
  if (!rules.storedBeforeAcknowledged) acknowledge(stage.consumer, seq);
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

const isAcknowledged = ({ floor, acknowledged }: Consumer, seq: number): boolean =>
  seq <= floor || acknowledged.includes(seq);

/**
 * Owners acknowledge settled messages, in each account the oldest first, unless the log has meanwhile given the
 * sequence to another message.
 */
export function addAcknowledging({ state, rules, size, step }: Adding, name: StageName): void {
  for (const [index, { claim, held }] of state[name].owners.entries()) {
    for (const [at, { event, isSettled }] of held.entries()) {
      const isOldest = !held.slice(0, at).some((one) => accountOf(one.event, size) === accountOf(event, size));
      if (!isSettled || !isOldest) continue;
      step(`owner ${claim} of ${name} acknowledges ${event}`, (next) => {
        const stage = next[name];
        const [done] = ownerAt(stage, index).held.splice(at, 1);
        if (done === undefined) return;
        const isSame = stage.log[done.seq - 1]?.at === done.at;
        if (isSame || !rules.knownByTime) acknowledge(stage.consumer, done.seq);
      });
    }
  }
}

/**
 * A server restarts from files that lack the newest message. Readers reconnect, and the server resets their consumers
 * to the new end of the log.
 */
export function addCut({ state, rules, fault }: Adding, name: StageName): void {
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

/** Retention removes dispatched events from EVENTS, account by account, but keeps events that a reference points to. */
export function addRetention({ state, rules, fault }: Adding): void {
  for (const [index, { event }] of state.events.log.entries()) {
    const seq = index + 1;
    const isReferenced = rules.keptWhileReferenced && state.waiting.some((one) => one.seq === seq);
    if (state.removed.includes(seq) || isReferenced || !isAcknowledged(state.events.consumer, seq)) continue;
    fault('removals', `retention removes ${event}`, (next) => void next.removed.push(seq));
  }
}

function messageAt({ log }: Stage, seq: number): Message {
  const message = log[seq - 1];
  if (message === undefined) throw new Error(`there is no message ${seq}`);
  return message;
}
