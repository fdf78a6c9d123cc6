import type { Credentials } from '../../../local/credentials.ts';
import { createStackClient } from '../../../local/testing/stack-client.ts';
import type { StackClient } from '../../../local/testing/stack-client.ts';
import { fillExperiments } from './fill-experiments.ts';
import type { FilledExperiments } from './fill-experiments.ts';
import { hostile } from './hostile-texts.ts';
import type { OddTexts } from './hostile-texts.ts';

/** Ids of the entities in a filled stack. */
export type FilledAccount = {
  readonly client: StackClient;
  readonly healthyId: string;
  readonly failingId: string;
  readonly refusingId: string;
  /** An event that was delivered to one destination and became a dead letter of another. */
  readonly eventId: string;
  /** A mapping with nested conditions. */
  readonly mappingId: string;
  /** A mapping with markup in its name and conditions; it applies to the hostile event. */
  readonly hostileMappingId: string;
  /** A rule of the tracking plan that quarantines events. */
  readonly planRuleId: string;
  readonly experiments: FilledExperiments;
  readonly sourceId: string;
  /** The visitor of the event `eventId`. */
  readonly visitorId: string;
  /** The live version. */
  readonly versionId: string;
  /** A dead letter of the destination that refuses. */
  readonly letterSeq: string;
};

const names = ['Page Viewed', 'Product Added', 'Order Completed', 'Signed Up', 'Newsletter Subscribed'];
const people = ['ada', 'grace', 'edsger', 'barbara', 'tony', 'radia'];

/**
 * Fills a fresh stack as after a week of use: healthy and failing destinations, events, a draft. Large: the list of
 * what the account has.
 */
