import { expect, test } from 'vitest';
import { AccountPace } from '../worker/account-pace.ts';
import { Turns } from '../worker/turns.ts';
import { PacedTurns } from './paced-turns.ts';

const turnUnits = 128 * 1_024;

function turnsAt(): { turns: PacedTurns; readonly pauses: number[] } {
  const pauses: number[] = [];
  let nowMs = 0;
  const pace = new AccountPace({ unitsPerMs: 1_024, unitsAtOnce: turnUnits }, () => nowMs);
  const turns = new PacedTurns(new Turns(() => undefined), pace, (ms) => {
    pauses.push(ms);
    nowMs += ms;
    return Promise.resolve();
  });
  return { turns, pauses };
}

test('paced turns: an account that is alone has no pause', async () => {
  const { turns, pauses } = turnsAt();
  for (let turn = 0; turn < 5; turn += 1) await turns.spend('flood', turnUnits);
  expect(pauses).toEqual([]);
});

test('paced turns: beside another one an account pauses behind each turn that is ahead of its pace', async () => {
  const { turns, pauses } = turnsAt();
  expect(turns.spend('quiet', 1)).toBeUndefined();
  for (let turn = 0; turn < 3; turn += 1) await turns.spend('flood', turnUnits);
  expect(pauses).toEqual([128, 128]);
});
