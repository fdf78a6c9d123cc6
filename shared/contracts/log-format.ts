/**
 * The format of the log, for all of its messages and entries together. It is increased with every change that an
 * earlier build would not understand. The log records the highest format that was written to it, and a build with a
 * lower format does not start on it. A rolling upgrade that can be undone takes two releases: one that reads both
 * formats, and one that writes the new format.
 */
export const logFormat = 2;

/** The reason why a stored version number is refused. */
export function refusedVersion(found: unknown, known: number): string {
  if (typeof found === 'number' && found > known) {
    return `version ${found} is newer than this build reads (${known}): run the version of Sluice that wrote it`;
  }
  return `version ${String(found)} is unknown`;
}
