/**
 * The oldest nats-server that can go back to a consumer's acknowledgement floor (`CONSUMER.RESET`), by which a new owner
 * takes unfinished work over in order, and that answers a publish repeated without a quorum with an error.
 */
export const NATS_VERSION_MIN = '2.14';

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NATS_VERSION_MIN.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

/** What to do about a server that is too old. */
export const upgradeAdvice = `run ${NATS_VERSION_MIN} or newer on the same data folder, which it takes over as it is (runbook: start-stop-upgrade.md, nats-server)`;

/**
 * Why a server that greets with this version will not do, in a sentence; undefined if it will. One that does not say
 * its version is taken: what speaks for it is that it greeted.
 */
export function versionProblem(version: string | undefined): string | undefined {
  if (version === undefined || isNewEnough(version)) return undefined;
  return `nats-server ${version} is older than ${NATS_VERSION_MIN}, the oldest Sluice works with: ${upgradeAdvice}`;
}
