import { expect, test } from 'vitest';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { createSecretBox } from '../../shared/contracts/config/secrets.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { decideWays, maskNames } from './decide-ways.ts';
import type { RecentEventRecord } from './recent-events.ts';

const destination = (id: string, settings: JsonObject = {}) => ({
  id,
  type: 'HTTPCustomRequest',
  status: 'Enabled',
  settings: { url: 'https://example.com/in', body: '{{event.event}}', ...settings },
});

/** A rule whose properties are many times as large as the event. */
const multiplying = (destinationId: string) => ({
  id: `m-${destinationId}`,
  name: null,
  destinationId,
  priority: 1,
  isEnabled: true,
  logic: null,
  action: 'send',
  eventName: null,
  others: 'omit',
  mappings: ['a', 'b', 'c'].map((property) => ({
    property,
    map: '{{event.event_properties.note}}'.repeat(100),
    modification: 'None',
  })),
});

const record = (note: string): RecentEventRecord => ({
  id: 'e',
  time: new Date(0),
  receivedAt: new Date(0),
  sourceId: 's',
  name: 'Ordered',
  visitorId: 'v',
  test: false,
  versionNumber: null,
  sampleOf: 1,
  origin: 0,
  body: { event_properties: { note }, context: {}, visitor: {} },
  plan: null,
  outcomes: [],
});

const waysOf = (given: Partial<Snapshot>, note: string, destinationId?: string) =>
  decideWays({
    accountId: 'a',
    snapshot: { ...Object.fromEntries(collectionNames.map((name) => [name, []])), ...given } as Snapshot,
    destinationId,
    record: record(note),
    secretBox: createSecretBox(Buffer.alloc(32).toString('base64')),
    nowMs: 0,
  });

test('ways: a mapping that would cost a dispatcher too much work is broken, and no other destination is', async () => {
  const note = 'x'.repeat(15_000);
  const destinations = [destination('mapped'), destination('unmapped')];
  const mappings = [multiplying('mapped')];
  const ways = await waysOf({ destinations, mappings }, note);
  expect(ways.map(({ decision }) => decision)).toEqual(['broken', 'send']);
  expect(ways[0]?.why).toContain('2000000 units of work');
  const small = await waysOf({ destinations, mappings }, 'x');
  expect(small.map(({ decision }) => decision)).toEqual(['send', 'send']);
});

test('ways: the rules of all destinations together have a limit of work, which a single destination does not reach', async () => {
  const note = 'x'.repeat(3_000);
  const ids = Array.from({ length: 20 }, (_, index) => `d${String(index)}`);
  const given = { destinations: ids.map((id) => destination(id)), mappings: ids.map(multiplying) };
  const decisions = (await waysOf(given, note)).map(({ decision }) => decision);
  expect(decisions.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'send'));
  expect(decisions.at(-1)).toBe('broken');
  expect((await waysOf(given, note, 'd19'))[0]?.decision).toBe('send');
});

test('ways: a name that a mapping takes from values of the event can be masked, and a fixed name stays', async () => {
  const mappings = [
    { ...multiplying('taken'), eventName: 'Order of {{event.event_properties.note}}', mappings: [] },
    { ...multiplying('fixed'), eventName: 'Purchase', mappings: [] },
  ];
  const given = { destinations: ['taken', 'fixed', 'unmapped'].map((id) => destination(id)), mappings };
  const ways = await waysOf(given, 'Ann');
  const names = (of: typeof ways): readonly unknown[] => of.map(({ eventName }) => eventName);
  expect(names(ways)).toEqual(['Order of Ann', 'Purchase', 'Ordered']);
  expect(names(maskNames(ways, { mappings }))).toEqual(['Aaaaa aa Aaa', 'Purchase', 'Ordered']);
});
