import { runCommand } from './run-command.ts';

/**
 * The oldest nats-server that can go back to a consumer's acknowledgement floor (`CONSUMER.RESET`), by which a new owner
 * takes unfinished work over in order, and that answers a publish repeated without a quorum with an error.
 */
export const NATS_VERSION_MIN = '2.14';

const VERSION_TIMEOUT_MS = 10_000;

/** Runs `<binary> --version`. Throws, saying why, if it cannot be run or is too old. */
export async function requireNatsVersion(binaryPath: string, signal?: AbortSignal): Promise<string> {
  const { stdout } = await runCommand(binaryPath, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS, signal });
  const version = parseNatsVersion(stdout);
  if (version === undefined) {
    throw new Error(`${binaryPath} does not say its version as nats-server does: ${stdout.trim().slice(0, 100)}`);
  }
  if (!isNewEnough(version)) {
    throw new Error(`${binaryPath} is version ${version}, older than ${NATS_VERSION_MIN}`);
  }
  return version;
}

/** `nats-server: v2.15.1` gives `2.15.1`; what follows the three numbers (`-RC.1`) is kept. */
export function parseNatsVersion(output: string): string | undefined {
  return /^nats-server: v?(\d+\.\d+\.\d+[\w.+-]*)\s*$/m.exec(output)?.[1];
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NATS_VERSION_MIN.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}
