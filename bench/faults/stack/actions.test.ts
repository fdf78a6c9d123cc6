import { expect, test } from 'vitest';
import { keepAway, kill, killTwice, pause, restartInTurn, takeDown } from './actions.ts';
import type { ServicePart } from './stack-parts.ts';

/** A part whose process ends a moment after a signal that ends it, and starts again a moment later unless it is held. */
function partOf(events: string[], { name = 'one', pid = 1 } = {}): ServicePart {
  let [current, isHeld, next] = [pid, false, pid + 1];
  const start = (): void => {
    if (isHeld || current !== 0) return;
    current = next;
    next += 1;
  };
  const signal = (which: NodeJS.Signals): void => {
    events.push(`${which} ${name} ${current}`);
    if (which === 'SIGSTOP' || which === 'SIGCONT') return;
    setTimeout(() => {
      current = 0;
      setTimeout(start, 15);
    }, 15);
  };
  if (pid === 0) setTimeout(start, 15);
  return {
    name,
    get pid() {
      return current;
    },
    signal,
    signalFamily: (which: NodeJS.Signals) => Promise.resolve(signal(which)),
    hold: () => void (isHeld = true),
    release() {
      isHeld = false;
      setTimeout(start, 15);
    },
    isReady: () => Promise.resolve(true),
  } as unknown as ServicePart;
}

test('kill: waits until every process runs, and returns once all have ended', async () => {
  const events: string[] = [];
  const parts = [partOf(events), partOf(events, { name: 'starting', pid: 0 })];
  await kill(...parts);
  expect(events).toEqual(['SIGKILL one 1', 'SIGKILL starting 1']);
  expect(parts.map(({ pid }) => pid)).not.toContain(1);
});

test('kill: a second kill right after the first one hits the next process, and so does a pause', async () => {
  const events: string[] = [];
  const part = partOf(events);
  await killTwice(part);
  await pause(part, 1);
  expect(events).toEqual(['SIGKILL one 1', 'SIGKILL one 2', 'SIGSTOP one 3', 'SIGCONT one 3']);
});

test('keep away: the process that is starting is killed, and is back at the end', async () => {
  const events: string[] = [];
  const part = partOf(events, { pid: 0 });
  await keepAway(part, 1);
  expect([...events, part.pid]).toEqual(['SIGKILL one 1', 2]);
});

test('take down: a process that has ended by itself is not waited for', async () => {
  const events: string[] = [];
  const [part, ended] = [partOf(events), partOf(events, { name: 'ended', pid: 0 })];
  await takeDown(part, ended);
  expect([...events, part.pid, ended.pid]).toEqual(['SIGKILL one 1', 0, 0]);
});

test('restart in turn: each process is asked to end after the previous one is back', async () => {
  const events: string[] = [];
  const parts = [partOf(events), partOf(events, { name: 'starting', pid: 0 })];
  await restartInTurn(parts);
  expect([...events, ...parts.map(({ pid }) => pid)]).toEqual(['SIGTERM one 1', 'SIGTERM starting 1', 2, 2]);
});
