import pino from 'pino';
import { expect, test } from 'vitest';
import { decodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { VisitorsRefusedError } from '../../../shared/visitors/visitor-store.ts';
import type { VisitorOutcome, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { createDeduplication } from './deduplication.ts';
import { resolveFrames } from './resolve-frames.ts';
import type { StepContext } from './resolve-frames.ts';
import { createResolverCounts } from './resolver-context.ts';
import { defaultSettings, frameOf } from './testing/resolver-rig.ts';

const [erased, refused] = ['erased', 'refused'];
const properties = new VisitorProperties({ custom_properties: {} });

function outcomeOf({ claim }: VisitorTouch): VisitorOutcome {
  if (claim.userId === refused) throw new VisitorsRefusedError('storing a visitor: refused');
  return claim.userId === erased ? { kind: 'erased' } : { kind: 'resolved', id: 'v', properties, created: false };
}

function createContext(): StepContext {
  return {
    connection: { messageBytesMax: 1024 ** 2 },
    visitors: {
      resolve: async (touches) => ({
        outcomes: touches.map(outcomeOf),
        created: 0,
        updated: 0,
        merged: 0,
        oversized: 0,
      }),
    },
    plans: () => ({
      versionNumber: 1,
      allows: (name) => name !== 'Forbidden',
      sourceRules: () => ({
        botControl: { mode: 'Block', threshold: 10 },
        excludeRequestContext: false,
        isVisitorsConnection: true,
      }),
    }),
    settings: defaultSettings,
    logger: pino({ level: 'silent' }),
    deduplication: createDeduplication(defaultSettings.deduplication),
    counts: createResolverCounts(),
    signal: new AbortController().signal,
    beginTurn: () => undefined,
  };
}

const stored = (seq: number, data: Uint8Array) => ({ seq, data, storedAtMs: Date.now() });

test('resolve frames: what leaves is counted by why it does, and the rest goes on in order', async () => {
  const context = createContext();
  const event = (id: string, body: Readonly<Record<string, string>> = {}) => ({
    id,
    body: { event: 'Order', ...body },
  });
  const events = [
    event('first'),
    event('first'),
    { ...event('bot'), bot: 90 },
    event('forbidden', { event: 'Forbidden' }),
    event('gone', { userId: 'erased' }),
    event('odd', { userId: 'refused' }),
    event('last'),
  ];
  const frames = [stored(1, frameOf('account', events)), stored(2, Buffer.from('{"v":1}\n'))];
  const { frames: written, deadLetters } = await resolveFrames(context, frames);
  expect(written.flatMap(({ payload }) => decodeResolved(payload).map(({ event: { id } }) => id))).toEqual([
    'first',
    'last',
  ]);
  expect(deadLetters.map(({ seq, line, reason }) => ({ seq, line, reason }))).toEqual([
    { seq: 2, line: 0, reason: 'reading a frame: an envelope misses a field' },
    { seq: 1, line: 5, reason: 'storing a visitor: refused' },
  ]);
  expect(context.counts).toMatchObject({
    events: 8,
    duplicates: 1,
    bots_dropped: 1,
    not_allowed_dropped: 1,
    erased_dropped: 1,
    dead_letters: 0,
  });
});

test('resolve frames: a frame that is none is kept as it is, and the next one is read', async () => {
  const context = createContext();
  const frames = [
    stored(1, Buffer.from([0xff, 0xfe])),
    stored(2, frameOf('account', [{ id: 'a', body: { event: 'E' } }])),
  ];
  const { frames: written, deadLetters } = await resolveFrames(context, frames);
  expect(written.map(({ events }) => events)).toEqual([1]);
  expect(deadLetters).toMatchObject([{ seq: 1, line: undefined, payload: Buffer.from([0xff, 0xfe]) }]);
});
