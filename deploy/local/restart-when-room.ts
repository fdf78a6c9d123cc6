import { statfs } from 'node:fs/promises';
import { needsRestart } from '../../shared/doctor/judge-log.ts';
import { every } from '../../shared/runtime/every.ts';
import { readComplaint } from '../../shared/nats/monitor/read-monitor.ts';

export type RestartWhenRoomOptions = {
  /** The server that runs now. */
  current(): { readonly monitorUrl: string; kill(): Promise<void> };
  readonly storeDir: string;
  say(line: string): void;
};

const everyMs = 2_000;
const answerMs = 2_000;
/** Free space needed for a restart: a few of the largest messages. With less, the server would fill it at once. */
const roomBytesMin = 32 * 1024 ** 2;

/**
 * Kills nats-server once there is space again after a full disk; its supervisor restarts it. Without a restart,
 * nats-server never writes to the affected stream again, which its health page reports.
 */
export function restartWhenRoom({ current, storeDir, say }: RestartWhenRoomOptions): { stop(): void } {
  let isTold = false;
  const look = async (): Promise<void> => {
    const server = current();
    const complaint = await readComplaint(server.monitorUrl, answerMs);
    if (complaint === undefined || !needsRestart(complaint)) {
      isTold = false;
      return;
    }
    if ((await freeBytes(storeDir)) >= roomBytesMin) {
      say('! nats-server cannot write any more, though its disk has room: restarting it');
      // Killed, because a graceful stop may wait for the unwritable stream forever. Acknowledged writes are synced.
      await server.kill();
    } else if (!isTold) {
      isTold = true;
      say(`! nats-server cannot write any more (${complaint}): it is restarted once ${storeDir} has room`);
    }
  };
  // Errors are ignored: a server that does not respond is starting or stopping.
  const looking = every(everyMs, () => look().catch(() => undefined));
  return { stop: () => void looking.stop() };
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
