import { expect, test } from 'vitest';
import { VisitorCache } from './visitor-cache.ts';
import { VisitorProperties } from './visitor-properties.ts';
import type { StoredVisitor } from './visitor-rows.ts';

const account = '0d7c3c34-8a3f-4a58-9d55-6a8f6f0f6f10';

const row = (id: string, version = 1, accountId = account): StoredVisitor => ({
  accountId,
  id,
  version,
  properties: new VisitorProperties({ version }),
  createdAtUs: 0,
  updatedAtUs: version,
  mergedInto: undefined,
  signedInAs: undefined,
  setByServer: 0,
  apart: [],
  externalIds: 0,
  emails: 0,
  aliases: 0,
});

const written = (visitor: StoredVisitor) => ({ visitors: [visitor], newIdentities: [], released: [] });

function rig(bytesMax = 1_000_000) {
  const cache = new VisitorCache(bytesMax);
  cache.beginFollowing();
  const isCurrent = (id: string, accountId = account): boolean | undefined => {
    const found = cache.visitor(accountId, id);
    return found && cache.isCurrent(found);
  };
  const read = (taken: StoredVisitor, meanwhile = (): void => undefined): void => {
    const reading = cache.beginReading();
    meanwhile();
    cache.take(taken, reading);
    cache.endReading(reading);
  };
  return { cache, isCurrent, read };
}

test('visitor cache: what was read is current until a newer version is reported', () => {
  const { cache, isCurrent, read } = rig();
  read(row('a'));
  read(row('b', 7));
  expect([isCurrent('a'), isCurrent('b'), isCurrent('c')]).toEqual([true, true, undefined]);
  cache.noteChange(account, 'a', 2);
  cache.noteChange(account, 'b', 7);
  expect([isCurrent('a'), isCurrent('b')]).toEqual([false, true]);
  const reading = cache.beginReading();
  cache.confirm(cache.visitor(account, 'a')?.row ?? row('a'), reading);
  expect(isCurrent('a')).toBe(true);
});

test('visitor cache: the same id in two accounts is two visitors, and a change of one leaves the other current', () => {
  const { cache, isCurrent, read } = rig();
  const other = '1d7c3c34-8a3f-4a58-9d55-6a8f6f0f6f10';
  read(row('a', 1, other));
  cache.takeIdentity('email', 'e', row('a', 1, other));
  expect([cache.visitor(account, 'a'), cache.identity(account, 'email', 'e')]).toEqual([undefined, undefined]);
  read(row('a', 5));
  cache.noteChange(account, 'a', 6);
  expect([isCurrent('a'), isCurrent('a', other)]).toEqual([false, true]);
  expect([cache.visitor(account, 'a')?.row.version, cache.visitor(other, 'a')?.row.version]).toEqual([5, 1]);
  expect(cache.identity(other, 'email', 'e')?.row.accountId).toBe(other);
});

test('visitor cache: a row is not current if a newer version is reported while it is read', () => {
  const { cache, isCurrent, read } = rig();
  read(row('a', 1), () => cache.noteChange(account, 'a', 2));
  read(row('b', 2), () => cache.noteChange(account, 'b', 2));
  expect([isCurrent('a'), isCurrent('b')]).toEqual([false, true]);
});

test('visitor cache: after changes were missed, no row is current until it is read again', () => {
  const { cache, isCurrent, read } = rig();
  read(row('a'));
  cache.stopFollowing();
  expect(isCurrent('a')).toBe(false);
  read(row('b'));
  read(row('c'), () => cache.beginFollowing());
  expect([isCurrent('a'), isCurrent('b'), isCurrent('c')]).toEqual([false, false, false]);
  read(row('a'));
  expect(isCurrent('a')).toBe(true);
});

test('visitor cache: a row whose account id is spelled otherwise than in reported changes is never current', () => {
  const { isCurrent, read } = rig();
  read(row('a', 1, account.toUpperCase()));
  expect(isCurrent('a', account.toUpperCase())).toBe(false);
});

