import type { Rules } from './rules.ts';
import type { StageName, State } from './state.ts';

/**
 * The next owner of a consumer begins with the unacknowledged messages of the previous one. A resolver also begins with
 * the stored ids, a dispatcher with the waiting events.
 */
export function claimAnew(after: State, name: StageName, rules: Rules): void {
  const stage = after[name];
  const { consumer: place } = stage;
  const seqs = Array.from({ length: place.handedOut - place.floor }, (_, at) => place.floor + 1 + at);
  if (rules.unfinishedFirst) place.handedOut = place.floor;
  else place.late = seqs.filter((seq) => !place.acknowledged.includes(seq));
  place.claim += 1;
  const ids = name === 'ingest' ? knownIds(after, rules) : after.waiting.map(({ event }) => event);
  const last = name === 'ingest' ? (after.events.log.at(-1)?.at ?? 0) : 0;
  stage.owners.unshift({ claim: place.claim, held: [], ids, retried: [], last });
}

/**
 * The ids that a resolver starts with: the ids in EVENTS and, unless EVENTS lost its last message, the ids in the
 * checkpoint.
 */
function knownIds({ checkpoint, events, removed }: State, rules: Rules): number[] {
  const isRemoved = (seq: number): boolean => removed.includes(seq);
  const inLog = events.log.flatMap(({ event }, index) => (isRemoved(index + 1) ? [] : [event]));
  const isCut = events.log.length < checkpoint.seq || (events.log[checkpoint.seq - 1]?.at ?? 0) !== checkpoint.at;
  const isGiven = !isCut && (rules.absentIsNotLost || !isRemoved(checkpoint.seq));
  return [...new Set([...inLog, ...(isGiven ? checkpoint.ids : [])])].toSorted((a, b) => a - b);
}
