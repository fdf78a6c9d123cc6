import { describe, expect, it } from 'vitest';
import { createRequestMasker } from '../mask-secrets.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { slack } from './destination.ts';

const webhookUrl = 'https://hooks.slack.com/services/T0/B0/secret';
const event: OutboundEvent = { resolved: sampleEvent() };
const events = [event];
const prepared = slack.prepare(slack.exampleSettings);
const read = (status: number, body: string, headers = {}) => prepared.readAnswer?.({ status, headers, body }, events);
const textOf = (settings: object, of = event): string => {
  const { body = '' } = slack.prepare({ ...slack.exampleSettings, ...settings }).buildRequest([of], 0);
  return (JSON.parse(body) as { text: string }).text;
};

describe('Slack', () => {
  it('request: without a template the message has the event, the person and the properties', () => {
    expect(textOf({})).toBe('*Order Completed* ada@example.com\n{"order_id":"A-1001","value":42.5,"currency":"EUR"}');
    const mapped = { eventName: 'Sale', properties: { total: 7 } };
    expect(
      textOf({ text: '{{event.event}} {{event.event_properties.total}}' }, { resolved: sampleEvent(), mapped }),
    ).toBe('Sale 7');
  });

  it('request: a text that is too long is never cut within a character or an entity', () => {
    const long = (text: string) => textOf({}, { resolved: sampleEvent({ event_properties: { text } }) });
    for (const [unit, end] of [
      ['😀', /[^\ud800-\udbff]…$/],
      ['&', /;…$/],
      ['x', /x…$/],
    ] as const) {
      for (const shift of ['', '-', '--', '---', '----']) {
        const text = long(shift + unit.repeat(40_000));
        expect(text.length).toBeLessThanOrEqual(40_000);
        expect(text.isWellFormed()).toBe(true);
        expect(text.slice(-10)).toMatch(end);
      }
    }
  });

  it('prepare: either a webhook, or a token and its channel, is required', () => {
    const refused = (settings: object) => () => slack.prepare({ ...slack.exampleSettings, ...settings });
    expect(refused({ webhookUrl })).toThrow('settings.webhookUrl must be empty if');
    expect(refused({ botToken: null, channel: null })).toThrow('settings.webhookUrl is required');
    expect(refused({ channel: null })).toThrow('settings.channel is required');
    const webhook = { ...slack.exampleSettings, botToken: null, channel: null, webhookUrl };
    expect(slack.prepare(webhook).buildRequest(events, 0)).toMatchObject({ url: webhookUrl });
    const proxied = slack.prepare({ ...webhook, baseUrl: 'https://proxy.example.net/to/' });
    expect(proxied.buildRequest(events, 0).url).toBe('https://proxy.example.net/to/services/T0/B0/secret');
  });

  it('secrets: the URL of a webhook is masked, also behind a proxy', () => {
    const settings = { webhookUrl, baseUrl: 'https://proxy.example.net' };
    for (const given of [{ webhookUrl }, settings]) {
      const request = slack.prepare(given).buildRequest(events, 0);
      expect(createRequestMasker(slack, given)(request).url(request.url)).not.toContain('T0/B0');
    }
  });

  it.each([
    [200, '{"ok":false,"error":"msg_too_long"}', { kind: 'reject', reason: 'msg_too_long' }],
    [
      200,
      '{"ok":false,"error":"channel_not_found"}',
      { kind: 'retry', reason: 'channel_not_found', refusesAccess: true },
    ],
    [200, '{"ok":false,"error":"token_revoked"}', { kind: 'retry', reason: 'token_revoked', refusesAccess: true }],
    [200, '{"ok":false,"error":"rate_limited"}', { kind: 'retry', reason: 'rate_limited', isThrottled: true }],
    [200, '{"ok":false,"error":"fatal_error"}', { kind: 'retry', reason: 'fatal_error' }],
    [200, '<html>', { kind: 'retry', reason: 'the response has no result for the message' }],
    [200, 'ok', { kind: 'delivered' }],
    [404, 'no_service', { kind: 'retry', reason: 'no_service', refusesAccess: true }],
    [410, 'channel_is_archived', { kind: 'retry', reason: 'channel_is_archived', refusesAccess: true }],
  ])('answer: %i %s', (status, body, outcome) => {
    expect(read(status, body)).toEqual([outcome]);
  });

  it('answer: a 429, a server error and a refused payload are judged by status alone', () => {
    for (const [status, body] of [
      [429, '{"ok":false,"error":"ratelimited"}'],
      [500, 'rollup_error'],
      [400, 'invalid_payload'],
    ] as const) {
      expect(read(status, body)).toBeUndefined();
    }
  });
});
