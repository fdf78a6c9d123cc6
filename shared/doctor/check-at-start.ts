import type { ConnectedServer, LogConnection } from '../nats/connection/connection.ts';
import type { Logger } from '../runtime/logger.ts';
import { judgeDurability, judgeLogServer } from './judge-log.ts';
import { judgeOpenFiles, openFilesLimit } from './judge-machine.ts';
import { judgeNode } from './judge-versions.ts';
import { readDurability } from '../nats/monitor/read-durability.ts';
import { readLogServers } from '../nats/monitor/read-log-servers.ts';

const readTimeoutMs = 2_000;

export type StartCheckOptions = {
  readonly connection: Pick<LogConnection, 'problem' | 'onReconnect'> & {
    readonly server: Pick<ConnectedServer, 'version'>;
  };
  /** The value of NATS_MONITOR_URL. */
  readonly monitorUrls: string | undefined;
  readonly logger: Logger;
};

/**
 * The quick checks of the doctor, which a service runs when it starts: one log line on the durability of acknowledged
 * events and one for each problem. Logs again if the connection comes back to a server that is too old. Takes as long
 * as the monitor port takes to answer; never throws.
 */
export async function checkAtStart({ connection, monitorUrls, logger }: StartCheckOptions): Promise<void> {
  connection.onReconnect(() => {
    // A running service does not stop for this problem, which its readiness check reports.
    const { problem } = connection;
    if (problem !== undefined) logger.error({ problem }, 'the log is reachable again, but not usable');
  });
  const natsVersion = connection.server.version;
  const [durability, servers] = await Promise.all([
    readDurability(monitorUrls),
    readLogServers(monitorUrls, readTimeoutMs),
  ]);
  const { mode, detail: meaning } = durability;
  logger.info({ durability: mode, meaning, natsVersion }, 'what an acknowledged event survives');
  const findings = [
    judgeDurability(durability),
    ...servers.flatMap(judgeLogServer),
    judgeNode(process.versions.node),
    judgeOpenFiles(openFilesLimit()),
  ];
  for (const { level, about, detail, advice } of findings) {
    // Unknown durability is not logged again: the line above shows it.
    if (level === 'ok' || (about === 'durability' && mode === 'unknown')) continue;
    logger[level === 'fail' ? 'error' : 'warn']({ about, found: detail, advice }, 'a check found a problem');
  }
}
