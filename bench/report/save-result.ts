import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ScenarioResult } from '../scenario.ts';
import { describeMachine } from './machine.ts';

/** Writes `bench/results/<date>-<scenario>.json` and returns its path. */
export async function saveResult(scenario: string, seconds: number, result: ScenarioResult): Promise<string> {
  const folder = fileURLToPath(new URL('../results/', import.meta.url));
  await mkdir(folder, { recursive: true });
  const at = new Date().toISOString();
  const path = `${folder}${at.slice(0, 19).replaceAll(':', '')}-${scenario}.json`;
  const document = { scenario, at, seconds, machine: await describeMachine(), ...result };
  await writeFile(path, `${JSON.stringify(document, null, 2)}\n`);
  return path;
}
