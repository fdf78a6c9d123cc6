import pino from 'pino';
import { expect, test } from 'vitest';
import type { ConsentChange } from '../../../shared/nats/erasures/announce-withdrawals.ts';
import { KnownWithdrawals } from '../../../shared/nats/erasures/known-withdrawals.ts';
import { hashedVisitor } from '../../../shared/contracts/erasure-notice.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { createWithdrawals } from './withdrawals.ts';
import type { Withdrawals } from './withdrawals.ts';

const accountId = 'account';
const key = Buffer.alloc(32, 7);

/** A resolver's announcements for one visitor, and a follower that gets them when `deliver` is called. */
function announcing() {
  const known = new KnownWithdrawals(key);
  const undelivered: ConsentChange[] = [];
  const stream = { isCurrent: true };
  const create = (): Withdrawals =>
    createWithdrawals({
      connection: {} as never,
      visitors: { aliasesOf: () => Promise.resolve(new Map()) },
      erasures: {
        get isCurrent() {
          return stream.isCurrent;
        },
        lastWords: (account, event) => known.lastWords(account, event),
      },
      plans: () => ({ hasPurposes: true }),
      logger: pino({ level: 'silent' }),
    });
  let withdrawals = create();
  return {
    stream,
    /** The resolver ends, and another one starts. */
    restart() {
      withdrawals = create();
    },
    /** Resolves an event of the visitor, whose stored consent is `ads` after it; returns what is announced. */
    event(
      receivedAtMs: number,
      ads: boolean,
      {
        saidAtMs = receivedAtMs,
        isSaid = true,
        mergedIds = [],
      }: { readonly saidAtMs?: number; readonly isSaid?: boolean; readonly mergedIds?: readonly string[] } = {},
    ) {
      const given = isSaid ? [{ consent: { ads } }] : [];
      const touch = { accountId, claim: {} as never, receivedAtMs, given, sentWith: 'public' as const };
      const properties = new VisitorProperties({ consent: { ads } });
      const changes = withdrawals.changesOf({ touch, saidAtMs }, { id: 'ann', properties, mergedIds });
      undelivered.push(...changes);
      return changes.map(({ words, atMs }) => [words['ads'], atMs]);
    },
    deliver() {
      for (const { visitorIds, words, atMs } of undelivered.splice(0)) {
        const visitors = visitorIds.map((id) => hashedVisitor(key, accountId, id));
        known.take(accountId, { v: 1, changes: [{ visitors, words, atMs }] });
      }
    },
    isDenied: (visitorId = 'ann') =>
      known.lastWords(accountId, { visitorId, receivedAtMs: Infinity })?.get('ads')?.isDenial === true,
  };
}

test('withdrawals: a grant that each event of a visitor repeats is announced once, before and after the stream delivers it', () => {
  const { event, deliver, isDenied } = announcing();
  expect(event(1, false)).toEqual([[false, 1]]);
  deliver();
  expect(event(2, true)).toEqual([[true, 2]]);
  expect([event(3, true), event(4, true)]).toEqual([[], []]);
  deliver();
  expect([event(5, true), event(6, true)]).toEqual([[], []]);
  expect(isDenied()).toBe(false);
});

test('withdrawals: a grant that follows a denial before the stream delivers the denial is announced once', () => {
  const { event, deliver, isDenied } = announcing();
  expect([event(1, false), event(2, true), event(3, true)]).toEqual([[[false, 1]], [[true, 2]], []]);
  deliver();
  expect([event(4, true), isDenied()]).toEqual([[], false]);
});

test('withdrawals: a denial that follows a grant is announced, although the stream still delivers only the denial before the grant', () => {
  const { event, deliver, isDenied } = announcing();
  event(1, false);
  deliver();
  expect([event(2, true), event(3, false)]).toEqual([[[true, 2]], [[false, 3]]]);
  deliver();
  expect(isDenied()).toBe(true);
  expect([event(4, true), event(5, false)]).toEqual([[[true, 4]], [[false, 5]]]);
  deliver();
  expect(isDenied()).toBe(true);
});

test('withdrawals: a grant that was received before the denial is not announced, since the denial holds', () => {
  const { event, deliver, isDenied } = announcing();
  event(10, false);
  expect(event(9, true)).toEqual([]);
  deliver();
  expect([event(9, true, { saidAtMs: 8 }), event(12, true, { isSaid: false }), isDenied()]).toEqual([[], [], true]);
});

test('withdrawals: a visitor who grants after a denial is granted, also in one request and with times before it', () => {
  const { event, deliver, isDenied } = announcing();
  expect([event(20, false, { saidAtMs: 1 }), event(20, true, { saidAtMs: 5 })]).toEqual([[[false, 20]], [[true, 21]]]);
  deliver();
  expect([event(30, true, { isSaid: false }), isDenied()]).toEqual([[], false]);
});

test('withdrawals: of a denial, a grant and a denial in one request the last denial holds, also after a crash', () => {
  const { event, deliver, isDenied, restart } = announcing();
  const send = () => [event(20, false), event(20, true), event(20, false)];
  expect(send()).toEqual([[[false, 20]], [[true, 21]], [[false, 21]]]);
  deliver();
  expect(isDenied()).toBe(true);
  restart();
  send();
  deliver();
  expect(isDenied()).toBe(true);
});

test('withdrawals: a denial that the stream has is announced for an id that was merged since, until the stream has it too', () => {
  const { event, deliver, isDenied, restart } = announcing();
  event(1, false);
  deliver();
  expect([event(2, false, { isSaid: false }), isDenied('device')]).toEqual([[], false]);
  restart();
  expect(event(3, false, { isSaid: false, mergedIds: ['device'] })).toEqual([[false, 3]]);
  deliver();
  expect([event(4, false, { isSaid: false, mergedIds: ['device'] }), isDenied('device')]).toEqual([[], true]);
});

test('withdrawals: while the log does not answer, a denial is announced again, and a grant of a known denial is announced', () => {
  const { event, deliver, stream, restart } = announcing();
  event(1, false);
  deliver();
  expect(event(2, false, { isSaid: false })).toEqual([]);
  stream.isCurrent = false;
  restart();
  expect(event(3, true)).toEqual([[true, 3]]);
  restart();
  expect(event(4, false, { isSaid: false })).toEqual([[false, 4]]);
});
