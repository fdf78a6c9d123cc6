import type { StoredResult } from '../result/stored-result.ts';

/** Two disks whose syncs differ by more than this are two disks, whatever else is the same. */
const diskFactorMax = 2;

/** What keeps two results of a scenario from being comparable: differences a reader has to know of. */
export function differencesOf(before: StoredResult, after: StoredResult): string[] {
  const [one, other] = [factsOf(before), factsOf(after)];
  const changed = [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => one.get(name) !== other.get(name))
    .map((name) => `${name}: ${one.get(name) ?? 'not given'} against ${other.get(name) ?? 'not given'}`);
  const [disk, otherDisk] = [before.machine.disk.p50, after.machine.disk.p50];
  const factor = Math.max(disk, otherDisk) / Math.min(disk, otherDisk);
  if (factor <= diskFactorMax) return changed;
  return [...changed, `disk: a sync took ${disk.toFixed(3)} ms against ${otherDisk.toFixed(3)} ms`];
}

function factsOf({ machine, settings, isQuick }: StoredResult): ReadonlyMap<string, string> {
  const { cpu, cores, memoryGiB, os, node, natsServer, packages } = machine;
  const { environment = {}, ...others } = settings;
  const facts: Readonly<Record<string, unknown>> = {
    cpu,
    cores,
    memoryGiB,
    os,
    node,
    'nats-server': natsServer,
    quick: isQuick,
    ...packages,
    ...others,
    ...(environment as Readonly<Record<string, unknown>>),
  };
  return new Map(
    Object.entries(facts).map(([name, fact]) => [name, typeof fact === 'string' ? fact : JSON.stringify(fact)]),
  );
}
