import type { ProcessReport } from '../../../shared/contracts/process-report.ts';
import { logFormat } from '../../../shared/contracts/log-format.ts';
import { fail, ok, warn } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { isNewer, version } from '../../../shared/runtime/version.ts';
import { unreleased } from './read-changelog.ts';
import type { Release } from './read-changelog.ts';

type Running = Pick<ProcessReport, 'kind' | 'instanceId' | 'version'>;

/** The version assumed for processes that report no version: a build before 0.1.0. */
const untold = '0.0.0';

/** The oldest running version; undefined if no process runs. */
export function oldestOf(processes: readonly Running[]): string | undefined {
  return processes
    .map((one) => one.version ?? untold)
    .reduce<string | undefined>(
      (oldest, one) => (oldest === undefined || isNewer(oldest, one) ? one : oldest),
      undefined,
    );
}

/** Compares the running versions with this one. */
export function judgeRunning(processes: readonly Running[], own = version): Finding {
  const about = 'versions';
  if (processes.length === 0) return ok(about, `this is ${own}; no gateway and no pipeline runs`);
  const counts = new Map<string, number>();
  for (const { kind, version: found } of processes) {
    const name = `${kind} ${found ?? 'before 0.1.0'}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const running = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`)).join(', ');
  const newer = processes.filter(({ version: found }) => found !== undefined && isNewer(found, own));
  if (newer.length === 0) return ok(about, `this is ${own}; running: ${running}`);
  const advice = 'this would be a downgrade: see the notes of the newer version for whether it is possible';
  return warn(about, `this is ${own}, and newer ones run: ${running}`, advice);
}

/**
 * The changelog's upgrade steps between the oldest running version and this one. Unreleased steps count for each build
 * that is not newer: builds between two releases have the version of the first.
 */
export function judgeReleases(releases: readonly Release[], oldest: string | undefined, own = version): Finding[] {
  if (oldest === undefined) return [];
  return releases.flatMap(({ version: one, upgrade }) => {
    if (one === unreleased) {
      const advice = 'unless the running build has it already, do this before or during the upgrade, as the note says';
      return isNewer(oldest, own) ? [] : upgrade.map((note) => warn(unreleased, note, advice));
    }
    if (!isNewer(one, oldest) || isNewer(one, own)) return [];
    if (upgrade.length === 0) return [ok(`release ${one}`, 'needs no steps')];
    return upgrade.map((note) =>
      warn(`release ${one}`, note, 'do this before or during the upgrade, as the note says'),
    );
  });
}

/** Compares the log's format with this version's. `found` is undefined if the log has no streams yet. */
export function judgeFormat(found: number | undefined, own = logFormat): Finding {
  const about = 'log format';
  if (found === undefined) return ok(about, `the log is empty; this version writes ${own}`);
  if (found === own) return ok(about, `${own}, as this version writes it: the way back stays open`);
  if (found > own) {
    return fail(about, `${found}; this version reads up to ${own} and does not start`, 'run the version that wrote it');
  }
  const advice = 'make a backup of the log first: older versions do not start on it afterwards';
  return warn(about, `${found}, and ${own} from the first start of this version on`, advice);
}

/** Compares the applied migrations with this build's. `applied` is undefined if the database has no tables. */
export function judgeMigrations(applied: readonly string[] | undefined, known: readonly string[]): Finding {
  const about = 'schema';
  const missing = known.filter((name) => applied?.includes(name) !== true);
  const unknown = (applied ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const advice = 'see the newer version’s notes for whether this one runs on it';
    return warn(about, `newer than this version: ${unknown.join(', ')}`, advice);
  }
  if (missing.length === 0) return ok(about, `all ${known.length} migrations are applied`);
  const detail = `will be applied, by the first control plane or npm run migrate: ${missing.join(', ')}`;
  return warn(about, detail, 'dump the database first: migrations cannot be undone');
}
