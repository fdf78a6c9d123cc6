import { threadId } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { createLogger } from '../../shared/runtime/logger.ts';
import { createBlackBox } from './black-box.ts';
import { openHostResources } from './host-resources.ts';
import type { HostSettings } from './host-settings.ts';
import { HostedActors } from './hosted-actors.ts';
import type { Command, Report } from './messages.ts';
import { startReporting } from './report-stats.ts';
import { watchRetryLog } from './watch-retry-log.ts';

export type HostTask = {
  readonly port: MessagePort;
  readonly blackBox: SharedArrayBuffer;
  readonly settings: HostSettings;
};

/** What closing connections may take, in ms. */
const closingMs = 800;

/**
 * The task a pool thread runs for as long as it lives: owns the actors placed on the thread, and talks to the
 * supervisor through its port. Resolves after `shutdown`; rejects, which ends the thread's actors, when the
 * connection to the log is closed for good.
 */
export async function runHost({ port, blackBox, settings }: HostTask): Promise<void> {
  const logger = createLogger('pipeline', settings.logLevel).child({ thread: settings.thread });
  const report = (message: Report): void => port.postMessage(message);
  const resources = await openHostResources(settings, logger);
  const actors = new HostedActors({ resources, settings, logger, report, blackBox: createBlackBox(blackBox) });
  const watch = watchRetryLog(resources.connection, actors, logger);
  const reporting = startReporting(resources, actors, report);
  try {
    await new Promise<void>((resolve, reject) => {
      const handle = (command: Command): void => {
        switch (command.kind) {
          case 'configure':
            actors.configure(command);
            return;
          case 'start':
            actors.start(command);
            return;
          case 'stop':
            actors.stop(command.actorId, command.deadlineMs);
            return;
          case 'shutdown':
            actors.stopAll(command.deadlineMs).then(resolve, reject);
        }
      };
      port.on('message', handle);
      void resources.connection.closed.then((error) =>
        reject(error ?? new Error('the connection to the log is closed')),
      );
      report({ kind: 'ready', threadId });
    });
  } finally {
    reporting.stop();
    watch.stop();
    await resources.close(closingMs);
    port.close();
  }
}
