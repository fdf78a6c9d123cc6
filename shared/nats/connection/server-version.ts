/**
 * The oldest nats-server that Sluice runs on. Earlier releases may lose acknowledged messages in a power failure,
 * although every write is synced: the compaction of a block that is being written ignored `sync_interval: always`
 * (github.com/nats-io/nats-server/pull/8475). 2.14.0 to 2.14.5 lack the fix; whether 2.15.0 and later releases of 2.14
 * have it is not known.
 */
export const NATS_VERSION_MIN = '2.15.1';

const versionParts = /^v?(\d+)\.(\d+)(?:\.(\d+))?(-(?:RC|preview|beta|dev).*)?/i;

export function isNewEnough(version: string): boolean {
  const [found, wanted] = [version, NATS_VERSION_MIN].map((text) => versionParts.exec(text));
  if (!found || !wanted) return false;
  for (const part of [1, 2, 3] as const) {
    const difference = Number(found[part] ?? 0) - Number(wanted[part]);
    if (difference !== 0) return difference > 0;
  }
  // A release candidate of the minimum version is older than it.
  return found[4] === undefined;
}

/** Why an older server is refused. */
export const oldServerRisk =
  'it may lose acknowledged events when the power fails, although it syncs every write (fixed in nats-server pull request 8475)';

/** What to do about a server that is too old. */
export const upgradeAdvice = `run ${NATS_VERSION_MIN} or newer on the same data folder, which it uses unchanged (runbook: start-stop-upgrade.md, nats-server)`;

/**
 * Why a server with this version is refused, in a sentence; undefined if it is accepted. A server that does not report
 * its version is accepted.
 */
export function versionProblem(version: string | undefined): string | undefined {
  if (version === undefined || isNewEnough(version)) return undefined;
  return `nats-server ${version} is older than ${NATS_VERSION_MIN}, the oldest Sluice works with: ${oldServerRisk}; ${upgradeAdvice}`;
}