test('visitor cache: an older row does not take the place of a newer one that is current', () => {
  const { cache, read } = rig();
  read(row('a', 3));
  read(row('a', 2));
  expect(cache.visitor(account, 'a')?.row.version).toBe(3);
  cache.noteChange(account, 'a', 4);
  // This version is older than the reported change, as after a restore of the database.
  read(row('a', 2));
  expect(cache.visitor(account, 'a')?.row.version).toBe(2);
});

test('visitor cache: a visitor that returns after its erasure has nothing of the erased one, whichever version is higher', () => {
  const { cache, read } = rig();
  const returned = (version: number): StoredVisitor => ({ ...row('a', version), createdAtUs: 7 });
  const [known, leads] = [() => cache.visitor(account, 'a')?.row, () => cache.identity(account, 'email', 'e')];
  for (const [erased, next, take] of [
    [row('a', 3), returned(1), read],
    [row('a', 1), returned(1), read],
    [row('a', 1), returned(2), (to: StoredVisitor) => cache.takeWritten(written(to), cache.beginReading())],
  ] as const) {
    cache.forgetAll();
    read(erased);
    cache.takeIdentity('email', 'e', erased);
    cache.takeIdentity('external_id', 'x', { ...erased, createdAtUs: 8 });
    expect([leads()?.row, cache.identity(account, 'external_id', 'x')]).toEqual([erased, undefined]);
    take(next);
    expect([known(), leads()]).toEqual([next, undefined]);
  }
});

test('visitor cache: an identity leads to its visitor while the visitor is unchanged, or changed by this process alone', () => {
  const { cache, read } = rig();
  const leads = (): string | undefined => cache.identity(account, 'email', 'a@b.c')?.row.id;
  const tie = (to: StoredVisitor): void => {
    read(to);
    cache.takeIdentity('email', 'a@b.c', to);
  };
  const written = (of: StoredVisitor, isReleased = false): void => {
    const released = isReleased ? [{ accountId: account, id: of.id }] : [];
    const reading = cache.beginReading();
    cache.takeWritten({ visitors: [of], newIdentities: [], released }, reading);
    cache.endReading(reading);
  };
  tie(row('a', 1));
  read(row('a', 1));
  written(row('a', 2));
  expect(leads()).toBe('a');
  written(row('a', 3), true);
  expect(leads()).toBeUndefined();
  tie(row('a', 3));
  read(row('a', 5));
  expect(leads()).toBeUndefined();
  // The identity was read with a version that is no longer the newest.
  cache.takeIdentity('email', 'a@b.c', row('a', 4));
  expect(leads()).toBeUndefined();
  tie(row('a', 5));
  // A merge does not move identities: they still lead to the merged row.
  written({ ...row('a', 6), mergedInto: 'b' });
  expect(leads()).toBe('a');
  cache.takeWritten(
    { visitors: [], newIdentities: [], released: [{ accountId: account, id: 'a' }] },
    cache.beginReading(),
  );
  expect(leads()).toBeUndefined();
});

test('visitor cache: stays within its limit of bytes, and keeps entries that are requested', () => {
  const { cache, read } = rig(20_000);
  read(row('hot'));
  cache.takeIdentity('external_id', 'x', cache.visitor(account, 'hot')?.row ?? row('hot'));
  for (let n = 0; n < 1_000; n += 1) {
    read(row(`cold-${n}`));
    expect(cache.identity(account, 'external_id', 'x')?.row.id).toBe('hot');
    expect(cache.figures.bytes).toBeLessThanOrEqual(20_000);
  }
  expect(cache.figures.visitors).toBeGreaterThan(20);
  read({ ...row('huge'), properties: new VisitorProperties({ text: 'x'.repeat(20_000) }) });
  expect(cache.figures.bytes).toBeLessThanOrEqual(20_000);
});
