import { expect, test } from 'vitest';
import { eventOutcomes, leavesOf } from './event-outcomes.ts';
import type { EventOutcome } from './event-outcomes.ts';
import { destinationKinds, findDestinationKind } from './registry.ts';
import { platformEvents } from './sdk/platform-events.ts';
import { standardEvents } from './sdk/standard-events.ts';
import type { PlatformVocabulary } from './sdk/standard-events.ts';

function outcomesOf(id: string, settings: Readonly<Record<string, unknown>> = {}): readonly EventOutcome[] {
  const kind = findDestinationKind(id);
  if (kind === undefined) throw new Error(`there is no ${id}`);
  return eventOutcomes(kind, { ...kind.exampleSettings, ...settings });
}

const outcomeOf = (id: string, label: string, settings = {}): EventOutcome | undefined =>
  outcomesOf(id, settings).find((outcome) => outcome.label === label);

test.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))(
  'event outcomes: %s sends, skips or refuses each event, and says why',
  (id, kind) => {
    const outcomes = eventOutcomes(kind, kind.exampleSettings);
    expect(new Set(outcomes.map(({ label }) => label)).size).toBe(Object.keys(standardEvents).length + 4);
    for (const outcome of outcomes) {
      if (outcome.outcome === 'sent') expect(outcome.requests.length).toBeGreaterThan(0);
      else expect(outcome.reason).toMatch(/^\S.{5,}/);
    }
    // If a kind declares its own name for an event, it must send the event under that name.
    const { names }: Pick<PlatformVocabulary, 'names'> = (
      platformEvents as Readonly<Record<string, PlatformVocabulary | undefined>>
    )[id] ?? { names: {} };
    for (const [event, name] of Object.entries(names)) {
      const label = event === 'pageView' ? 'page' : standardEvents[event as keyof typeof standardEvents].label;
      const outcome = outcomes.find((one) => one.label === label);
      if (outcome?.outcome === 'sent' && outcome.name !== undefined)
        expect([event, outcome.name]).toEqual([event, name]);
    }
  },
);

test('event outcomes: the name, the requests and the reason follow from the kind and its settings', () => {
  expect(outcomeOf('Facebook', 'Order Completed')).toMatchObject({
    outcome: 'sent',
    name: 'Purchase',
    requests: [{ method: 'POST', content: { data: [{ event_name: 'Purchase' }] } }],
  });
  expect(outcomeOf('Braze', 'identify')).toMatchObject({ outcome: 'sent' });
  expect(outcomeOf('Facebook', 'alias')).toEqual({
    label: 'alias',
    outcome: 'skipped',
    reason: 'the platform cannot join two ids',
  });
  expect(outcomeOf('SnapchatAdsCapi', 'Contacted', { otherEvents: 'none' })).toMatchObject({ outcome: 'skipped' });
});

test('event outcomes: base64 content is shown decoded', () => {
  const outcome = outcomeOf('AWSKinesis', 'Order Completed');
  const leaves = outcome?.outcome === 'sent' ? [...leavesOf(outcome.requests[0]?.content)] : [];
  expect(leaves).toContainEqual(['Records[].Data.event.event_properties.order_id', 'A-1001']);
});
