import { expect, test } from 'vitest';
import { httpDestination } from '../../../../shared/destinations/http-destination/destination.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import { compileDispatchPlan } from '../../../../shared/routing/dispatch-plan.ts';
import type { DispatchRules } from '../../../../shared/routing/dispatch-plan.ts';
import { unknownRegion } from '../../../../shared/routing/consent/region.ts';
import { wholeEvent } from '../events/read-event.ts';
import { DispatchItem } from '../sources/dispatch-item.ts';
import { decideAttempt } from './decide-attempt.ts';
import type { DispatchTarget } from './dispatch-target.ts';

const settings = { ...httpDestination.exampleSettings, batchSize: '1000' };
const prepared = { ...httpDestination.prepare(settings), order: 'visitor' } as const;
const destination = {
  id: 'd',
  accountId: 'a',
  type: 'HTTPDestination',
  name: '',
  isEnabled: true,
  settings,
  limitedToSourceIds: undefined,
  hashingSalt: undefined,
  unreadable: undefined,
};

type Rule = DispatchRules['collections']['mappings'][number];

function targetWith(rule: Pick<Rule, 'mappings' | 'others'>): DispatchTarget {
  const mapping = { ...rule, id: 'm', destinationId: 'd', priority: 1, isEnabled: true, logic: null, action: 'send' };
  const collections = {
    allowedEvents: [],
    consentSettings: [],
    globalDispatchCenters: [],
    mappings: [{ ...mapping, eventName: 'purchase' }],
  };
  const kind = { namesElsewhere: [], consentTypes: [] };
  const plan = compileDispatchPlan({ collections, unreadable: [] }, destination, kind);
  return { destination, versionNumber: 1, publishedAtMs: 0, plan, prepared, problem: undefined };
}

const long = 'x'.repeat(60_000);
const row = (property: string, map: string) => ({ property, map, modification: null });

test.each<readonly [rule: string, mapping: Pick<Rule, 'mappings' | 'others'>]>([
  ['only renames the event', { mappings: [], others: 'omit' }],
  ['keeps the other properties', { mappings: [row('n', '{{event.event_properties.n}}')], others: 'keep' }],
  ['copies a large value', { mappings: [row('a', '{{event.context.long}}')], others: 'omit' }],
  ['sends one small property', { mappings: [row('n', '{{event.event_properties.n}}')], others: 'omit' }],
])('attempt: an event whose mapping %s counts at least the bytes of its request', (_rule, mapping) => {
  const { context } = sampleEvent().event;
  const resolved = sampleEvent({ event_properties: { n: 1, long }, context: { ...context, long } });
  const source = { kind: 'log', message: { seq: 1, storedAtMs: 0 } as LogMessage } as const;
  const frame = { source, bytes: 0, left: 1, settled: undefined, sinceMs: 0, isStarted: false, slot: 0 };
  const item = new DispatchItem(frame, wholeEvent(resolved, JSON.stringify(resolved).length));
  const decision = decideAttempt(item, targetWith(mapping), {
    isErased: () => false,
    consent: { lastWords: () => undefined, onUnreadable: () => undefined, regionOf: () => unknownRegion },
    eventWorkMax: 1_000_000,
    spend: () => undefined,
  });
  expect(decision).toEqual({ kind: 'send' });
  const { body = '' } = prepared.buildRequest([item], 0);
  expect(item.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(body));
});
