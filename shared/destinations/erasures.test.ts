// Large: the documented exchanges of all kinds.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { JsonObject } from '../runtime/json.ts';
import { destinationKinds, findDestinationKind } from './registry.ts';
import type { ErasureEnd, ErasureOrder, ErasureStep, PreparedErasure } from './sdk/erasure.ts';
import { sampleErasure as order } from './testing/sample-erasure.ts';

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** A request that the platform must receive, and its response, both as the platform documents them. */
type Exchange = {
  /** Expected method and URL. */
  readonly is: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly status?: number;
  readonly answer?: unknown;
};

type Case = {
  readonly type: string;
  readonly settings?: JsonObject;
  readonly order?: Partial<ErasureOrder>;
  readonly exchanges: readonly Exchange[];
  readonly end: ErasureEnd;
  /** The later poll for the result: the reference it starts from, its exchanges, and how it ends. */
  readonly poll?: { readonly reference: string; readonly exchanges: readonly Exchange[]; readonly end: ErasureEnd };
};

const braze = 'https://rest.iad-01.braze.com/users/delete';
const klaviyo = 'https://a.klaviyo.com/api';
const klaviyoJob = (profile: JsonObject): JsonObject => ({
  data: {
    type: 'data-privacy-deletion-job',
    attributes: { profile: { data: { type: 'profile', attributes: {}, ...profile } } },
  },
});
const mailchimp = 'https://us21.api.mailchimp.com/3.0/lists/a1b2c3d4e5/members';
const zendesk = 'https://example.zendesk.com/api/v2';
const posthog = 'https://eu.posthog.com/api/projects/12345/persons';
const zoho = 'https://www.zohoapis.eu/crm/v8/Leads';

