import { aliasEvent } from '../../contracts/events/envelope.ts';
import { copyMember, mergeMembers } from '../../json/exact-numbers.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { compilePath, textOf, valueAt } from '../sdk/path.ts';
import { bodySignature } from '../sdk/signature.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

const names: Readonly<Record<string, string>> = {
  page: 'Page Viewed',
  screen: 'Screen Viewed',
  group: 'Group',
};

/**
 * Segment as a source: its webhook destination, and functions that post unmodified events. Segment's userId is the
 * customer's id of a visitor, our externalId; its anonymousId is the visitor id, our userId. The previousId of an alias
 * may be an id of either kind, so it is sent as both; the alias's userId becomes another id of the same visitor.
 */
export const segment = defineSourceKind({
  type: 'SegmentWebPlugin',
  label: 'Segment',
  setUp: 'Connections, Destinations, Webhooks: Webhook URL and Shared Secret; or a function that posts the event',
  notes:
    'Segment signs only the first event of a batch: with a secret, leave batching off. `page`, `screen`, `group` and `alias` are the events `Page Viewed`, `Screen Viewed`, `Group` and `$alias`; an `identify` changes the visitor, and an `alias` makes two ids one visitor. `context.consent` and `integrations` apply to Sluice’s destinations.',
  follows: [
    'https://segment.com/docs/connections/destinations/catalog/webhooks/',
    'https://segment.com/docs/connections/spec/common/',
  ],
  signature: bodySignature({
    header: 'X-Signature',
    algorithm: 'sha1',
    encoding: 'hex',
    secretName: 'Shared Secret',
  }),
  table: {
    name: ({ type, event, aliasId }) =>
      aliasId === undefined ? (names[textOf(type) ?? ''] ?? textOf(event) ?? textOf(type)) : aliasEvent,
    id: ['messageId'],
    time: ['timestamp', 'originalTimestamp', 'sentAt'],
    userId: ['anonymousId'],
    externalId: ['userId'],
    email: ['traits.email', 'context.traits.email'],
    fullName: ['traits.name', 'context.traits.name'],
    traits: {
      external_id: ['aliasId'],
      first_name: ['traits.firstName', 'traits.first_name', 'context.traits.firstName'],
      last_name: ['traits.lastName', 'traits.last_name', 'context.traits.lastName'],
      phone_number: ['traits.phone', 'context.traits.phone'],
      company_name: ['traits.company.name', 'traits.company', 'context.traits.company.name'],
      job_title: ['traits.title', 'context.traits.title'],
      gender: ['traits.gender', 'context.traits.gender'],
      date_of_birth: ['traits.birthday', 'context.traits.birthday'],
      city: ['traits.address.city', 'context.traits.address.city'],
      state: ['traits.address.state', 'context.traits.address.state'],
      zip: ['traits.address.postalCode', 'context.traits.address.postalCode'],
      country: ['traits.address.country', 'context.traits.address.country'],
    },
    context: {
      utm_source: ['context.campaign.source'],
      utm_medium: ['context.campaign.medium'],
      utm_campaign: ['context.campaign.name'],
      utm_term: ['context.campaign.term'],
      utm_content: ['context.campaign.content'],
      current_url: ['context.page.url', 'properties.url'],
      pathname: ['context.page.path', 'properties.path'],
      title: ['context.page.title', 'properties.title'],
      referrer: ['context.page.referrer', 'properties.referrer'],
    },
    ip: ['context.ip'],
    userAgent: ['context.userAgent'],
  },
  prepare(event) {
    const { type, previousId, userId } = event;
    // The traits of a group do not belong to a visitor.
    if (type === 'group')
      return mergeMembers(event, membersOf(event, { groupTraits: 'traits' }), { traits: undefined });
    if (type !== 'alias' || textOf(previousId) === undefined || textOf(userId) === undefined) return event;
    const ids = membersOf(event, { anonymousId: 'previousId', userId: 'previousId', aliasId: 'userId' });
    return mergeMembers(event, ids, { context: { consent: valueAt(event, consentPath) }, traits: undefined });
  },
  isIdentify: ({ type }) => type === 'identify',
  custom: ({ type, traits }) => (type === 'identify' ? traits : undefined),
  consent(event) {
    const consent = valueAt(event, consentPath);
    return isJsonObject(consent) && isJsonObject(consent['categoryPreferences']) ? consent : undefined;
  },
  integrations: ({ integrations }) => integrations,
  properties(event) {
    const { type, properties, name, category, aliasId } = event;
    const own = isJsonObject(properties) ? properties : {};
    if (aliasId !== undefined) return mergeMembers(own, membersOf(event, { previous_id: 'previousId', id: 'aliasId' }));
    if (type === 'group') return mergeMembers(own, membersOf(event, { groupId: 'groupId', traits: 'groupTraits' }));
    const called = {
      ...(name === undefined ? {} : { name: 'name' }),
      ...(category === undefined ? {} : { category: 'category' }),
    };
    return mergeMembers(membersOf(event, called), own);
  },
});

const consentPath = compilePath('context.consent');

/** Members of an event, by the names that they get. */
function membersOf(event: JsonObject, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [to, from] of Object.entries(names)) copyMember(members, to, event, from);
  return members;
}
