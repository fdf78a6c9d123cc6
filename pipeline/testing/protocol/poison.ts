import { claimAnew } from './claims.ts';
import type { Rules } from './rules.ts';
import { ownerAt } from './state.ts';
import type { Adding, Change, State, Suspect } from './state.ts';

/**
 * Maximum number of dispatchers that one event may crash: two for each log that contains the event while its frame is
 * not acknowledged.
 */
const takenDownMax = 4;

type Attempt = { readonly deliver: Change; readonly fail: Change; readonly quarantine: Change };

/**
 * A dispatcher sends the next event. A poison event crashes its dispatcher each time it is sent, until it is
 * quarantined.
 */
export function addAttempt(adding: Adding, index: number, suspect: Suspect, attempt: Attempt): void {
  const { state, rules, step, fault } = adding;
  const [from, number] = suspect.split(' ');
  const event = Number(number);
  const { claim, held } = ownerAt(state.events, index);
  const who = `dispatcher ${claim}`;
  const which = from === 'retry' ? `${event} of the retry log` : `${event}`;
  const atWork = new Set<Suspect>([suspect]);
  for (const one of held) if (!one.isSettled) atWork.add(`events ${one.event}`);
  if (state.quarantined.includes(suspect)) {
    step(`${who} quarantines ${which}`, (next) => {
      attempt.quarantine(next);
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

/**
 * After a first crash all messages in flight are suspects. A suspect that was alone in flight at another crash is
 * quarantined.
 */
function suspectAfterDeath(next: State, atWork: readonly Suspect[], rules: Rules): void {
  const guilty = atWork.filter((one) => next.suspected.includes(one));
  if (atWork.length === 1) next.quarantined.push(...guilty);
  if (!rules.oneDeathIsNoProof) next.quarantined.push(...atWork);
  next.suspected = [...new Set([...next.suspected, ...atWork])].toSorted();
}

/** Stores a dead letter once: the log knows the ids of its messages. */
function keepLetter(next: State, suspect: Suspect, event: number, rules: Rules): string | undefined {
  if (!next.poison.includes(event)) return `INNOCENT: ${event} is quarantined`;
  const isKept = next.letters.includes(suspect);
  if (!rules.quarantinedIsKept || (isKept && rules.lettersAreKnown)) return undefined;
  next.letters.push(suspect);
  if (!next.dead.includes(event)) next.dead.push(event);
  return isKept ? `TWICE: ${event} is a dead letter again` : undefined;
}
