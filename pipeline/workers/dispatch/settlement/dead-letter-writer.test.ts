import { expect, test } from 'vitest';
import { decodeDeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import type { DeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import { encodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { client } from '../../../../shared/nats/connection/client.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { DeadLetterWriter } from './dead-letter-writer.ts';

const messageBytesMax = 8_192;

/** A writer to a log that refuses larger messages; `failures` are its answers to the first messages that fit. */
function open(...failures: readonly string[]) {
  const stored: (DeadLetter | undefined)[] = [];
  const left = [...failures];
  const ask = (_: string, payload: Uint8Array) => {
    if (payload.length > messageBytesMax) return Promise.resolve('too_large');
    const failure = left.shift();
    if (failure !== undefined) return Promise.resolve(failure);
    stored.push(decodeDeadLetter(payload));
    return Promise.resolve({ data: Buffer.from(JSON.stringify({ stream: streams.deadLetters, seq: stored.length })) });
  };
  const connection = { connected: true, messageBytesMax, [client]: { asker: { ask } } } as unknown as LogConnection;
  const { signal } = new AbortController();
  const writer = new DeadLetterWriter({ connection, destinationId: 'd', signal, onRetry: () => undefined });
  const add = (id: string, bytes: number): Promise<boolean> => {
    const event = encodeResolved(sampleEvent({ id, event_properties: { text: 'x'.repeat(bytes) } }));
    const request = { method: 'POST', url: 'https://to', headers: {}, body: 'x'.repeat(2_048), events: 1 };
    const about = { attempts: 1, firstAttemptAt: 1, lastAttemptAt: 1, reason: 'refused' };
    return writer.add({ ...about, exchange: { request }, event }, id, `events 1.${id}`);
  };
  return { add, stored };
}

test('dead letters: a letter that would be larger than a message is stored without its request and answer', async () => {
  const { add, stored } = open();
  expect([await add('small', 100), await add('large', 6_000)]).toEqual([true, true]);
  const events = stored.map((letter) => [letter?.event.event.id, letter?.exchange?.request.method]);
  expect(events).toEqual([
    ['small', 'POST'],
    ['large', undefined],
  ]);
});

test('dead letters: after a letter that is too large, the next one is tried as often as any other', async () => {
  const { add } = open('timeout');
  expect([await add('huge', messageBytesMax), await add('next', 100)]).toEqual([false, true]);
});
