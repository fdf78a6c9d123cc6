import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { inject, vi } from 'vitest';

const unpackDeadlineMs = 90_000;

/**
 * Path of the headless Chromium in @sparticuz/chromium. The package unpacks the browser at its first use, and does not
 * wait for another process that is still unpacking it. So one test file of a run unpacks it, and the others wait.
 */
export async function findBrowser(): Promise<string> {
  const found = join(inject('testRunFolder'), 'browser');
  if (await isFirst(`${found}-unpacking`)) {
    const path = await chromium.executablePath();
    await writeFile(`${found}-unpacked`, path);
    await rename(`${found}-unpacked`, found);
  }
  return vi.waitFor(() => readFile(found, 'utf8'), { timeout: unpackDeadlineMs, interval: 50 });
}

/** Creates a folder; false if the folder already exists. */
async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
