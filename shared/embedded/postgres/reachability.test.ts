import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { executeBit, findObstacle, grants, readBit } from './reachability.ts';

const stranger = { name: 'stranger', uid: 54_321, gid: 54_321 };

test.each([
  [{ uid: 1, gid: 1, mode: 0o40700 }, true],
  [{ uid: 1, gid: 1, mode: 0o40077 }, false],
  [{ uid: 2, gid: 1, mode: 0o40710 }, true],
  [{ uid: 2, gid: 1, mode: 0o40707 }, false],
  [{ uid: 2, gid: 2, mode: 0o40711 }, true],
  [{ uid: 2, gid: 2, mode: 0o40770 }, false],
])('reachability: permissions come from the first class that matches: %o gives %s', (file, answer) => {
  expect(grants(file, { uid: 1, gid: 1 }, executeBit)).toBe(answer);
});

test('reachability: the obstacle is the first closed folder on the path', async () => {
  const top = await mkdtemp(join(tmpdir(), 'sluice-reach-'));
  try {
    await mkdir(join(top, 'closed', 'open'), { recursive: true });
    await chmod(join(top, 'closed'), 0o700);
    await chmod(top, 0o711);
    expect(await findObstacle(join(top, 'closed', 'open'), stranger, readBit)).toBe(join(top, 'closed'));
    await chmod(join(top, 'closed'), 0o711);
    await chmod(join(top, 'closed', 'open'), 0o755);
    expect(await findObstacle(join(top, 'closed', 'open'), stranger, readBit)).toBeUndefined();
    expect(await findObstacle(join(top, 'closed'), stranger, readBit)).toBe(join(top, 'closed'));
    expect(await findObstacle(join(top, 'not', 'there', 'yet'), stranger, readBit)).toBeUndefined();
  } finally {
    await rm(top, { recursive: true, force: true });
  }
});
