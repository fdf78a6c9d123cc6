import { isNewEnough, NATS_VERSION_MIN, oldServerRisk, upgradeAdvice } from '../nats/connection/server-version.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

type Version = readonly [major: number, minor: number, patch: number];

const nodeMin: Version = [20, 19, 0];
const postgresMajorMin = 14;

export function judgeNode(version: string): Finding {
  const about = 'Node';
  if (isOlder(version, nodeMin)) return fail(about, version, `use Node ${text(nodeMin)} or newer`);
  return ok(about, version);
}

/** `version` is from the server's greeting; undefined if the greeting has none. */
export function judgeNatsServer(version: string | undefined, name = ''): Finding {
  const about = name === '' ? 'nats-server' : `nats-server ${name}`;
  if (version === undefined) return warn(about, 'it did not report its version', `use ${NATS_VERSION_MIN} or newer`);
  if (isNewEnough(version)) return ok(about, version);
  return fail(
    about,
    `${version} is older than ${NATS_VERSION_MIN}, so no service starts on it: ${oldServerRisk}`,
    upgradeAdvice,
  );
}

/** `versionNumber` is PostgreSQL's `server_version_num`, such as 170005 for 17.5. */
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
