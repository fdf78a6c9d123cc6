import type { TestProject } from 'vitest/node';

import { createRunFolder, removeLeftRunFolders } from './run-folder.ts';
import { serveTestServers } from './server-service.ts';

/**
 * Opens, once per run, the service from which integration tests request servers. Nothing is started or downloaded
 * before the first request, so that unit tests need no server. Returns the teardown, which leaves neither process nor
 * folder behind.
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
