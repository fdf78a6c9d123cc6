import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endProcess } from '../../shared/embedded/machine/end-process.ts';
import { readProcessFacts } from '../../shared/runtime/process-facts.ts';

/** Records a stack's running services, so that the next start finds those that a killed launcher left running. */
export type ServiceRecord = {
  /** Rejects if the record cannot be written; the next `put` then writes what this one has added. */
  put(name: string, pid: number): Promise<void>;
  clear(): Promise<void>;
};

type Entry = { readonly pid: number; readonly startedAt: string };

const stopWaitMs = 9_000;

export function createServiceRecord(folder: string): ServiceRecord {
  const file = recordFile(folder);
  const entries: Record<string, Entry> = {};
  let writing: Promise<void> = Promise.resolve();
  const write = (): Promise<void> => writeFile(file, JSON.stringify(entries), { mode: 0o600 });
  return {
    async put(name, pid) {
      const facts = await readProcessFacts(pid);
      if (facts === undefined) return;
      entries[name] = { pid, startedAt: facts.startedAt };
      // Also after a failure: a full disk gets room again.
      writing = writing.then(write, write);
      await writing;
    },
    async clear() {
      await writing.catch(() => undefined);
      await rm(file, { force: true });
    },
  };
}

/** Stops services that an earlier launcher left running. Returns their names. */
export async function endLeftovers(folder: string): Promise<readonly string[]> {
  const ended: string[] = [];
  for (const [name, entry] of Object.entries(await readRecord(recordFile(folder)))) {
    const facts = await readProcessFacts(entry.pid);
    if (facts === undefined || facts.startedAt !== entry.startedAt) continue;
    await endProcess(facts, [
      { signal: 'SIGTERM', waitMs: stopWaitMs },
      { signal: 'SIGKILL', waitMs: 2_000 },
    ]);
    ended.push(name);
  }
  await rm(recordFile(folder), { force: true });
  return ended;
}

const recordFile = (folder: string): string => join(folder, 'services.json');

async function readRecord(file: string): Promise<Readonly<Record<string, Entry>>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, Entry>;
  } catch {
    // Missing, or truncated by the crash: nothing can be recovered from it.
    return {};
  }
}
