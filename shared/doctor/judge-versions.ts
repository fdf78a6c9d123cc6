import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

type Version = readonly [major: number, minor: number, patch: number];

const nodeMin: Version = [20, 19, 0];
/** The first that knows `sync_interval: always`. */
const natsMin: Version = [2, 10, 0];
/** Before it, whoever may publish to the JetStream interface could delete other accounts' streams (CVE-2025-30215). */
const natsSafe: Version = [2, 10, 27];
const postgresMajorMin = 14;

export function judgeNode(version: string): Finding {
  const about = 'Node';
  if (isOlder(version, nodeMin)) return fail(about, version, `use Node ${text(nodeMin)} or newer`);
  return ok(about, version);
}

/** `version` as the server greets with it; undefined if it did not. */
export function judgeNatsServer(version: string | undefined): Finding {
  const about = 'nats-server';
  if (version === undefined) return warn(about, 'it did not say its version', `use ${text(natsSafe)} or newer`);
  if (isOlder(version, natsMin)) {
    return fail(about, version, `it cannot sync every write: use ${text(natsSafe)} or newer`);
  }
  if (isOlder(version, natsSafe)) {
    return warn(about, version, `it has a known weakness (CVE-2025-30215): use ${text(natsSafe)} or newer`);
  }
  return ok(about, version);
}

/** `versionNumber` as `server_version_num` has it: 170005 is 17.5. */
export function judgePostgres(versionNumber: number): Finding {
  const major = Math.floor(versionNumber / 10_000);
  const detail = `${major}.${versionNumber % 10_000}`;
  if (major < postgresMajorMin) return fail('PostgreSQL', detail, `use PostgreSQL ${postgresMajorMin} or newer`);
  return ok('PostgreSQL', detail);
}

function isOlder(version: string, than: Version): boolean {
  const parts = version.replace(/^v/, '').split(/[.+-]/, 3).map(Number);
  for (const [index, wanted] of than.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}

const text = (version: Version): string => version.join('.');
