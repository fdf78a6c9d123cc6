import { describe, expect, it } from 'vitest';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { httpCustomRequest } from './destination.ts';

const url = 'https://example.com/in';

function request(settings: Readonly<Record<string, unknown>>, properties: Readonly<Record<string, unknown>> = {}) {
  const resolved = sampleEvent({ event_properties: properties });
  return httpCustomRequest.prepare({ url, ...settings }).buildRequest([{ resolved }], 0);
}

describe('HTTPCustomRequest', () => {
  it('templates: fill in URL, method, headers and body', () => {
    const settings = {
      url: 'https://example.com/{{visitor.id}}/events?name={{event.event}}',
      method: '{{event.event_properties.verb}}',
      headers: '{"X-Mail": "<{{visitor.email}}>"}',
      body: '{"hello": "Hi {{visitor.first_name}}", "value": {{event.event_properties.value}}}',
    };
    expect(request(settings, { verb: 'put', value: 7 })).toMatchObject({
      method: 'PUT',
      url: 'https://example.com/sample-visitor/events?name=Order%20Completed',
      headers: {
        'x-mail': '<ada@example.com>',
        'content-type': 'application/json',
        'idempotency-key': 'sample-event-1',
      },
      body: '{"hello":"Hi Ada","value":7}',
    });
  });

  it('mapping: templates see the mapped name and properties', () => {
    const mapped = { eventName: 'purchase', properties: { total: 3 } };
    const prepared = httpCustomRequest.prepare({ url, body: '[{{event.event}}, {{event.event_properties}}]' });
    expect(prepared.buildRequest([{ resolved: sampleEvent(), mapped }], 0).body).toBe('["purchase",{"total":3}]');
  });

  it('numbers: leave with the digits they came with, wherever a template puts them', () => {
    const digits = '23851234567890123';
    const json = JSON.stringify({
      event: { ...sampleEvent().event, event_properties: { id: 0, list: [0] } },
      visitor: {},
    })
      .replace('"id":0', `"id":${digits}`)
      .replace('[0]', `[1.0,${digits}]`);
    const resolved = { v: 1, ...JSON.parse(json) };
    const settings = {
      url: `${url}/{{event.event_properties.id}}`,
      headers: '{"X-Id": "{{event.event_properties.id}}"}',
      body: '{"id": {{event.event_properties.id}}, "s": "no {{event.event_properties.id}}", "p": [{{event.event_properties}}], "t": "{{event.event_properties.list}}", "v": 1.0, "e": {{event.event}}}',
    };
    const prepared = httpCustomRequest.prepare(settings);
    const list = `[1.0,${digits}]`;
    const expected = (name: string) => ({
      url: `${url}/${digits}`,
      headers: { 'x-id': digits },
      body: `{"id":${digits},"s":"no ${digits}","p":[{"id":${digits},"list":${list}}],"t":"${list}","v":1.0,"e":"${name}"}`,
    });
    expect(prepared.buildRequest([{ resolved, json }], 0)).toMatchObject(expected('Order Completed'));
    const properties = resolved.event.event_properties;
    const remake = ({ event }: Pick<ResolvedEvent, 'event'>) => event.event_properties;
    const mapped = { eventName: 'purchase', properties, remake };
    expect(prepared.buildRequest([{ resolved, json, mapped }], 0)).toMatchObject(expected('purchase'));
  });

  it('JSON: a placeholder may be a name without quotes', () => {
    expect(request({ body: '{ {{event.event}}: 1 }' }).body).toBe('{"Order Completed":1}');
  });

  it('headers: a configured idempotency key or trace takes the place of ours', () => {
    const headers = '{"Idempotency-Key": "{{visitor.id}}", "traceparent": "mine"}';
    expect(request({ headers }).headers).toMatchObject({ 'idempotency-key': 'sample-visitor', traceparent: 'mine' });
  });

  it('JSON: if two names become the same, the later member is sent', () => {
    const body = '{"{{event.event_properties.a}}": 1, "b": 2}';
    expect(request({ body }, { a: 'b' }).body).toBe('{"b":2}');
  });

  it('no body: without a body setting, neither a body nor a content type is sent', () => {
    const { body, headers } = request({});
    expect(body).toBeUndefined();
    expect(headers).not.toHaveProperty('content-type');
  });

  it('JSON: a value that is alone keeps its type, and a value within a string is escaped', () => {
    const body =
      '{"{{event.event}}": {{event.event_properties.a}}, "s": "<{{event.event_properties.a}}>", "n": {{event.x}}}';
    expect(JSON.parse(request({ body }, { a: ['"}', 1] }).body ?? '')).toEqual({
      'Order Completed': ['"}', 1],
      s: '<["\\"}",1]>',
      n: null,
    });
    expect(JSON.parse(request({ body }, { a: '", "admin": true, "' }).body ?? '')).not.toHaveProperty('admin');
  });

  it.each([
    ['application/x-www-form-urlencoded', 'a={{event.event_properties.a}}&b=1', 'a=1%262%3D%22%3C&b=1'],
    ['text/xml; charset=utf-8', '<a>{{event.event_properties.a}}</a>', '<a>1&amp;2=&quot;&lt;</a>'],
    ['application/vnd.api+json', '{"a":"{{event.event_properties.a}}"}', '{"a":"1&2=\\"<"}'],
    ['text/plain', '{{event.event_properties.a}}', '1&2="<'],
  ])('%s: values are escaped for this content type', (contentType, body, expected) => {
    const sent = request({ body, headers: { 'Content-Type': contentType } }, { a: '1&2="<' });
    expect(sent.body).toBe(expected);
    expect(sent.headers['content-type']).toBe(contentType);
  });

  it.each(['a/b', 'a?b#c', '..%2f', 'ä\r\n', '@evil.example', '\\evil', "');--"])('URL: %s stays one part', (value) => {
    const sent = new URL(request({ url: `${url}/{{event.event_properties.a}}/end` }, { a: value }).url);
    expect(sent.host).toBe('example.com');
    expect(sent.pathname.split('/')).toHaveLength(4);
    expect(decodeURIComponent(sent.pathname.split('/')[2] ?? '')).toBe(value);
  });

  it.each([
    ['a line break in a header', { headers: '{"X-A": "{{event.event_properties.a}}"}' }, 'x\r\nX-B: 1'],
    ['a header that is not Latin-1', { headers: '{"X-A": "{{event.event_properties.a}}"}' }, '漢'],
    ['a segment that leads upwards', { url: `${url}/{{event.event_properties.a}}/x` }, '..'],
    ['half a segment that leads upwards', { url: `${url}/.{{event.event_properties.a}}/x` }, '.'],
    ['a URL without end', { url: `${url}/{{event.event_properties.a}}` }, 'a'.repeat(9_000)],
    ['an unknown method', { method: '{{event.event_properties.a}}' }, 'DELETE'],
  ])('%s: the event is refused', (_name, settings, value) => {
    expect(() => request(settings, { a: value })).toThrow(UnfitEventError);
  });

  it.each([
    ['url', { url: '{{event.event_properties.url}}' }],
    ['url', { url: 'https://{{event.event_properties.host}}/x' }],
    ['url', { url: 'https://example.com{{event.event_properties.host}}/x' }],
    ['url', { url: 'https://user:pass@example.com/{{event.id}}' }],
    ['url', { url: 'ftp://example.com/' }],
    ['url', { url: 'https://example.com/../{{event.id}}' }],
    ['url', { url: 'https://example.com/{{}}' }],
    ['method', { method: 'DELETE' }],
    ['headers', { headers: '{"Host": "{{event.id}}"}' }],
    ['headers', { headers: '{"X-A": "{{}}"}' }],
    ['headers', { headers: '{"Content-Type": "{{event.id}}"}' }],
    ['body', { body: '{"a": {{event.id}' }],
    ['body', { body: 'a={{event.id}}' }],
    ['body', { body: `${'['.repeat(200)}${']'.repeat(200)}` }],
  ])('prepare: refuses a bad %s in %o', (key, settings) => {
    expect(() => httpCustomRequest.prepare({ url, ...settings })).toThrow(`settings.${key} `);
  });
});
