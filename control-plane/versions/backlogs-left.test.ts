import { expect, test } from 'vitest';
import { emptySnapshot } from '../draft/snapshot.ts';
import { findBacklogsLeft, leavingDestinations, refusalFor, refuseUnchecked } from './backlogs-left.ts';

const destination = (id: string, status = 'Enabled') => ({
  id,
  status,
  name: `Name of ${id}`,
  type: 'HTTPDestination',
});
const snapshot = (...destinations: ReturnType<typeof destination>[]) => ({ ...emptySnapshot, destinations });

test('backlogs left: a destination counts if it was enabled and the new version removes or disables it', () => {
  const live = snapshot(
    destination('kept'),
    destination('gone'),
    destination('off'),
    destination('was off', 'Disabled'),
  );
  const next = snapshot(destination('kept'), destination('off', 'Disabled'), destination('new'));
  expect(leavingDestinations(live, next)).toEqual([
    { destinationId: 'gone', name: 'Name of gone', change: 'removed' },
    { destinationId: 'off', name: 'Name of off', change: 'disabled' },
  ]);
});

test('backlogs left: waiting events prevent a publish and are named; dead letters, which stay, do not prevent it', async () => {
  const backlogs: Record<string, object> = {
    busy: { waitingFrames: 3, retryingFrames: 1, deadLetters: 0 },
    'under way': { waitingFrames: 1, retryingFrames: 0, deadLetters: 0 },
    idle: { waitingFrames: 0, retryingFrames: 0, deadLetters: 9 },
  };
  const logFigures = {
    read: async () => ({ partitions: [], backlogOf: (id: string) => backlogs[id] as never }),
    unsentSince: async () => 0,
  };
  const services = { logFigures, backlogAgeMs: 1_000, now: () => new Date(999) };
  const live = snapshot(destination('busy'), destination('idle'), destination('under way'));
  const left = await findBacklogsLeft(services, live, snapshot());
  expect(left.map(({ destinationId, unsentSince }) => [destinationId, unsentSince])).toEqual([
    ['busy', '1970-01-01T00:00:00.000Z'],
    ['idle', null],
    ['under way', '1970-01-01T00:00:00.000Z'],
  ]);
  const later = await findBacklogsLeft({ ...services, now: () => new Date(1_000) }, live, snapshot());
  expect(later.map(({ needsForce }) => needsForce)).toEqual([true, false, true]);
  const refusal = refusalFor(left);
  expect(refusal).toMatchObject({ status: 409, message: expect.stringContaining('force') });
  expect(refusal?.details).toContain('3 messages wait');
  expect(refusal?.details).not.toContain('idle');
  expect(refusalFor(left.slice(1))).toBeUndefined();
});

test('backlogs left: the log is read only if a destination is removed or disabled; if the log cannot be read, that is a 503', async () => {
  const away = {
    read: () => Promise.reject(new Error('TIMEOUT')),
    unsentSince: () => Promise.reject(new Error('TIMEOUT')),
  };
  const live = snapshot(destination('one'));
  const services = { logFigures: away, backlogAgeMs: 0, now: () => new Date() };
  expect(await findBacklogsLeft(services, live, live)).toEqual([]);
  await expect(findBacklogsLeft(services, live, snapshot())).rejects.toMatchObject({ status: 503 });
});

test('backlogs left: a destination that only leaves since the check prevents the publish', () => {
  const live = snapshot(destination('checked'), destination('kept'), destination('late'));
  const checked = leavingDestinations(live, snapshot(destination('kept'), destination('late')));
  const leaving = leavingDestinations(live, snapshot(destination('kept'), destination('late', 'Disabled')));
  expect(() => refuseUnchecked(checked, checked)).not.toThrow();
  expect(() => refuseUnchecked([], checked)).not.toThrow();
  expect(() => refuseUnchecked(leaving, checked)).toThrow(
    expect.objectContaining({
      status: 409,
      message: expect.stringContaining('try again'),
      details: 'Name of late (late)',
    }),
  );
});
