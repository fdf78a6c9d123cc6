import { readFile } from 'node:fs/promises';
import type { Machine } from '../machine/machine.ts';
import type { Bar, ScenarioResult } from './result.ts';

/** A result as stored in a file, with everything needed to judge the result and to compare it with another one. */
export type StoredResult = ScenarioResult & {
  readonly format: 2;
  readonly scenario: string;
  readonly summary: string;
  readonly at: string;
  readonly isQuick: boolean;
  readonly tookS: number;
  readonly machine: Machine;
  readonly bars: readonly Bar[];
};

export class ResultFileError extends Error {
  readonly code = 'result_file';
}

export async function readStoredResult(path: string): Promise<StoredResult> {
  const fail = (why: string, cause?: unknown): never => {
    throw new ResultFileError(`reading the result ${path}: ${why}`, { cause });
  };
  const text = await readFile(path, 'utf8').catch((error: unknown) => fail('the file cannot be read', error));
  let value: unknown;
  try {
    // JSON has no NaN, so NaN was written as null. Left as null, it could be mistaken for zero.
    value = JSON.parse(text, (_key, read: unknown) => (read === null ? Number.NaN : read));
  } catch (error) {
    fail('it is not JSON', error);
  }
  if (!isStoredResult(value)) fail('it is not a result, or an older bench wrote it');
  return value as StoredResult;
}

function isStoredResult(value: unknown): boolean {
  const { format, rows, bars, machine, settings, measured } = value as Partial<Record<keyof StoredResult, unknown>>;
  const parts = [machine, settings, measured];
  return format === 2 && Array.isArray(rows) && Array.isArray(bars) && parts.every((part) => typeof part === 'object');
}
