import { attacks, controls } from './attacks/registry.ts';
import type { Facts, Tally, Target } from './attacks/attack.ts';

export type AttackerOrder = { readonly attack: string; readonly target: Target; readonly facts: Facts };
export type AttackerMessage = { readonly kind: 'begun' } | { readonly kind: 'ended'; readonly tally: Tally };

const tell = (message: AttackerMessage): void => void process.send?.(message);

// The channel keeps the process running until the attacker is stopped, even if the attack does nothing. If the process
// ended by itself, its last message would be lost.
process.channel?.ref();
process.once('message', (order: AttackerOrder) => {
  const attack = [...controls, ...attacks].find(({ name }) => name === order.attack);
  if (attack === undefined) throw new Error(`there is no attack '${order.attack}'`);
  const tally: Tally = { acceptedBytes: 0, answers: {} };
  const ending = new AbortController();
  process.once('message', () => ending.abort());
  tell({ kind: 'begun' });
  void attack.run({ ...order, tally, signal: ending.signal }).then(() => tell({ kind: 'ended', tally }));
});
