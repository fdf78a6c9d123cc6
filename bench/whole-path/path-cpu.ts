import { processFamilyCpuMs } from '../machine/process-cpu.ts';
import type { WholePath } from './whole-path.ts';

/** CPU each process of a path has used so far, in ms; the nodes of the log together. */
export async function cpuMsOf({
  gateway,
  pipeline,
  natsPids,
  postgresPid,
}: Pick<WholePath, 'gateway' | 'pipeline' | 'natsPids' | 'postgresPid'>): Promise<Record<string, number>> {
  const nodes = await Promise.all(natsPids.map(processFamilyCpuMs));
  return {
    gateway: await processFamilyCpuMs(gateway.pid),
    log: nodes.reduce((sum, ms) => sum + ms, 0),
    pipeline: await processFamilyCpuMs(pipeline.pid),
    PostgreSQL: await processFamilyCpuMs(postgresPid),
  };
}

/** What each of so many events took, in ns, by two readings of the above. */
export function cpuNsAnEvent(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  events: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([process, ms]) => [process, ((ms - (before[process] ?? 0)) * 1e6) / events]),
  );
}