export async function fillAccount(credentials: Credentials, odd: OddTexts = hostile): Promise<FilledAccount> {
  const client = createStackClient(credentials);
  const { sink } = credentials;
  const addHttp = async (name: string, path: string): Promise<string> => {
    const settings = { httpDestinationUrl: `${sink}${path}`, method: 'POST' };
    const { id } = await client.api('POST', 'destinations', { name, type: 'HTTPDestination', settings });
    return String(id);
  };
  const experiments = await fillExperiments(credentials, client, odd);
  const healthyId = await addHttp('Warehouse loader', '/warehouse');
  const failingId = await addHttp('Loyalty programme', '/loyalty');
  const refusingId = await addHttp('Partner postback', '/partner');
  const hostileId = await addHttp(odd.markup, '/hostile');
  await client.api('POST', 'collections/mappings', {
    name: 'Partner: no sign-ups',
    destinationId: refusingId,
    action: 'stop',
    logic: { condition: { property: 'event.event', operator: 'Is', value: 'Signed Up' } },
  });
  const { id: mappingId } = await client.api('POST', 'collections/mappings', {
    name: 'Loyalty: points for a cart',
    destinationId: failingId,
    logic: {
      AND: [
        condition('event.event', 'IsIn', ['Product Added', 'Order Completed']),
        {
          OR: [
            condition('event.event_properties.total', 'IsGreaterThanOrEqual', 12),
            { NOT: condition('visitor.email', 'EndsWith', '@example.com') },
          ],
        },
      ],
    },
    eventName: 'points_earned',
    mappings: [
      { property: 'points', map: '{{event.event_properties.total}}', modification: 'None' },
      { property: 'member.email', map: '{{visitor.email}}', modification: 'HashedNormalized' },
    ],
  });
  const { id: hostileMappingId } = await client.api('POST', 'collections/mappings', {
    name: odd.markup,
    destinationId: hostileId,
    logic: { OR: [condition('event.event', 'Is', odd.markup), condition('event.event', 'Is', odd.long)] },
    mappings: [{ property: 'note', map: '{{event.event_properties.note}}', modification: 'None' }],
  });
  await client.api('POST', 'collections/globalDispatchCenters', {
    categories: [
      {
        name: 'Own staff',
        priority: 1,
        destinationIds: [failingId, refusingId],
        logic: condition('visitor.email', 'EndsWith', '@staff.example'),
      },
    ],
  });
  await client.api('POST', 'collections/consentSettings', {
    name: 'advertising',
    description: 'Whether orders are shared with partners.',
    destinationIds: [refusingId],
  });
  const { id: planRuleId } = await client.api('POST', 'collections/dataGovernanceRules', {
    name: 'No card numbers',
    property: 'event_properties.card',
    type: 'Forbidden',
    action: 'Quarantine',
    severity: 'Error',
  });
  await client.api('POST', 'collections/dataGovernanceRules', {
    name: 'Order ids begin with B',
    eventName: 'Order Completed',
    property: 'event_properties.order_id',
    type: 'Pattern',
    expected: '^B-',
  });
  await client.publish('Four destinations');
  await client.setSink({ path: '/loyalty', status: 503 });
  await client.setSink({
    path: '/partner',
    status: 400,
    body: { error: { code: 'missing_click_id', message: "Parameter 'click_id' is missing" } },
  });
  for (let index = 0; index < 60; index += 1) {
    const person = people[index % people.length] ?? '';
    // Only an account's first events of a second are sampled for personal data: earlier events must be resolved by now.
    if (Math.floor(index / people.length) === 1) await visitorOf(client, `demo-event-${index % people.length}`);
    await client.track({
      event: names[index % names.length] ?? '',
      externalId: `customer-${person}`,
      distinctId: `demo-event-${index}`,
      eventProperties: {
        order_id: `A-${1_000 + index}`,
        total: 10 + index,
        currency: 'EUR',
        contact_email: `${person}@example.com`,
      },
      userProperties: { email: `${person}@example.com`, first_name: person, consent: { advertising: true } },
      defaultProperties: { current_url: 'https://shop.example.com/checkout', utm_source: 'newsletter' },
    });
  }
  await client.track({
    event: odd.markup,
    externalId: odd.rightToLeft,
    distinctId: 'hostile-event',
    eventProperties: { [odd.markup]: odd.long, note: odd.rightToLeft },
  });
  for (let index = 0; index < 3; index += 1) {
    await client.track({
      event: 'Payment Failed',
      externalId: 'customer-ada',
      distinctId: `held-event-${index}`,
      eventProperties: { card: `4111 1111 1111 111${index}` },
      defaultProperties: { app_version: '2.3.1' },
    });
  }
  // Too old to be accepted: such an event is counted as rejected.
  await client.track({ event: 'Imported', externalId: 'customer-ada', time: 1 });
  await client.api('PATCH', `destinations/${healthyId}`, { name: 'Warehouse loader, EU' });
  await addHttp('Next quarter', '/next');
  const eventId = 'demo-event-2';
  // Waits for the finding, because pages read the list only once.
  await firstOf(client, 'personal-data?state=open', 'property');
  return {
    experiments,
    mappingId: String(mappingId),
    planRuleId: String(planRuleId),
    hostileMappingId: String(hostileMappingId),
    client,
    healthyId,
    failingId,
    refusingId,
    eventId,
    sourceId: await firstOf(client, 'sources', 'id'),
    visitorId: await visitorOf(client, eventId),
    versionId: await firstOf(client, 'versions?isPublished=true', 'id'),
    letterSeq: await firstOf(client, `destinations/${refusingId}/dead-letters?limit=1`, 'seq'),
  };
}

function condition(property: string, operator: string, value: unknown): object {
  return { condition: { property, operator, value } };
}

/** Waits until an event is resolved, and returns its visitor. */
async function visitorOf(client: StackClient, eventId: string): Promise<string> {
  return until(async () => {
    try {
      return String((await client.api('GET', `events/${eventId}`))['visitorId']);
    } catch (error) {
      if (error instanceof Error && error.message.includes(': 404 ')) return undefined;
      throw error;
    }
  }, `event ${eventId}`);
}

/** A member of the first entry of a list, once the list has an entry. */
async function firstOf(client: StackClient, list: string, member: string): Promise<string> {
  return until(async () => {
    const { entities } = (await client.api('GET', list)) as {
      readonly entities: readonly Readonly<Record<string, unknown>>[];
    };
    return entities[0] === undefined ? undefined : String(entities[0][member]);
  }, `first of ${list}`);
}

async function until<Value>(read: () => Promise<Value | undefined>, what: string): Promise<Value> {
  const endsAtMs = performance.now() + 60_000;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (performance.now() > endsAtMs) throw new Error(`${what}: not there`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
