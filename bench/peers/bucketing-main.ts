import { allocationBucket, variantBucket } from '../../shared/experiments/bucketing.ts';

/** Computes only the two hashes of an assignment, on one thread. Reports the number of assignments every second. */
const [, , warmUpMs = '1000', measureMs = '5000'] = process.argv;
const experimentId = '0190a7c0-6e2a-7b60-8f5e-1f5d3c2b1a09';
const visitors = Array.from({ length: 10_000 }, (_, index) => `customer-${String(index).padStart(9, '0')}`);
const windowMs = 1_000;
let spread = 0;

function runFor(ms: number): number {
  const startedMs = performance.now();
  let assigned = 0;
  while (performance.now() - startedMs < ms) {
    for (const visitor of visitors) {
      spread += allocationBucket(experimentId, visitor) < 5_000 ? 1 : 0;
      spread += variantBucket(experimentId, visitor) < 5_000 ? 1 : 0;
    }
    assigned += visitors.length;
  }
  return (assigned * 1000) / (performance.now() - startedMs);
}

runFor(Number(warmUpMs));
const readings: number[] = [];
for (let doneMs = 0; doneMs < Number(measureMs); doneMs += windowMs) readings.push(runFor(windowMs));
// Uses the sum, so that the compiler cannot omit the work.
if (spread === 0) throw new Error('bucketing assigned no visitor');
process.send?.(readings);
