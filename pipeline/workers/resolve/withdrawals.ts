import { LRUCache } from 'lru-cache';
import { consentMarks, hasGpcSignal, readConsentWords } from '../../../shared/contracts/events/consent-words.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Erasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import { announceWithdrawals } from '../../../shared/nats/erasures/announce-withdrawals.ts';
import type { ConsentChange } from '../../../shared/nats/erasures/announce-withdrawals.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { VisitorStore, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import type { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import type { ResolvePlan } from './resolve-plan.ts';

/** A visitor as it is after an event. */
type VisitorAfter = {
  readonly id: string;
  readonly properties: VisitorProperties;
  /** Whether this event created the visitor: then no earlier event of the visitor can be waiting. */
  readonly created?: boolean;
  /** Ids that the event's identifiers had before a merge into this visitor. */
  readonly mergedIds?: readonly string[];
};

/** An event that may state consent, and the earlier of its own time and its receipt, in ms since the epoch. */
type Saying = { readonly touch: VisitorTouch; readonly saidAtMs: number };

/** A visitor's last decision on a purpose, and its time, in ms since the epoch. */
type LastWord = { readonly isDenial: boolean; readonly atMs: number };

/** Announces changes of consent to all senders, so that they also apply to waiting events. */
export type Withdrawals = {
  /** The changes that must be announced before the event is published. */
  changesOf(saying: Saying, visitor: VisitorAfter): readonly ConsentChange[];
  /** Resolves once the log has the changes. Rejects with the signal's reason. */
  announce(changes: readonly ConsentChange[], signal: AbortSignal): Promise<void>;
};

export type WithdrawalsOptions = {
  readonly connection: LogConnection;
  readonly visitors: Pick<VisitorStore, 'aliasesOf'>;
  readonly erasures: Pick<Erasures, 'isCurrent' | 'lastWords'>;
  readonly plans: (accountId: string) => Pick<ResolvePlan, 'hasPurposes'> | undefined;
  readonly logger: Logger;
};

/** Maximum number of visitors whose announcements are remembered: the stream might not have delivered them yet. */
const announcedMax = 10_000;

/**
 * A denial is announced if it is not the latest entry in the stream of its visitor, and of each merged id that the event
 * names, whichever event shows it: the event that states the denial, the first event after a merge, or an event that is
 * resolved again after a crash. A grant is announced if its event states it, the visitor then has it, and it was not
 * received before the visitor's latest entry, a denial. So visitors who never denied cause no messages, and a grant that
 * every event repeats causes one. Global Privacy Control of a known visitor counts as a denial of `$gpc`: it applies to
 * waiting events too, for the purposes that follow the signal.
 */
export function createWithdrawals(options: WithdrawalsOptions): Withdrawals {
  const { connection, visitors, erasures, plans, logger } = options;
  const announced = new LRUCache<string, ReadonlyMap<string, LastWord>>({ max: announcedMax });
  const keyOf = (accountId: string, visitorId: string): string => `${accountId}\n${visitorId}`;
  const withAliases = async (changes: readonly ConsentChange[]): Promise<readonly ConsentChange[]> => {
    const known = new Map<string, ReadonlyMap<string, readonly string[]>>();
    for (const accountId of new Set(changes.map((change) => change.accountId))) {
      const ids = changes.filter((change) => change.accountId === accountId).flatMap(({ visitorIds }) => visitorIds);
      known.set(accountId, await visitors.aliasesOf(accountId, [...new Set(ids)]));
    }
    return changes.map((change) => {
      const aliases = change.visitorIds.flatMap((id) => known.get(change.accountId)?.get(id) ?? []);
      return { ...change, visitorIds: [...new Set([...change.visitorIds, ...aliases])] };
    });
  };
  return {
    changesOf({ touch, saidAtMs }, { id, properties, created, mergedIds = [] }) {
      const { accountId, receivedAtMs, given, sentWith } = touch;
      if (sentWith === 'test' || plans(accountId)?.hasPurposes !== true) return none;
      const consent = properties.value['consent'];
      if (consent === undefined) return none;
      const said = given.map((members) => readConsentWords(members['consent']).words);
      const visitorIds = [id, ...mergedIds];
      const [stored, ...ofMerged] = visitorIds.map((visitorId) =>
        erasures.lastWords(accountId, { visitorId, receivedAtMs: Number.POSITIVE_INFINITY }),
      );
      const own = announced.get(keyOf(accountId, id));
      const lastOf = (name: string): LastWord | undefined => newer(stored?.get(name), own?.get(name));
      // A denial is announced until the stream has it, and after each grant.
      const isStored = (name: string): boolean =>
        erasures.isCurrent &&
        lastOf(name)?.isDenial === true &&
        [stored, ...ofMerged].every((words) => words?.get(name)?.isDenial === true);
      const change = { accountId, visitorIds };
      const changes: ConsentChange[] = [];
      const wordsAt = new Map<string, Record<string, boolean>>();
      const add = (name: string, word: boolean, atMs: number): void => {
        let words = wordsAt.get(`${word} ${atMs}`);
        if (words === undefined) {
          words = {};
          wordsAt.set(`${word} ${atMs}`, words);
          changes.push({ ...change, words, atMs });
        }
        words[name] = word;
      };
      // Never before a grant that the denial follows, which may have the same receipt.
      const deny = (name: string): void => {
        const lasts = [lastOf(name), ...ofMerged.map((words) => words?.get(name))];
        add(name, false, Math.max(receivedAtMs, ...lasts.map((last) => last?.atMs ?? receivedAtMs)));
      };
      for (const [name, word] of Object.entries(readConsentWords(consent).words)) {
        const last = lastOf(name);
        if (!word && !isStored(name)) deny(name);
        // A grant that was received before the denial never undoes it.
        else if (
          word &&
          last?.isDenial === true &&
          receivedAtMs >= last.atMs &&
          said.some((words) => words[name] === true)
        )
          add(name, true, Math.max(saidAtMs, last.atMs + 1));
      }
      // `$gpc` is not a purpose, so the loop over the purposes does not see it.
      const hasGpc = hasGpcSignal(consent) && created !== true;
      const isAnnounced = own?.has(consentMarks.gpc) === true && mergedIds.length === 0;
      if (hasGpc && !isAnnounced && !isStored(consentMarks.gpc)) deny(consentMarks.gpc);
      if (changes.length > 0) announced.set(keyOf(accountId, id), withChanges(own, changes));
      return changes;
    },
    async announce(changes, signal) {
      if (changes.length === 0) return;
      await retry(async () => announceWithdrawals(connection, await withAliases(changes)), {
        signal,
        isPassing: () => true,
        onRetry: (error, attempt) => {
          if (isWorthTelling(attempt)) logger.warn({ err: error }, 'announcing withdrawn consents failed; retrying');
        },
      });
    },
  };
}

const none: readonly ConsentChange[] = [];

/** The newer of two decisions; a denial if both have the same time, as for those who read the stream. */
function newer(one: LastWord | undefined, other: LastWord | undefined): LastWord | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.atMs === other.atMs) return one.isDenial ? one : other;
  return one.atMs > other.atMs ? one : other;
}

function withChanges(
  words: ReadonlyMap<string, LastWord> | undefined,
  changes: readonly Pick<ConsentChange, 'words' | 'atMs'>[],
): ReadonlyMap<string, LastWord> {
  const all = new Map(words);
  for (const { words: changed, atMs } of changes) {
    for (const [name, word] of Object.entries(changed)) {
      const last = newer(all.get(name), { isDenial: !word, atMs });
      if (last !== undefined) all.set(name, last);
    }
  }
  return all;
}
