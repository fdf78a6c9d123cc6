import type { ClusterPort, LogExposure } from '../nats/monitor/read-exposure.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

const guide = 'runbook: tls-and-authentication.md';
/** Accounts that every nats-server has. */
const serverAccounts = new Set(['$G', '$SYS']);

/** Judges the rights that a nats-server grants to strangers, and to services that do not need them. */
export function judgeExposure({ name, accounts, clusterPort }: LogExposure): Finding[] {
  return [judgeAccounts(name, accounts), ...(clusterPort === undefined ? [] : [judgeClusterPort(name, clusterPort)])];
}

function judgeAccounts(name: string, accounts: readonly string[]): Finding {
  const about = `accounts of ${name}`;
  const own = accounts.filter((account) => !serverAccounts.has(account));
  if (own.length > 1) return ok(about, own.toSorted().join(', '));
  return warn(
    about,
    'the services share one account: an attacker who controls one service can make the log store a reply in any stream',
    `give each service its account: include accounts.conf, and move the log (${guide})`,
  );
}

function judgeClusterPort(name: string, port: ClusterPort): Finding {
  const about = `cluster port of ${name}`;
  if (!port.isReachable) return ok(about, `${port.address} is not reachable from here`);
  const { address, needsPassword, needsCertificate } = port;
  if (needsPassword && needsCertificate) return ok(about, `${address} needs a password and a certificate`);
  if (!needsPassword && !needsCertificate) {
    const detail = `${address} lets every server join, which may then read, change and delete everything`;
    return fail(about, detail, `set authorization and tls in the block cluster of every nats-server (${guide})`);
  }
  const missing = needsPassword ? 'certificate' : 'password';
  const advice = `set ${needsPassword ? 'tls' : 'authorization'} in the block cluster of every nats-server (${guide})`;
  return warn(about, `${address} needs no ${missing}`, advice);
}
