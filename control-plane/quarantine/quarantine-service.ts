import type { Pool } from 'pg';
import { isPlaceholder } from '../../shared/contracts/events/placeholder-identifier.ts';
import { compileIdentityRules } from '../../shared/visitors/identity-rules.ts';
import type { IdentityRules } from '../../shared/visitors/identity-rules.ts';
import { cleanEmail, cleanText, anonymousVisitorId, identifiersOf } from '../../shared/visitors/visitor-identity.ts';
import type { AnnouncedErasure } from '../../shared/visitors/erase-visitor.ts';
import type { Identifier } from '../../shared/visitors/visitor-identity.ts';
import type { Envelope } from '../../shared/contracts/events/envelope.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import {
  deleteQuarantined,
  envelopeOf,
  eraseFromQuarantine,
  readQuarantine,
  releaseQuarantined,
} from '../../shared/nats/quarantine/quarantine.ts';
import type {
  QuarantineBounds,
  QuarantineFilter,
  QuarantinePart,
  QuarantineRange,
} from '../../shared/nats/quarantine/quarantine.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { unavailable } from '../api/api-error.ts';
import { defineService } from '../api/services.ts';

/** The result of one call, and where the next call starts; `next` is undefined after the last call. */
export type DoneWithQuarantine = { readonly count: number; readonly next: QuarantineRange | undefined };

export type ReleasedByRule = { readonly released: number; readonly isComplete: boolean };

type Request = {
  readonly accountId: string;
  readonly filter: QuarantineFilter;
  readonly range?: QuarantineRange | undefined;
};

/** Quarantined events in the log. Throws a 503 if the log does not answer. */
export type QuarantineService = {
  list(request: Request, limit: number): Promise<QuarantinePart>;
  release(request: Request): Promise<DoneWithQuarantine>;
  delete(request: Request): Promise<DoneWithQuarantine>;
  /** Releases the events that a rule quarantined, up to 10,000. Throws a 503 only if none was released. */
  releaseRule(accountId: string, rule: string): Promise<ReleasedByRule>;
  /**
   * Deletes the events, received until the erasure, whose visitor is identified by one of its identifiers. `db`: the
   * connection of the erasure's transaction, since a second one might not be free before the transaction ends.
   */
  erase(db: Queryable, accountId: string, erasure: Pick<AnnouncedErasure, 'identifiers' | 'atMs'>): Promise<void>;
};

export const quarantine = defineService<QuarantineService>('quarantine');

/** The most that one call reads, releases or deletes. */
const bounds: QuarantineBounds = { eventsMax: 1_000, bytesMax: 16 * 1024 ** 2 };

/** Maximum number of calls for one rule in a request; `isComplete` is false if events are left. */
const partsPerRuleMax = 10;

export function createQuarantineService(connection: LogConnection, pool: Pool): QuarantineService {
  const ask = async <Answer>(question: () => Promise<Answer>): Promise<Answer> => {
    try {
      if (!connection.connected) throw new Error('not connected');
      return await question();
    } catch (error) {
      const failure = unavailable('the log cannot be reached or is busy, try again');
      failure.cause = error;
      throw failure;
    }
  };
  const eachPart = (request: Request, use: (part: QuarantinePart) => Promise<void>): Promise<DoneWithQuarantine> =>
    ask(async () => {
      const part = await readQuarantine(connection, request, bounds);
      await use(part);
      return { count: part.events.length, next: part.next };
    });
  /** The recent-events view then no longer shows these events as quarantined. */
  const hide = async (db: Queryable, accountId: string, eventIds: readonly string[]): Promise<void> => {
    if (eventIds.length === 0) return;
    await db.query(
      "delete from recent_events where account_id = $1 and id = any($2::text[]) and visitor_id = '' and plan->>'outcome' = 'quarantined'",
      [accountId, eventIds.map((id) => cleanText(id) ?? '')],
    );
  };
  const release = (request: Request, onReleased?: (count: number) => void): Promise<DoneWithQuarantine> =>
    eachPart(request, async ({ events }) => {
      // Hide the events before their release: an event that breaks a rule again is then shown again.
      await hide(pool, request.accountId, idsOf(events));
      await releaseQuarantined(connection, events, onReleased);
    });
  return {
    list: (request, limit) => ask(() => readQuarantine(connection, request, { ...bounds, eventsMax: limit })),
    release: (request) => release(request),
    delete: (request) =>
      eachPart(request, async ({ events }) => {
        await deleteQuarantined(connection, events);
        await hide(pool, request.accountId, idsOf(events));
      }),
    async releaseRule(accountId, rule) {
      let released = 0;
      let range: QuarantineRange | undefined;
      try {
        for (let part = 0; part < partsPerRuleMax; part += 1) {
          const { next } = await release({ accountId, filter: { rule }, range }, (count) => {
            released += count;
          });
          range = next;
          if (next === undefined) return { released, isComplete: true };
        }
      } catch (error) {
        if (released === 0) throw error;
      }
      return { released, isComplete: false };
    },
    async erase(db, accountId, { identifiers, atMs }) {
      const erased = new Set(identifiers.map(keyOf));
      const { rows } = await db.query<{ identity: unknown }>('select identity from accounts where id = $1', [
        accountId,
      ]);
      const rules = compileIdentityRules(rows[0]?.identity ?? undefined);
      const isOf = (envelope: Envelope): boolean =>
        envelope.at <= atMs && identifiersOf(claimOf(envelope, rules)).some((one) => erased.has(keyOf(one)));
      const deleted = await ask(() => eraseFromQuarantine(connection, accountId, bounds, isOf));
      await hide(db, accountId, deleted);
    },
  };
}

const idsOf = (events: QuarantinePart['events']): readonly string[] => events.map(({ line }) => envelopeOf(line).id);

const keyOf = ({ kind, value }: Identifier): string => `${kind}\n${value}`;

/** All identifiers of the visitor that an event contains. As in a resolver, placeholders and blocked values are none. */
function claimOf({ account, id, body }: Envelope, { isBlocked }: IdentityRules): Parameters<typeof identifiersOf>[0] {
  const own = isJsonObject(body.userProperties) ? body.userProperties : {};
  const some = (values: readonly (string | undefined)[]): string[] =>
    values.filter((value) => value !== undefined).filter((value) => !isPlaceholder(value) && !isBlocked(value));
  return {
    userId: some([cleanText(body.userId)])[0],
    externalIds: some([cleanText(body.externalId), cleanText(own['external_id'])]),
    emails: some([cleanEmail(body.email), cleanEmail(own['email'])]),
    anonymousId: anonymousVisitorId(account, id),
  };
}
