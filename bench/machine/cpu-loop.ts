/** How long a loop of a fixed length takes on one core, in ms: at best, and usually. */
export type CpuLoop = { readonly best: number; readonly median: number };

const iterations = 4_000_000;
const samples = 15;
let kept = 1;

/** Runs the loop again and again. Compiled code, no memory, no system calls: what differs is the core, and who shares it. */
export function measureCpuLoop(): CpuLoop {
  const runOnce = (): number => {
    const startedMs = performance.now();
    for (let index = 0; index < iterations; index += 1) kept = Math.imul(kept ^ index, 0x5bd1e995) >>> 0;
    return performance.now() - startedMs;
  };
  // The first ones are compiled meanwhile.
  runOnce();
  runOnce();
  const tookMs = Array.from({ length: samples }, runOnce).toSorted((a, b) => a - b);
  return { best: tookMs[0] ?? Number.NaN, median: tookMs[Math.floor(samples / 2)] ?? Number.NaN };
}
