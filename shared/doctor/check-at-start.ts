import type { Logger } from '../process/logger.ts';
import { judgeDurability } from './judge-durability.ts';
import { judgeOpenFiles } from './judge-machine.ts';
import { judgeNatsServer, judgeNode } from './judge-versions.ts';
import { openFilesLimit } from './open-files-limit.ts';
import { readDurability } from './read-durability.ts';

export type StartCheckOptions = {
  /** As the server greeted with it. */
  readonly natsVersion: string | undefined;
  /** NATS_MONITOR_URL. */
  readonly monitorUrls: string | undefined;
  readonly logger: Logger;
};

/**
 * The cheap part of the doctor, for a service that starts: one line that says what an acknowledged event survives, and
 * one for each thing that is not as it should be. Takes as long as the monitor port takes to answer; never throws.
 */
export async function checkAtStart({ natsVersion, monitorUrls, logger }: StartCheckOptions): Promise<void> {
  const durability = await readDurability(monitorUrls);
  const { mode, detail: meaning } = durability;
  logger.info({ durability: mode, meaning, natsVersion }, 'what an acknowledged event survives');
  const findings = [
    judgeDurability(durability),
    judgeNatsServer(natsVersion),
    judgeNode(process.versions.node),
    judgeOpenFiles(openFilesLimit()),
  ];
  for (const { level, about, detail, advice } of findings) {
    // Not knowing is no news: the line above says it.
    if (level === 'ok' || (about === 'durability' && mode === 'unknown')) continue;
    logger[level === 'fail' ? 'error' : 'warn']({ about, found: detail, advice }, 'not as it should be');
  }
}