// Sources: the references that each kind's erase.ts names.
const cases: readonly Case[] = [
  {
    type: 'Amplitude',
    settings: { secretKey: 'secret', region: 'EU' },
    order: { subject: { ...order.subject, visitorIds: ['device-1', 'device-2'] } },
    exchanges: [
      {
        is: 'GET https://analytics.eu.amplitude.com/api/2/usersearch?user=device-1',
        headers: { authorization: basic('example-key', 'secret') },
        answer: { matches: [{ user_id: null, amplitude_id: 12345 }], type: 'match_user_or_device_id' },
      },
      {
        is: 'GET https://analytics.eu.amplitude.com/api/2/usersearch?user=device-2',
        answer: { matches: [{ user_id: 'device-22', amplitude_id: 67890 }], type: 'match_user_prefix' },
      },
      {
        is: 'POST https://analytics.eu.amplitude.com/api/2/deletions/users',
        headers: { authorization: basic('example-key', 'secret'), 'content-type': 'application/json' },
        body: {
          user_ids: ['customer-7'],
          amplitude_ids: [12345],
          requester: 'Sluice',
          ignore_invalid_id: 'true',
          delete_from_org: 'false',
        },
        answer: [{ day: '2026-12-01', status: 'staging', amplitude_ids: [] }],
      },
    ],
    end: { kind: 'requested', reference: '2026-12-01' },
    poll: {
      reference: '2026-12-01',
      exchanges: [
        {
          is: 'GET https://analytics.eu.amplitude.com/api/2/deletions/users?start_day=2026-12-01&end_day=2026-12-01',
          answer: [{ day: '2026-12-01', status: 'done', amplitude_ids: [] }],
        },
      ],
      end: { kind: 'done' },
    },
  },
  {
    type: 'Mixpanel',
    settings: { gdprToken: 'oauth', region: 'EU', projectToken: 'a token' },
    exchanges: [
      {
        is: 'POST https://eu.mixpanel.com/api/app/data-deletions/v3.0/?token=a%20token',
        headers: { authorization: 'Bearer oauth' },
        body: { distinct_ids: ['customer-7', 'device-1', '$device:device-1'], compliance_type: 'GDPR' },
        answer: { status: 'ok', results: { task_id: '1583958896131033662' } },
      },
    ],
    end: { kind: 'requested', reference: '1583958896131033662' },
    poll: {
      reference: '1583958896131033662',
      exchanges: [
        {
          is: 'GET https://eu.mixpanel.com/api/app/data-deletions/v3.0/1583958896131033662?token=a%20token',
          answer: { status: 'ok', results: { status: 'SUCCESS', distinct_ids: [] } },
        },
      ],
      end: { kind: 'done' },
    },
  },
  {
    type: 'Braze',
    exchanges: [
      {
        is: `POST ${braze}`,
        headers: { authorization: 'Bearer example-key' },
        body: { external_ids: ['customer-7'] },
        status: 201,
        answer: { deleted: 1, message: 'success' },
      },
      {
        is: `POST ${braze}`,
        body: { user_aliases: [{ alias_name: 'device-1', alias_label: 'sluice_visitor_id' }] },
        status: 404,
      },
      {
        is: `POST ${braze}`,
        body: {
          email_addresses: [{ email: 'ann@example.com', prioritization: ['unidentified', 'most_recently_updated'] }],
        },
        status: 201,
        answer: { deleted: 1 },
      },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'Customerio',
    settings: { region: 'EU' },
    exchanges: [
      {
        is: 'DELETE https://track-eu.customer.io/api/v1/customers/customer-7',
        headers: { authorization: basic('example-site', 'example-key') },
      },
      { is: 'DELETE https://track-eu.customer.io/api/v1/customers/ann%40example.com', status: 404 },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'Customerio',
    settings: { region: 'US' },
    order: { isSuppressed: true },
    exchanges: [
      { is: 'POST https://track.customer.io/api/v1/customers/customer-7/suppress' },
      { is: 'POST https://track.customer.io/api/v1/customers/ann%40example.com/suppress' },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'Iterable',
    settings: { region: 'US' },
    exchanges: [
      {
        is: 'DELETE https://api.iterable.com/api/users/ann%40example.com',
        headers: { 'api-key': 'example-key' },
        answer: { code: 'Success' },
      },
      { is: 'DELETE https://api.iterable.com/api/users/byUserId/customer-7', status: 404 },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'Iterable',
    settings: { region: 'US' },
    order: { isSuppressed: true },
    exchanges: [
      { is: 'POST https://api.iterable.com/api/users/forget', body: { email: 'ann@example.com' } },
      { is: 'POST https://api.iterable.com/api/users/forget', body: { userId: 'customer-7' } },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'Klaviyo',
    exchanges: [
      {
        is: `GET ${klaviyo}/profiles?filter=equals(external_id%2C%22customer-7%22)&fields[profile]=external_id`,
        headers: { authorization: 'Klaviyo-API-Key pk_example', revision: '2026-07-15' },
        answer: { data: [{ type: 'profile', id: '01GDDKASAP8TKDDA2GRZDSVP4H' }] },
      },
      {
        is: `POST ${klaviyo}/data-privacy-deletion-jobs`,
        headers: { 'content-type': 'application/vnd.api+json' },
        body: klaviyoJob({ id: '01GDDKASAP8TKDDA2GRZDSVP4H' }),
        status: 202,
      },
      {
        is: `POST ${klaviyo}/data-privacy-deletion-jobs`,
        body: klaviyoJob({ attributes: { email: 'ann@example.com' } }),
        status: 202,
      },
      {
        is: `POST ${klaviyo}/data-privacy-deletion-jobs`,
        body: klaviyoJob({ attributes: { phone_number: '+41791234567' } }),
        status: 202,
      },
    ],
    end: { kind: 'requested', reference: undefined },
  },
  {
    type: 'Hubspot',
    settings: { contactIdProperty: 'customer_id' },
    exchanges: [
      {
        is: 'POST https://api.hubapi.com/crm/v3/objects/contacts/gdpr-delete',
        body: { objectId: 'ann@example.com', idProperty: 'email' },
        status: 204,
      },
      {
        is: 'POST https://api.hubapi.com/crm/v3/objects/contacts/gdpr-delete',
        body: { objectId: 'customer-7', idProperty: 'customer_id' },
        status: 204,
      },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'Hubspot',
    exchanges: [
      {
        is: 'POST https://api.hubapi.com/crm/v3/objects/contacts/gdpr-delete',
        headers: { authorization: 'Bearer pat-example' },
        body: { objectId: 'ann@example.com', idProperty: 'email' },
        status: 204,
      },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'PostHog',
    settings: { region: 'EU', projectId: '12345', personalApiKey: 'phx_example' },
    exchanges: [
      {
        is: `GET ${posthog}/?distinct_id=customer-7`,
        headers: { authorization: 'Bearer phx_example' },
        answer: { results: [{ id: 1, uuid: '0186f0a0-0000-0000-0000-000000000000' }] },
      },
      { is: `DELETE ${posthog}/0186f0a0-0000-0000-0000-000000000000/?delete_events=true`, status: 202 },
      { is: `GET ${posthog}/?distinct_id=device-1`, answer: { results: [] } },
    ],
    end: { kind: 'requested', reference: undefined },
  },
  {
    type: 'Mailchimp',
    exchanges: [
      {
        is: `POST ${mailchimp}/257c57037d384ae37ea27a07e8a01665/actions/delete-permanent`,
        headers: { authorization: basic('sluice', '0123456789abcdef0123456789abcdef-us21') },
        status: 204,
      },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'ActiveCampaignApi',
    exchanges: [
      {
        is: 'GET https://example.api-us1.com/api/3/contacts?email=ann%40example.com',
        headers: { 'api-token': 'example-api-key' },
        answer: { contacts: [{ id: '113', email: 'ann@example.com' }] },
      },
      { is: 'DELETE https://example.api-us1.com/api/3/contacts/113', answer: {} },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'Zendesk',
    exchanges: [
      {
        is: `GET ${zendesk}/user_profiles?identifier=sluice%3Acustomer%3Aexternal_id%3Acustomer-7`,
        answer: { profile: { id: '01E1G0NJSQPNPZRV096JXKXFAA' } },
      },
      { is: `DELETE ${zendesk}/user_profiles/01E1G0NJSQPNPZRV096JXKXFAA`, status: 204 },
      {
        is: `GET ${zendesk}/user_profiles?identifier=sluice%3Acustomer%3Aemail%3Aann%40example.com`,
        status: 404,
      },
      {
        is: `GET ${zendesk}/user_profiles?identifier=sluice%3Acustomer%3Avisitor_id%3Adevice-1`,
        answer: { profile: { id: '01E1G0NJSQPNPZRV096JXKXFAB' } },
      },
      { is: `DELETE ${zendesk}/user_profiles/01E1G0NJSQPNPZRV096JXKXFAB`, status: 204 },
      {
        is: `GET ${zendesk}/users/search.json?external_id=customer-7`,
        headers: { authorization: basic('agent@example.com/token', 'example-token') },
        answer: { users: [{ id: 35436 }] },
      },
      { is: `DELETE ${zendesk}/users/35436.json`, answer: { user: { id: 35436, active: false } } },
      { is: `DELETE ${zendesk}/deleted_users/35436.json`, answer: {} },
      {
        is: `GET ${zendesk}/users/search.json?query=email%3A%22ann%40example.com%22`,
        answer: { users: [] },
      },
    ],
    end: { kind: 'done' },
  },
  {
    // The search also finds parts of addresses; a user may have the address beside the main one.
    type: 'Zendesk',
    order: { subject: { ...order.subject, externalIds: [], visitorIds: [] } },
    exchanges: [
      {
        is: `GET ${zendesk}/user_profiles?identifier=sluice%3Acustomer%3Aemail%3Aann%40example.com`,
        status: 404,
      },
      {
        is: `GET ${zendesk}/users/search.json?query=email%3A%22ann%40example.com%22`,
        answer: {
          users: [
            { id: 1, email: 'mary.ann@example.com' },
            { id: 2, email: 'Ann@Example.com' },
            { id: 3, email: 'a.lee@example.org' },
          ],
        },
      },
      {
        is: `GET ${zendesk}/users/1/identities.json`,
        answer: { identities: [{ type: 'email', value: 'mary.ann@example.com' }] },
      },
      { is: `DELETE ${zendesk}/users/2.json`, answer: {} },
      { is: `DELETE ${zendesk}/deleted_users/2.json`, answer: {} },
      {
        is: `GET ${zendesk}/users/3/identities.json`,
        answer: {
          identities: [
            { type: 'phone_number', value: '+15551234567' },
            { type: 'email', value: 'ann@example.com' },
          ],
        },
      },
      { is: `DELETE ${zendesk}/users/3.json`, answer: {} },
      { is: `DELETE ${zendesk}/deleted_users/3.json`, answer: {} },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'ZohoCRM',
    exchanges: [
      { is: `GET ${zoho}/search?email=ann%40example.com`, answer: { data: [{ id: '5725767000000' }] } },
      { is: `DELETE ${zoho}/5725767000000`, answer: { data: [{ code: 'SUCCESS' }] } },
    ],
    end: { kind: 'requested', reference: 'recycle bin' },
  },
  {
    type: 'Attentive',
    exchanges: [
      {
        is: 'POST https://api.attentivemobile.com/v1/privacy/delete-request',
        headers: { authorization: 'Bearer example' },
        body: { subjectEmail: 'ann@example.com', requestMsg: `Erasure ${order.id}` },
        answer: { requestId: 'r1' },
      },
      {
        is: 'POST https://api.attentivemobile.com/v1/privacy/delete-request',
        body: { subjectPhone: '+41791234567', requestMsg: `Erasure ${order.id}` },
        answer: { requestId: 'r2' },
      },
      {
        is: 'POST https://api.attentivemobile.com/v1/privacy/delete-request',
        body: { clientUserId: 'customer-7', requestMsg: `Erasure ${order.id}` },
        answer: { requestId: 'r3' },
      },
    ],
    end: { kind: 'requested', reference: 'r3' },
  },
  {
    type: 'HTTPDestination',
    settings: { erasureUrl: 'https://example.com/erasures', signingSecret: 'key', headers: '{"X-Own":"1"}' },
    exchanges: [
      {
        is: 'POST https://example.com/erasures',
        headers: { 'x-own': '1', 'idempotency-key': order.id },
        body: {
          type: 'erasure',
          reference: order.id,
          requested_at: '2026-11-27T00:00:00.000Z',
          due_at: '2026-12-27T00:00:00.000Z',
          suppressed: false,
          identities: [
            { kind: 'visitor_id', value: 'device-1' },
            { kind: 'external_id', value: 'customer-7' },
            { kind: 'email', value: 'ann@example.com' },
            { kind: 'phone_number', value: '+41791234567' },
          ],
        },
      },
    ],
    end: { kind: 'done' },
  },
  {
    type: 'HTTPDestination',
    settings: { erasureUrl: 'https://example.com/erasures', erasureFormat: 'opendsr' },
    order: { subject: { ...order.subject, visitorIds: [], phones: [] } },
    exchanges: [
      {
        is: 'POST https://example.com/erasures',
        body: {
          regulation: 'gdpr',
          subject_request_id: order.id,
          subject_request_type: 'erasure',
          submitted_time: '2026-11-27T00:00:00.000Z',
          subject_identities: [
            { identity_type: 'controller_customer_id', identity_value: 'customer-7', identity_format: 'raw' },
            { identity_type: 'email', identity_value: 'ann@example.com', identity_format: 'raw' },
          ],
          api_version: '2.0',
        },
        status: 201,
        answer: { expected_completion_time: '2026-12-01T00:00:00Z' },
      },
    ],
    end: { kind: 'requested', reference: '2026-12-01T00:00:00Z' },
  },
];

function prepared(type: string, settings: JsonObject): PreparedErasure {
  const kind = findDestinationKind(type);
  if (kind?.prepareErasure === undefined) throw new Error(`${type} does not erase`);
  return kind.prepareErasure({ ...kind.exampleSettings, ...settings });
}

/** Plays the platform: each request must be the next documented exchange. Returns the result. */
function play(first: ErasureStep, exchanges: readonly Exchange[]): ErasureEnd {
  let step = first;
  for (const { is, headers = {}, body, status = 200, answer } of exchanges) {
    if (step.kind !== 'send') throw new Error(`it ended as ${JSON.stringify(step)} before ${is}`);
    const { request } = step;
    expect(`${request.method} ${request.url}`).toBe(is);
    expect(request.headers).toMatchObject(headers);
    if (body !== undefined) expect(JSON.parse(request.body ?? '')).toEqual(body);
    step = step.read({ status, headers: {}, body: answer === undefined ? '' : JSON.stringify(answer) }, 0);
  }
  if (step.kind === 'send') throw new Error(`it goes on with ${step.request.method} ${step.request.url}`);
  return step;
}

test.each(cases)('$type: deletes a person as its reference says ($order.isSuppressed)', (one) => {
  const erasure = prepared(one.type, one.settings ?? {});
  expect(play(erasure.begin({ ...order, ...one.order }), one.exchanges)).toEqual(one.end);
  if (one.poll === undefined) return;
  expect(play(erasure.poll?.(one.poll.reference) ?? one.end, one.poll.exchanges)).toEqual(one.poll.end);
});

test('erasures: at every step, an unreachable platform is retried and a refusal is not', () => {
  for (const { type, settings, order: changes, exchanges } of cases) {
    exchanges.forEach((_, failing) => {
      const stepped = (status: number): ErasureStep => {
        let step: ErasureStep = prepared(type, settings ?? {}).begin({ ...order, ...changes });
        exchanges.slice(0, failing).forEach(({ status: good = 200, answer }) => {
          if (step.kind !== 'send') throw new Error(`${type} ended early`);
          step = step.read({ status: good, headers: {}, body: JSON.stringify(answer ?? {}) }, 0);
        });
        if (step.kind !== 'send') throw new Error(`${type} ended early`);
        return step.read({ status, headers: { 'retry-after': '7' }, body: '' }, 0);
      };
      for (const status of [429, 500, 503, 401]) expect([type, stepped(status).kind]).toEqual([type, 'retry']);
      expect(stepped(429)).toMatchObject({ afterMs: 7_000 });
      expect([type, stepped(422)]).toEqual([type, { kind: 'failed', reason: 'status 422' }]);
    });
  }
});

test('erasures: a search whose answer is cut is retried, since the missing part may name the person', () => {
  const searching = new Set<string>();
  for (const { type, settings, order: changes } of cases) {
    const step = prepared(type, settings ?? {}).begin({ ...order, ...changes });
    if (step.kind !== 'send') throw new Error(`${type} ended early`);
    const next = step.read({ status: 200, headers: {}, body: '{"data":[{"id":', isCut: true }, 0);
    if (step.request.method !== 'GET') {
      expect([type, next.kind]).not.toEqual([type, 'retry']);
      continue;
    }
    searching.add(type);
    expect([type, next]).toEqual([type, { kind: 'retry', reason: 'the response is incomplete' }]);
  }
  expect(searching).toContain('ActiveCampaignApi');
});

test('erasures: without a known identifier or a required setting, an operator must delete the person', () => {
  const nobody = { visitorIds: [], externalIds: [], emails: [], phones: [] };
  for (const type of ['Amplitude', 'Customerio', 'Iterable', 'Klaviyo', 'Hubspot', 'Mailchimp', 'Zendesk', 'ZohoCRM']) {
    const end = prepared(type, { secretKey: 'secret' }).begin({ ...order, subject: nobody });
    expect([type, end.kind]).toEqual([type, 'manual']);
  }
  for (const [type, setting] of [
    ['Amplitude', 'secret key'],
    ['Mixpanel', 'OAuth token'],
    ['PostHog', 'personal API key'],
    ['HTTPDestination', 'erasure URL'],
  ] as const) {
    const end = prepared(type, {}).begin(order);
    expect(end).toEqual({ kind: 'manual', reason: expect.stringContaining(setting) });
  }
  for (const type of ['Plausible', 'SluiceSyntheticData']) {
    expect(prepared(type, {}).begin(order).kind).toBe('nothing');
  }
});

test('HTTPDestination: an erasure is signed as events are', () => {
  const step = prepared('HTTPDestination', { erasureUrl: 'https://example.com/', signingSecret: 'key' }).begin(order);
  if (step.kind !== 'send') throw new Error('nothing is sent');
  const { headers, body = '' } = step.request;
  expect(headers['x-signature-256']).toBe(`sha256=${createHmac('sha256', 'key').update(body).digest('hex')}`);
});

test('erasures: exactly the kinds in the table forward erasures', () => {
  const erasing = destinationKinds.filter((kind) => kind.prepareErasure !== undefined);
  const known = new Set([...cases.map(({ type }) => type), 'Plausible', 'SluiceSyntheticData']);
  expect(erasing.map(({ descriptor }) => descriptor.id).toSorted()).toEqual([...known].toSorted());
});
