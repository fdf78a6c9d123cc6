import type { FolderClaim } from './folder-claim.ts';
import type { ServerExit, ServerProcess } from './server-process.ts';

/** A running server that holds the claim on its folder until it has ended. */
export type HeldServer = {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  /** Ends it in good order, by force if that takes too long. */
  stop(): Promise<void>;
  /** SIGKILL: what a crash looks like. A new start on the same folder finds what was acknowledged. */
  kill(): Promise<void>;
};

/** Ties the claim to the process: by the time `exited`, `stop` or `kill` settles, the folder can be claimed again. */
export function holdClaim(process: ServerProcess, claim: FolderClaim): HeldServer {
  const exited = process.exited.then(async (exit) => {
    await claim.release();
    return exit;
  });
  return {
    pid: process.pid,
    exited,
    stop: async () => {
      await process.stop();
      await exited;
    },
    kill: async () => {
      await process.kill();
      await exited;
    },
  };
}
