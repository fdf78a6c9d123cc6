/**
 * What the log holds, all its messages and entries together: raised with any change that an earlier build would not
 * understand. The log bears the highest one that has written to it, and a build that knows only a lower one does not start
 * on it. So that an upgrade can roll and go back, a change takes two releases: one that reads both, and one that writes.
 */
export const logFormat = 2;

/** Why a version that something stored says of itself is refused, in words. */
export function refusedVersion(found: unknown, known: number): string {
  if (typeof found === 'number' && found > known) {
    return `version ${found} is newer than this build reads (${known}): run the version of Sluice that wrote it`;
  }
  return `version ${String(found)} is unknown`;
}
