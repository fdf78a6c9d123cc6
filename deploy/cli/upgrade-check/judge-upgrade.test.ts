import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { version } from '../../../shared/runtime/version.ts';
import { examineReleases } from './examine-upgrade.ts';
import { judgeFormat, judgeMigrations, judgeReleases, judgeRunning, oldestOf } from './judge-upgrade.ts';
import { readChangelog } from './read-changelog.ts';

const changelog = `# Changelog

## Unreleased

### Upgrade

- not yet

## 0.3.0 – 2027-02-01

### Added

- something

### Upgrade

- Set \`A\` first,
  and then \`B\`.
- Restart twice.

## [0.2.0] - 2027-01-01

- all the rest
`;
const pipeline = (found?: string) => ({
  kind: 'pipeline' as const,
  instanceId: 'one',
  ...(found === undefined ? {} : { version: found }),
});

test('changelog: releases are read with the steps that an upgrade to each of them needs', () => {
  expect(readChangelog(changelog)).toEqual([
    { version: 'unreleased', upgrade: ['not yet'] },
    { version: '0.3.0', upgrade: ['Set `A` first, and then `B`.', 'Restart twice.'] },
    { version: '0.2.0', upgrade: [] },
  ]);
});

test('changelog: CHANGELOG.md has an entry for this version', async () => {
  const releases = readChangelog(await readFile(new URL('CHANGELOG.md', topFolder), 'utf8'));
  expect(releases.map((release) => release.version)).toContain(version);
});

test('changelog: upgrade entries in CHANGELOG.md begin with their step, in the order in which an upgrade is done', async () => {
  const text = await readFile(new URL('CHANGELOG.md', topFolder), 'utf8');
  const [next] = readChangelog(text);
  const steps = ['Before', 'nats-server', 'Migrate', 'Control planes', 'Pipelines', 'Gateways'];
  const inAnyOrder = ['All', 'Compose', 'Units', 'Local stack', 'Scripts', 'Monitoring'];
  const places = (next?.upgrade ?? []).map((entry) => {
    const step = entry.slice(0, entry.indexOf(':'));
    const place = [...steps, 'in any order', 'Roll back'].indexOf(inAnyOrder.includes(step) ? 'in any order' : step);
    expect({ entry, hasStep: place >= 0 }).toEqual({ entry, hasStep: true });
    return place;
  });
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test('upgrade: running processes are listed by kind and version, and the oldest decides which releases apply', () => {
  expect(judgeRunning([], '0.3.0').detail).toContain('no gateway and no pipeline runs');
  const mixed = [pipeline('0.2.0'), pipeline('0.2.0'), pipeline()];
  expect(judgeRunning(mixed, '0.3.0')).toMatchObject({
    level: 'ok',
    detail: 'this is 0.3.0; running: pipeline 0.2.0 (2), pipeline before 0.1.0',
  });
  expect(judgeRunning([pipeline('0.4.0')], '0.3.0')).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining('newer ones run'),
  });
  expect(oldestOf(mixed)).toBe('0.0.0');
  expect(oldestOf([pipeline('0.10.0'), pipeline('0.9.0')])).toBe('0.9.0');
});

test('upgrade: the upgrade entries of each release in between are listed', () => {
  const releases = readChangelog(changelog.replace('- not yet', ''));
  const told = (oldest: string | undefined, own: string) =>
    judgeReleases(releases, oldest, own).map(({ about, detail }) => `${about}: ${detail}`);
  expect(told('0.2.0', '0.3.0')).toEqual([
    'release 0.3.0: Set `A` first, and then `B`.',
    'release 0.3.0: Restart twice.',
  ]);
  expect(told('0.1.0', '0.2.0')).toEqual(['release 0.2.0: needs no steps']);
  expect(told('0.3.0', '0.3.0')).toEqual([]);
  expect(told(undefined, '0.3.0')).toEqual([]);
});

test('upgrade: a missing changelog is named, and no other check is lost with it', async () => {
  const missing = new URL('gone/CHANGELOG.md', topFolder);
  expect(await examineReleases('0.1.0', missing)).toMatchObject([
    { level: 'warn', about: 'releases', detail: `${fileURLToPath(missing)} does not exist` },
  ]);
  expect(await examineReleases(version)).not.toMatchObject([{ about: 'releases' }]);
});

test('upgrade: the entries of the unreleased section are listed for every version that this one replaces', () => {
  const releases = readChangelog(changelog.replace('- not yet', '- Set `C`.'));
  const unreleased = (oldest: string | undefined, of = releases) =>
    judgeReleases(of, oldest, '0.3.0').filter(({ about }) => about === 'unreleased');
  for (const oldest of ['0.1.0', '0.3.0']) {
    expect(unreleased(oldest)).toMatchObject([{ level: 'warn', detail: 'Set `C`.' }]);
  }
  expect(unreleased('0.4.0')).toEqual([]);
  expect(unreleased(undefined)).toEqual([]);
  // A release has nothing unreleased.
  expect(unreleased('0.3.0', readChangelog(changelog.replace('- not yet', '')))).toEqual([]);
});

test('upgrade: a log with a newer format is refused; with an older format the way back is closed', () => {
  expect(judgeFormat(undefined, 2).level).toBe('ok');
  expect(judgeFormat(2, 2)).toMatchObject({ level: 'ok', detail: expect.stringMatching(/way back stays open/) });
  expect(judgeFormat(1, 2)).toMatchObject({ level: 'warn', advice: expect.stringMatching(/backup/) });
  expect(judgeFormat(3, 2)).toMatchObject({ level: 'fail', detail: expect.stringMatching(/does not start/) });
});

test('upgrade: migrations that will be applied are named, and so are those of a newer version', () => {
  expect(judgeMigrations(['a', 'b'], ['a', 'b']).level).toBe('ok');
  expect(judgeMigrations(['a'], ['a', 'b'])).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(/will be applied.*: b$/),
  });
  expect(judgeMigrations(undefined, ['a'])).toMatchObject({ level: 'warn', detail: expect.stringMatching(/: a$/) });
  expect(judgeMigrations(['a', 'z'], ['a'])).toMatchObject({ level: 'warn', detail: 'newer than this version: z' });
});
