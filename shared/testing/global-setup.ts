import type { TestProject } from 'vitest/node';

import { createRunFolder, removeLeftRunFolders } from './run-folder.ts';
import { serveTestServers } from './server-desk.ts';

/**
 * Once per run: opens the desk where integration tests ask for servers. Nothing is started or downloaded until one
 * asks, so that unit tests need neither. Returns the teardown, which leaves neither process nor folder behind.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftRunFolders();
  const run = await createRunFolder();
  const desk = await serveTestServers(run.path);
  project.provide('testRunFolder', run.path);
  project.provide('testServerDesk', desk.socketPath);
  return async () => {
    await desk.close();
    await run.remove();
  };
}
