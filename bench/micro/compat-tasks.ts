import { PlainBatchReader, PlainMessage } from '../../gateway/routes/compat/plain-batch.ts';
import { writtenBytesMax } from '../../gateway/routes/compat/plain-writing.ts';
import { posthogCapture } from '../../gateway/routes/compat/posthog.ts';
import { specBatch } from '../../gateway/routes/compat/spec-message.ts';
import type { Dialect } from '../../gateway/routes/compat/translation.ts';
import { parseExact, stringifyExact } from '../../shared/json/exact-numbers.ts';
import { JsonWriter } from '../../shared/json/json-writer.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { posthogBody, specBody } from '../load/bodies.ts';
import { RequestTemplate } from '../load/slots.ts';
import type { MicroTask } from './micro-task.ts';

const rows = 100;
const arrival = { atMs: 1_760_000_000_000, timeWindow: { pastMsMax: 1e12, aheadMsMax: 1e12 } };
const head = { start: 0, end: 0, behindId: new Uint8Array() };

/** Batches of other services' libraries on both paths: copied byte by byte, or parsed and translated. */
export function compatTasks(): MicroTask[] {
  return [
    ...bothWays("Segment's", specBatch, specBody('src_live_bench', rows)),
    ...bothWays("PostHog's", posthogCapture, posthogBody('src_live_bench', rows)),
  ];
}

function bothWays(whose: string, dialect: Dialect, text: string): MicroTask[] {
  const template = new RequestTemplate(Buffer.from(text));
  template.fill(1, 20_000, arrival.atMs);
  const body = template.bytes;
  const reader = new PlainBatchReader({ depthMax: 64, keysMax: 100_000, rowsMax: rows });
  const out = new JsonWriter(64 * 1024);
  return [
    {
      name: `compat: ${whose} batch, written from its bytes`,
      events: rows,
      run() {
        const written = writePlain(dialect, body, reader, out);
        if (written !== rows) throw new Error(`writing ${whose} batch: ${written} of ${rows} messages were plain`);
        return out.length;
      },
    },
    {
      name: `compat: ${whose} batch, parsed and translated`,
      events: rows,
      run: () => translate(dialect, body),
    },
  ];
}

function writePlain(dialect: Dialect, given: Buffer, reader: PlainBatchReader, out: JsonWriter): number {
  const bytes = out.begin(given);
  const read = reader.read(bytes, false);
  const context = { member: -1, start: 0, end: 0 };
  let written = 0;
  for (const message of read?.messages ?? []) {
    if (!(message instanceof PlainMessage) || read === undefined) continue;
    out.reserve(writtenBytesMax(message.end - message.start, 0));
    const source = { bytes, index: reader.index, body: read.top, arrival, context, head };
    if (dialect.writePlain?.(message, source, out) === true) written += 1;
  }
  return written;
}

function translate(dialect: Dialect, given: Buffer): number {
  const body = parseExact(given.toString('utf8')) as JsonObject;
  let bytes = 0;
  for (const message of dialect.messagesOf(body) ?? []) {
    const translation = dialect.translate(message as JsonObject, body, arrival);
    if ('problem' in translation) throw new Error(`translating: ${translation.problem}`);
    bytes += Buffer.from(stringifyExact(translation.body, message as JsonObject, body)).length;
  }
  return bytes;
}
