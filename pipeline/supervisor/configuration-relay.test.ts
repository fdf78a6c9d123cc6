import { expect, test } from 'vitest';
import type { Command } from '../threads/messages.ts';
import { ConfigurationRelay } from './configuration-relay.ts';

const document = Buffer.from('{}');

/** Two running threads and one that is starting, with the revisions sent to each. */
function rig() {
  const sent: [thread: number, revision: number][] = [];
  const slots = [0, 1, 2].map((thread) => ({
    thread,
    tell(command: Command): boolean {
      if (thread === 2 || command.kind !== 'configure') return false;
      sent.push([thread, command.revision]);
      return true;
    },
  }));
  const relay = new ConfigurationRelay(slots);
  const send = (accountId: string, revision: number): { isApplied: boolean } => {
    const state = { isApplied: false };
    void relay.send(accountId, revision, document).then(() => (state.isApplied = true));
    return state;
  };
  return { relay, slots, sent, send };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('configuration relay: a configuration is applied once every thread that received it has confirmed it', async () => {
  const { relay, sent, send } = rig();
  const own = send('a', 7);
  expect(sent).toEqual([
    [0, 7],
    [1, 7],
  ]);
  relay.confirmed(0, 'a', 7);
  relay.confirmed(0, 'a', 7);
  relay.confirmed(1, 'a', 6);
  relay.confirmed(1, 'b', 7);
  relay.confirmed(2, 'a', 7);
  await settled();
  expect(own.isApplied).toBe(false);
  relay.confirmed(1, 'a', 7);
  await settled();
  expect(own.isApplied).toBe(true);
});

test('configuration relay: a dead thread is no longer waited for, and a new thread is sent the newest configurations', async () => {
  const { relay, slots, sent, send } = rig();
  const [first, other] = [send('a', 7), send('b', 3)];
  relay.threadDied(1);
  await settled();
  expect([first.isApplied, other.isApplied]).toEqual([false, false]);
  relay.confirmed(0, 'a', 7);
  await settled();
  expect([first.isApplied, other.isApplied]).toEqual([true, false]);
  send('a', 8);
  sent.length = 0;
  relay.sendAll(slots[1] ?? expect.unreachable());
  expect(sent).toEqual([
    [1, 8],
    [1, 3],
  ]);
});

test('configuration relay: if no thread runs, a configuration counts as applied at once', async () => {
  const relay = new ConfigurationRelay([{ thread: 0, tell: () => false }]);
  await expect(relay.send('a', 1, document)).resolves.toBeUndefined();
});
