import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { redisStreams } from './destination.ts';

const example = redisStreams.exampleSettings;
const prepared = redisStreams.prepare(example);
const events = ['1', '2', '3'].map((id) => ({ resolved: sampleEvent({ id }) }));
const read = (status: number, body: unknown) =>
  prepared.readAnswer?.({ status, headers: {}, body: JSON.stringify(body) }, events);

describe('RedisStreams', () => {
  it('request: one XADD per event, with the login of the destination', () => {
    const own = redisStreams.prepare({ ...example, url: 'redis://[::1]:6380/2', username: 'writer', password: 'a:b' });
    const { url, headers, body } = own.buildRequest(events, 0);
    expect(url).toBe('redis://[::1]:6380/2');
    expect(headers['authorization']).toBe(`Basic ${Buffer.from('writer:a:b').toString('base64')}`);
    const commands = JSON.parse(body ?? '') as string[][];
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(commands).toHaveLength(3);
    expect(JSON.parse(commands[1]?.at(-1) ?? '')).toEqual({ event, visitor });
    expect(prepared.buildRequest(events, 0).headers).not.toHaveProperty('authorization');
  });

  it('answer: each entry gets its own outcome', () => {
    expect(read(200, [{ value: '1-0' }, { error: 'OOM' }, { error: 'ERR' }])).toEqual([
      { kind: 'delivered' },
      { kind: 'retry', reason: 'OOM', isThrottled: true },
      { kind: 'reject', reason: 'ERR' },
    ]);
    expect(read(200, [{ error: 'WRONGTYPE' }, { error: 'READONLY' }])).toEqual([
      { kind: 'retry', reason: 'WRONGTYPE', refusesAccess: true },
      { kind: 'retry', reason: 'READONLY' },
      { kind: 'retry', reason: 'the response has no result for each entry' },
    ]);
    expect(read(401, { error: 'WRONGPASS' })).toBeUndefined();
  });

  it.each([
    ['url', { url: 'https://redis.example.com' }],
    ['url', { url: 'rediss://user:secret@redis.example.com' }],
    ['url', { url: 'rediss://redis.example.com/name' }],
    ['url', { url: 'rediss://redis.example.com?x=1' }],
    ['password', { username: 'writer' }],
    ['maxLength', { maxLength: '-1' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => redisStreams.prepare({ ...example, ...own })).toThrow(`settings.${key} `);
  });
});
