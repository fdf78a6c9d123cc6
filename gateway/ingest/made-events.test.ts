import { expect, test } from 'vitest';
import type { GroupCommit } from '../commit/group-commit.ts';
import type { Exchange } from '../http/exchange.ts';
import { Admitted } from './admission.ts';
import type { Admission } from './admission.ts';
import type { MadeEvent } from './encode-made.ts';
import { Intake } from './intake.ts';
import { MadeEvents } from './made-events.ts';
import { noEvents } from './published-sources.ts';
import type { PublishedSource } from './published-sources.ts';

/** The partition of each event of a request. */
function partitionsOf(events: readonly MadeEvent[]): readonly number[] {
  const found: number[] = [];
  const commit = { hasRoom: () => true, append: (partition: number) => found.push(partition) };
  const admission = { keptAddress: () => undefined } as unknown as Admission;
  const intake = new Intake(admission, commit as unknown as GroupCommit, 64);
  const source = { envelopePrefix: '{', partitionSeed: 1, accountId: 'a', tally: noEvents() } as PublishedSource;
  const exchange = { head: { userAgent: '', traceparent: '' } } as Exchange;
  const limits = { timeWindow: { pastMsMax: 1, aheadMsMax: 1 }, bytesMax: 1_000 };
  new MadeEvents(intake, limits).store(exchange, new Admitted(source, Date.now()), events, 'key');
  return found;
}

const many = (fields: (n: number) => object): readonly MadeEvent[] =>
  Array.from({ length: 20 }, (_, n) => ({ kind: 'track', payload: { token: '*', event: 'E', ...fields(n) } }));

test('made events: the events of a request that have no id are stored together, since its repeat has other ids', () => {
  expect(new Set(partitionsOf(many((n) => ({ eventProperties: { n } })))).size).toBe(1);
  expect(new Set(partitionsOf(many((n) => ({ distinctId: `id-${n}` })))).size).toBeGreaterThan(1);
  expect(new Set(partitionsOf(many((n) => ({ userId: `user-${n}` })))).size).toBeGreaterThan(1);
});
