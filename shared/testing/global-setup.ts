import type { TestProject } from 'vitest/node';

import { createRunFolder, removeLeftRunFolders } from './run-folder.ts';
import { serveTestServers } from './server-service.ts';

/**
 * Once per run: opens the service where integration tests ask for servers. Nothing is started or downloaded until one
 * asks, so that unit tests need neither. Returns the teardown, which leaves neither process nor folder behind.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftRunFolders();
  const run = await createRunFolder();
  const service = await serveTestServers(run.path);
  project.provide('testRunFolder', run.path);
  project.provide('testServerService', service.socketPath);
  return async () => {
    await service.close();
    await run.remove();
  };
}
