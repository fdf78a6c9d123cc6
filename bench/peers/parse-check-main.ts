import { batchPayload, batchRow } from '../../gateway/payload/payloads.ts';
import { batchBody } from '../load/bodies.ts';
import { RequestTemplate } from '../load/slots.ts';

/** Runs only JSON.parse and the compiled check of every row, on one thread. Reports the number of rows every second. */
const [, , rows = '1000', warmUpMs = '1000', measureMs = '5000'] = process.argv;
const windowMs = 1_000;
const template = new RequestTemplate(Buffer.from(batchBody('src_live_bench', Number(rows))));
template.fill(1, 20_000, Date.now());

function parseAndCheck(): void {
  const value: unknown = JSON.parse(template.bytes.toString('utf8'));
  if (!batchPayload.Check(value)) throw new Error('the batch of the bench is not valid');
  for (const row of value.events) {
    if (!batchRow.Check(row)) throw new Error('a row of the bench batch is not valid');
  }
}

function runFor(ms: number): number {
  const startedMs = performance.now();
  let batches = 0;
  while (performance.now() - startedMs < ms) {
    parseAndCheck();
    batches += 1;
  }
  return (batches * Number(rows) * 1000) / (performance.now() - startedMs);
}

runFor(Number(warmUpMs));
const readings: number[] = [];
for (let doneMs = 0; doneMs < Number(measureMs); doneMs += windowMs) readings.push(runFor(windowMs));
process.send?.(readings);
