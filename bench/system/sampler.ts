import type { Series } from '../result/result.ts';
import { familyMemoryBytes, processMemoryBytes } from '../machine/process-use.ts';

type Probe = Omit<Series, 'points'> & { read(): Promise<number> | number };

/** Reads values at intervals during another measurement. */
export type Sampler = {
  /** Returns the values read from `fromS` seconds on; the times of their points count from `fromS`. */
  stop(fromS?: number): Promise<readonly Series[]>;
};

const everyMsByDefault = 500;

/** Begins to read values; seconds count from this call. */
export function startSampler(probes: readonly Probe[], everyMs = everyMsByDefault): Sampler {
  const series = probes.map(({ chart, name, unit, read }) => ({
    read,
    line: { chart, name, unit, points: [] as [number, number][] },
  }));
  const startedMs = performance.now();
  const stopping = new AbortController();
  const sampleOnce = async (): Promise<void> => {
    for (const { read, line } of series) {
      // A process that has just ended has no value.
      const value = await Promise.resolve(read()).catch(() => undefined);
      if (value !== undefined && Number.isFinite(value))
        line.points.push([(performance.now() - startedMs) / 1000, value]);
    }
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await sampleOnce();
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    async stop(fromS = 0) {
      stopping.abort();
      await running;
      return series.map(({ line }) => ({
        ...line,
        points: line.points.filter(([atS]) => atS >= fromS).map(([atS, value]) => [atS - fromS, value] as const),
      }));
    },
  };
}

/** Memory of a process and its children in bytes, with shared pages in proportion (PSS). */
export function familyMemoryProbe(name: string, pid: number): Probe {
  return { chart: 'proportional-memory', name, unit: 'bytes', read: () => familyMemoryBytes(pid) };
}

/** Resident memory of a process in bytes. */
export function memoryProbe(name: string, pid: number): Probe {
  return { chart: 'memory', name, unit: 'bytes', read: () => processMemoryBytes(pid) };
}
