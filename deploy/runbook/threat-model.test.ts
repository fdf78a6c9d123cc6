import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { topFolder } from '../../shared/runtime/compiled-path.ts';

test('threat model: each row says who can do what, and names a test that runs', async () => {
  const page = await readFile(new URL('deploy/runbook/threat-model.md', topFolder), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
    .slice(1);
  expect(rows.length).toBeGreaterThan(14);
  for (const row of rows) {
    const [who = '', can = '', cannot = '', tests = ''] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const paths = [...tests.matchAll(/\]\(([^)]+\.test\.ts)\)/g)].map(([, path = '']) => path);
    expect({ who, isComplete: can !== '' && cannot !== '', hasTests: paths.length > 0 }).toEqual({
      who,
      isComplete: true,
      hasTests: true,
    });
    for (const path of paths) {
      const text = await readFile(new URL(path, new URL('deploy/runbook/', topFolder)), 'utf8');
      expect({ path, holdsTests: /^test(?:\.each)?\(/m.test(text) || /^\s+test(?:\.each)?\(/m.test(text) }).toEqual({
        path,
        holdsTests: true,
      });
    }
  }
});
