import { isNewEnough, NATS_VERSION_MIN } from '../../nats/connection/server-version.ts';
import { runCommand } from '../machine/run-command.ts';

const versionTimeoutMs = 10_000;

/** Runs `<binary> --version`. Throws, saying why, if it cannot be run or is too old. */
export async function requireNatsVersion(binaryPath: string, signal?: AbortSignal): Promise<string> {
  const { stdout } = await runCommand(binaryPath, ['--version'], { timeoutMs: versionTimeoutMs, signal });
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
