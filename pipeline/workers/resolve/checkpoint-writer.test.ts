import pino from 'pino';
import { expect, test } from 'vitest';
import { checkpointHeader } from '../../../shared/contracts/events/checkpoint.ts';
import { bytesPerHash } from '../../../shared/contracts/events/event-hash.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { CheckpointWriter } from './checkpoint-writer.ts';
import type { ResolverContext } from './resolver-context.ts';
import { createResolverCounts } from './resolver-context.ts';

test('checkpoints: ids that are left out while a checkpoint is being stored are covered by no later checkpoint', async () => {
  const heads: { readonly from: number; readonly to: number }[] = [];
  let answer = (): void => undefined;
  const first = new Promise<void>((resolve) => (answer = resolve));
  const ask = async (_: string, __: unknown, { headers }: { readonly headers: { get(name: string): string } }) => {
    heads.push(JSON.parse(headers.get(checkpointHeader)));
    const seq = heads.length;
    await first;
    return { data: Buffer.from(JSON.stringify({ stream: streams.deduplication, seq })) };
  };
  const deduplication = { windowMs: 3_600_000, idsMax: 1 };
  const context = {
    partition: 0,
    connection: { connected: true, [client]: { asker: { ask } } },
    settings: { checkpointBytesMax: 2 * bytesPerHash, publishTimeoutMs: 1_000, deduplication },
    deduplication: { timeMs: 1 },
    counts: createResolverCounts(),
    logger: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  } as unknown as ResolverContext;
  const start = { log: 'now', coveredTo: 0, witness: undefined, held: [], lastSeq: 0 };
  const checkpoints = new CheckpointWriter(context, start);
  // Two ids fill a checkpoint; the fifth one is one too many to wait.
  for (let seq = 1; seq <= 5; seq += 1) {
    checkpoints.note({ seq, msgId: `m${seq}`, ids: new Uint8Array(bytesPerHash), timeMs: 1 });
  }
  answer();
  await checkpoints.write();
  expect(heads).toMatchObject([
    { from: 1, to: 2 },
    { from: 4, to: 5 },
  ]);
});
