import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { accessTokenContext, createSecretBox } from '../../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../../shared/contracts/config/secrets.ts';
import { headOf } from '../../../shared/contracts/events/resolved-event.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { compileFetch, fetchedEvent } from './compile-fetch.ts';
import { dispatchedTo, noticeSources } from './notice-sources.ts';

const secrets = createSecretBox(randomBytes(32).toString('base64'));

const configOf = (box: SecretBox, own: object = {}) =>
  testLiveConfig({
    sources: [
      { id: 'other', name: 'Shop', type: 'NodejsApi', status: 'Enabled' },
      { id: 'untold', name: 'Without a token', type: 'FacebookLeadAds', status: 'Enabled' },
      {
        id: 'leads',
        name: 'Leads',
        type: 'FacebookLeadAds',
        status: 'Enabled',
        accessToken: box.seal('page-token', accessTokenContext('account', 'leads')),
        ...own,
      },
    ],
  });

function targetOf(config: ReturnType<typeof configOf>) {
  const [source] = noticeSources(config);
  if (source === undefined) throw new Error('no source has a token');
  return compileFetch(config, source, secrets, {});
}

const noticeOf = (value: unknown, own: object = {}) => ({
  resolved: sampleEvent({
    source_id: 'leads',
    event: 'leadgen',
    event_properties: { field: 'leadgen', value },
    ...own,
  }),
});

test('fetch: a source with a token has a dispatcher like a destination, and other sources have none', () => {
  expect(dispatchedTo(configOf(secrets)).map(({ id, type }) => [id, type])).toEqual([['leads', 'FacebookLeadAds']]);
});

test('fetch: one request is made for each live notice of the source, and none for other events', () => {
  const { plan, prepared } = targetOf(configOf(secrets));
  const notice = noticeOf({ leadgen_id: 1001 });
  expect(prepared?.buildRequest([notice], 0)).toMatchObject({
    method: 'GET',
    url: expect.stringMatching(/^https:\/\/graph\.facebook\.com\/v\d+\.0\/1001$/) as string,
    headers: { authorization: 'Bearer page-token', 'idempotency-key': expect.any(String) },
    body: undefined,
  });
  const decided = (own: object): unknown => plan?.decide(headOf(noticeOf({}, own).resolved), {} as never).kind;
  expect([decided({}), decided({ source_id: 'other' }), decided({ test: true })]).toEqual(['send', 'skip', 'skip']);
  const accepted = [{ leadgen_id: '1001', field_data: [] }, { leadgen_id: '../me' }, {}, 'text', null].map((value) =>
    prepared?.accepts?.(noticeOf(value)),
  );
  expect([prepared?.accepts?.(notice), ...accepted]).toEqual([true, false, false, false, false, false]);
});

test.each([
  [200, '{"id":"1","field_data":[]}', undefined],
  [200, '{"id":"1"}', { kind: 'reject', reason: 'the answer is about something other than the notice' }],
  [200, '<html>', { kind: 'reject', reason: 'the answer is about something other than the notice' }],
  [400, '{"error":{"code":190}}', { kind: 'retry', reason: 'status 400, code 190', refusesAccess: true }],
  [400, '{"error":{"code":4}}', { kind: 'retry', reason: 'status 400, code 4', isThrottled: true }],
  [400, '{"error":{"code":100,"error_subcode":33}}', { kind: 'retry', reason: 'status 400, code 100' }],
  [503, '', undefined],
])('fetch: the outcome of an answer with status %i and body %j', (status, body, outcome) => {
  const { prepared } = targetOf(configOf(secrets));
  const read = prepared?.readAnswer?.({ status, headers: {}, body }, [noticeOf({ leadgen_id: '1' })]);
  expect(read).toEqual(outcome === undefined ? undefined : [outcome]);
});

test('fetch: an answer with an error status has no event, whatever its body', () => {
  const { fetch } = targetOf(configOf(secrets));
  const answer = { headers: {}, body: '{"id":"1","field_data":[{"name":"email","values":["a@b.test"]}]}' };
  expect(fetch && fetchedEvent(fetch, { ...answer, status: 200 })).toMatchObject({ email: 'a@b.test', name: 'Lead' });
  expect(fetch && fetchedEvent(fetch, { ...answer, status: 500 })).toBeUndefined();
});

test('fetch: a token that cannot be decrypted is a problem of the source, and a disabled source stays disabled', () => {
  const lost = createSecretBox(randomBytes(32).toString('base64'));
  expect(targetOf(configOf(lost))).toMatchObject({ plan: undefined, problem: expect.stringContaining('sealed with') });
  expect(targetOf(configOf(secrets, { status: 'Disabled' })).destination.isEnabled).toBe(false);
});

test('fetch: a source that cannot be read stays a dispatch target, but gets no requests', () => {
  const config = configOf(secrets, { whitelistDomains: 7 });
  expect(config.collections.sources.map(({ id }) => id)).not.toContain('leads');
  expect(targetOf(config)).toMatchObject({ destination: { id: 'leads' }, prepared: undefined });
});
