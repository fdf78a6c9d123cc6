/** Duration of a fixed loop on one core, in ms: the minimum and the median. */
export type CpuLoop = { readonly best: number; readonly median: number };

const iterations = 4_000_000;
const samples = 15;
let kept = 1;

/**
 * Measures the loop: compiled code without memory access or system calls, so its duration depends only on the core and
 * on what else uses the core.
 */
export function measureCpuLoop(): CpuLoop {
  const runOnce = (): number => {
    const startedMs = performance.now();
    for (let index = 0; index < iterations; index += 1) kept = Math.imul(kept ^ index, 0x5bd1e995) >>> 0;
    return performance.now() - startedMs;
  };
  // The first runs include compilation.
  runOnce();
  runOnce();
  const tookMs = Array.from({ length: samples }, runOnce).toSorted((a, b) => a - b);
  return { best: tookMs[0] ?? Number.NaN, median: tookMs[Math.floor(samples / 2)] ?? Number.NaN };
}
