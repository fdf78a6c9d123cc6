import { pino } from 'pino';
import { expect, test } from 'vitest';
import { MetricsPage } from '../runtime/metrics/metrics-page.ts';
import { testLiveConfig } from '../testing/test-account-config.ts';
import { createUnreadableEntities, showUnreadable } from './unreadable-entities.ts';

const source = { id: 's', type: 'WebSource', status: 'Enabled' };

function rig() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const unreadable = createUnreadableEntities(pino({ base: null, timestamp: false }, { write }));
  const page = new MetricsPage();
  showUnreadable(page, unreadable);
  const shown = async (effect: string): Promise<string | undefined> =>
    new RegExp(`^sluice_config_unreadable_entities\\{effect="${effect}"\\} (\\d+)$`, 'm').exec(await page.text())?.[1];
  return { lines, unreadable, shown };
}

test('unreadable entities: an entity counts once, whatever its fields and however often it is read, and is named in the log', async () => {
  const { lines, unreadable, shown } = rig();
  const config = testLiveConfig({
    sources: [
      { ...source, id: 'lost', status: 1, whitelistIps: 'secret' },
      { ...source, id: 'half', botScoreThreshold: 'high' },
      source,
    ],
  });
  for (const revision of [3, 3]) unreadable.note({ accountId: 'a', config, revision });
  unreadable.note({ accountId: 'b', config, revision: 4 });
  expect([await shown('shut'), await shown('defaulted')]).toEqual(['2', '2']);
  expect(lines[0]).toMatchObject({ level: 50, accountId: 'a', revision: 3, collection: 'sources', id: 'lost' });
  expect(lines.slice(0, 3).map(({ id, field, level }) => [id, field, level])).toEqual([
    ['lost', 'status', 50],
    ['lost', 'whitelistIps', 50],
    ['half', 'botScoreThreshold', 40],
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('unreadable entities: an entity that was corrected or removed is no longer counted', async () => {
  const { unreadable, shown } = rig();
  expect([await shown('shut'), await shown('defaulted')]).toEqual(['0', '0']);
  const config = testLiveConfig({ sources: [{ ...source, status: 1 }] });
  for (const accountId of ['a', 'b']) unreadable.note({ accountId, config, revision: 1 });
  expect(await shown('shut')).toBe('2');
  unreadable.note({ accountId: 'a', config: testLiveConfig({ sources: [source] }), revision: 2 });
  expect(await shown('shut')).toBe('1');
  unreadable.note({ accountId: 'b', config: undefined, revision: 3 });
  expect(await shown('shut')).toBe('0');
});
