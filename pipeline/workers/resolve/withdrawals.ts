import { LRUCache } from 'lru-cache';
import { consentMarks, readConsentWords } from '../../../shared/contracts/events/consent-words.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Erasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import { announceWithdrawals } from '../../../shared/nats/erasures/announce-withdrawals.ts';
import type { ConsentChange } from '../../../shared/nats/erasures/announce-withdrawals.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
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
};

/** An event that may state consent, and the earlier of its own time and its receipt, in ms since the epoch. */
type Saying = { readonly touch: VisitorTouch; readonly saidAtMs: number };

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

/** Maximum number of visitors whose announced denials are remembered: the stream might not have delivered them yet. */
const announcedMax = 10_000;

/**
 * A denial is announced if it is not the visitor's latest entry in the stream, whichever event shows it: the event that
 * states the denial, the first event after a merge, or an event that is resolved again after a crash. A grant is
 * announced if its event states it and the visitor had denied. So visitors who never denied cause no messages. Global
 * Privacy Control of a known visitor counts as a denial of `$gpc`: it applies to waiting events too, for the purposes
 * that follow the signal.
 */
export function createWithdrawals(options: WithdrawalsOptions): Withdrawals {
  const { connection, visitors, erasures, plans, logger } = options;
  const announced = new LRUCache<string, ReadonlySet<string>>({ max: announcedMax });
  const keyOf = (accountId: string, visitorId: string): string => `${accountId}\n${visitorId}`;
  const withAliases = async (changes: readonly ConsentChange[]): Promise<readonly ConsentChange[]> => {
    const known = new Map<string, ReadonlyMap<string, readonly string[]>>();
    for (const accountId of new Set(changes.map((change) => change.accountId))) {
      const ids = changes.filter((change) => change.accountId === accountId).flatMap(({ visitorIds }) => visitorIds);
      known.set(accountId, await visitors.aliasesOf(accountId, [...new Set(ids)]));
    }
    return changes.map((change) => {
      const aliases = change.visitorIds.flatMap((id) => known.get(change.accountId)?.get(id) ?? []);
      return { ...change, visitorIds: [...change.visitorIds, ...aliases] };
    });
  };
  return {
    changesOf({ touch, saidAtMs }, { id, properties, created }) {
      const { accountId, receivedAtMs, given, sentWith } = touch;
      if (sentWith === 'test' || plans(accountId)?.hasPurposes !== true) return none;
      const consent = properties.value['consent'];
      const isSaid = given.some((members) => Object.hasOwn(members, 'consent'));
      if (consent === undefined) return none;
      const ofVisitor = { visitorId: id, receivedAtMs: Number.POSITIVE_INFINITY };
      const last = erasures.isCurrent ? erasures.lastWords(accountId, ofVisitor) : undefined;
      const before = announced.get(keyOf(accountId, id));
      const isDenied = (name: string): boolean => last?.get(name)?.isDenial === true;
      const denied: Record<string, boolean> = {};
      const granted: Record<string, boolean> = {};
      for (const [name, word] of Object.entries(readConsentWords(consent).words)) {
        if (!word && !isDenied(name)) denied[name] = false;
        else if (word && isSaid && (isDenied(name) || before?.has(name) === true)) granted[name] = true;
      }
      // `$gpc` is not a purpose, so the loop over the purposes does not see it.
      const hasGpc = isJsonObject(consent) && consent[consentMarks.gpc] === true && created !== true;
      if (hasGpc && !isDenied(consentMarks.gpc) && before?.has(consentMarks.gpc) !== true)
        denied[consentMarks.gpc] = false;
      const change = { accountId, visitorIds: [id] };
      const names = Object.keys(denied);
      if (names.length > 0) announced.set(keyOf(accountId, id), new Set([...(before ?? []), ...names]));
      return [
        ...(names.length === 0 ? [] : [{ ...change, words: denied, atMs: receivedAtMs }]),
        ...(Object.keys(granted).length === 0 ? [] : [{ ...change, words: granted, atMs: saidAtMs }]),
      ];
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
