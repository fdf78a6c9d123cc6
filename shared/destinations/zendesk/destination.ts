import type { JsonObject } from '../../runtime/json.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import {
  acceptsCustomerEvents,
  groupIn,
  isGroup,
  isIdentify,
  propertiesOf,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { chainOf, postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import type { ContactIds } from '../sdk/person.ts';
import { nameIn } from '../sdk/person-name.ts';
import {
  address,
  choice,
  matching,
  optionalBaseUrl,
  optionalText,
  requiredText,
  toggle,
  token,
} from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { eraseAtZendesk } from './erase.ts';

const typeCharactersMax = 40;
const profileType = 'customer';
const sourceFallback = 'sluice';

const settings = {
  subdomain: address(
    requiredText(
      {
        label: 'Subdomain',
        placeholder: 'example',
        sublabel: 'The first part of example.zendesk.com.',
        example: 'example',
      },
      matching(/^[a-z0-9][a-z0-9-]{0,62}$/i, 'must be a subdomain'),
    ),
  ),
  email: requiredText({
    label: 'E-mail address of an agent',
    placeholder: 'agent@example.com',
    sublabel: 'The agent who owns the API token.',
    example: 'agent@example.com',
  }),
  apiToken: token({
    label: 'API token',
    sublabel: 'From Admin Center, Apps and integrations, APIs.',
    example: 'example-token',
  }),
  source: optionalText(
    {
      label: 'Source name',
      placeholder: sourceFallback,
      sublabel: 'The source that Zendesk shows for events and profiles; not zendesk.',
    },
    matching(/^(?!zendesk$)[a-z0-9_-]{1,40}$/i, 'must be 1 to 40 letters, digits, _ or -, and not zendesk'),
  ),
  userFields: optionalText(
    {
      label: 'User fields',
      placeholder: 'plan, company_name',
      sublabel: 'Keys of Zendesk user fields to fill from the traits of the same names, separated by commas.',
    },
    readNames,
  ),
  unknownName: choice({
    label: 'People without a name',
    options: [
      { label: 'Leave the name out', value: 'none' },
      { label: 'Name them by their e-mail address', value: 'email' },
    ],
    sublabel: 'Zendesk creates no user without a name. Using the e-mail address replaces the name of an existing user.',
    fallback: 'none',
  }),
  verifiedUsers: toggle({
    label: 'Verified users',
    sublabel: 'Marks users of $identify as verified, so that they receive no confirmation e-mail.',
  }),
  organizations: choice({
    label: 'Groups',
    options: [
      { label: 'Skip', value: 'skip' },
      { label: 'Are organisations', value: 'upsert' },
    ],
    sublabel: 'Creates or updates an organisation by its group ID, and adds the user to it.',
    fallback: 'skip',
    example: 'upsert',
  }),
  organizationFields: optionalText(
    {
      label: 'Organisation fields',
      placeholder: 'plan, employees',
      sublabel: 'Keys of organisation fields to fill from the traits of the same names, separated by commas.',
    },
    readNames,
  ),
  baseUrl: optionalBaseUrl('https://example.zendesk.com'),
};

/**
 * Zendesk: the user of an $identify with `POST /api/v2/users/create_or_update`
 * (https://developer.zendesk.com/api-reference/ticketing/users/users/#create-or-update-user), an event on the user's
 * profile timeline with `POST /api/v2/user_profiles/events`
 * (https://developer.zendesk.com/api-reference/ticketing/users/events-api/events-api/); one per request. A person is
 * identified by the customer's id and the e-mail address; the profile of an event with neither is identified by the
 * visitor id. Zendesk responds 429 with Retry-After when it throttles, and does not deduplicate.
 */
export const zendesk = defineDestination({
  id: 'Zendesk',
  label: 'Zendesk',
  settings,
  facts: {
    sends: "Every event, on a profile's timeline; $identify creates or updates a user, $group an organisation",
    limits: { events: 1 },
    deduplicatesBy: undefined,
    errors: 'status',
    sources: [
      'https://developer.zendesk.com/api-reference/ticketing/users/events-api/events-api/',
      'https://developer.zendesk.com/api-reference/ticketing/users/users/',
    ],
    checked: '2026-11-22',
    version: { name: 'v2', ends: undefined },
    notCarried: ['tickets', 'removal of a user from an organisation'],
    skips: {
      group: 'the destination is not set to write organisations',
      alias: 'users are identified by external id and e-mail address',
    },
  },
  loadPlatform: async () => (await import('./platform.ts')).zendeskPlatform,
  exampleSuccess: { status: 202, body: '{"status":"received"}' },
  prepare,
  erase: (given) =>
    eraseAtZendesk({
      base: apiUrl(given),
      headers: headersOf(given),
      profileType: `${given.source ?? sourceFallback}:${profileType}`,
    }),
});

type Given = SettingsOf<typeof settings>;

function prepare(given: Given): PreparedDestination {
  const base = apiUrl(given);
  const headers = headersOf(given);
  return {
    batchEventsMax: 1,
    accepts: (event) =>
      isIdentify(event) || acceptsCustomerEvents(event) || (isGroup(event) && given.organizations === 'upsert'),
    buildRequest(events): OutboundRequest {
      const event = onlyEvent(events);
      const ids = contactIds(event);
      if (isGroup(event)) {
        const organization = organizationOf(event, given);
        const post = (path: string, body: JsonObject): OutboundRequest =>
          postJson({ url: `${base}${path}`, headers, body, events });
        const user = { ...userOf(event, ids, given), organization: { name: organization['name'] } };
        return chainOf([
          post('/organizations/create_or_update', { organization }),
          post('/users/create_or_update', { user }),
        ]);
      }
      return isIdentify(event)
        ? postJson({
            url: `${base}/users/create_or_update`,
            headers,
            body: { user: userOf(event, ids, given) },
            events,
          })
        : postJson({ url: `${base}/user_profiles/events`, headers, body: profileEvent(event, ids, given), events });
    },
  };
}

const apiUrl = (given: Given): string =>
  `${given.baseUrl ?? `https://${given.subdomain.toLowerCase()}.zendesk.com`}/api/v2`;

const headersOf = (given: Given) => ({
  authorization: basicAuthorization(`${given.email.trim()}/token`, given.apiToken),
});

function userOf(event: OutboundEvent, { externalId, email, phone }: ContactIds, given: Given): JsonObject {
  const traits = traitsOf(event);
  if (externalId === undefined && email === undefined) {
    throw new UnfitEventError('Zendesk needs an external id or an e-mail address');
  }
  const { firstName, lastName } = nameIn(traits);
  const name = textOf([firstName, lastName].filter((part) => part !== undefined).join(' '));
  const fields = Object.fromEntries((given.userFields ?? []).map((key) => [key, traits[key]]));
  return {
    // The call overwrites the name, so a value that is not a name would replace a name that an agent entered.
    ...present({
      name: name ?? (given.unknownName === 'email' ? (email ?? externalId) : undefined),
      email,
      phone,
      external_id: externalId,
      user_fields: present(fields),
      ...(given.verifiedUsers ? { verified: true, skip_verify_email: true } : {}),
    }),
  };
}

/**
 * The organisation of a group call. Throws UnfitEventError without id or name.
 * https://developer.zendesk.com/api-reference/ticketing/organizations/organizations/#create-or-update-organization
 */
function organizationOf(event: OutboundEvent, given: Given): JsonObject {
  const group = groupIn(propertiesOf(event), 'organization');
  const name = textOf(group?.traits['name']);
  if (group === undefined || name === undefined) throw new UnfitEventError('an organisation needs an id and a name');
  const fields = (given.organizationFields ?? []).map((key) => [key, group.traits[key]] as const);
  return { name, external_id: group.id, ...present({ organization_fields: present(Object.fromEntries(fields)) }) };
}

function readNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function profileEvent(event: OutboundEvent, { externalId, email, visitorId }: ContactIds, given: Given): JsonObject {
  const { name, timeMs } = sentEvent(event);
  const source = given.source ?? sourceFallback;
  const type = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .slice(0, typeCharactersMax);
  if (type === '') throw new UnfitEventError('the event has no name that Zendesk accepts');
  const identifiers = [
    { type: 'external_id', value: externalId },
    { type: 'email', value: email },
  ].filter(({ value }) => value !== undefined);
  return {
    profile: {
      source,
      type: profileType,
      identifiers: identifiers.length > 0 ? identifiers : [{ type: 'visitor_id', value: visitorId }],
    },
    event: {
      source,
      type,
      description: name,
      created_at: new Date(timeMs).toISOString(),
      properties: propertiesOf(event),
    },
  };
}
