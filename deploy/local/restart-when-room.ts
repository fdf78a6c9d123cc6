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
/** Below this a server that starts would fill what is left at once: it is a few of the largest messages. */
const roomBytesMin = 32 * 1024 ** 2;

/**
 * A nats-server that met a full disk writes no more to the stream that was hit, also when there is room again, until it
 * is restarted; its health page says so. This ends it once there is room; its supervisor restarts it.
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
      // Asked to stop it may hang, waiting for the stream that cannot be written to. Every write it acknowledged is synced.
      await server.kill();
    } else if (!isTold) {
      isTold = true;
      say(`! nats-server cannot write any more (${complaint}): it is restarted once ${storeDir} has room`);
    }
  };
  // One that does not answer is ending or starting, which is not ours to judge.
  const looking = every(everyMs, () => look().catch(() => undefined));
  return { stop: () => void looking.stop() };
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
