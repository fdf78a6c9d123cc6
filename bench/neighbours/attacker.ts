import { availableParallelism } from 'node:os';
import { putLast } from '../machine/lowest-priority.ts';
import type { Stage } from '../system/stage.ts';
import type { Attack, Tally } from './attacks/attack.ts';
import type { AttackerMessage, AttackerOrder } from './attacker-main.ts';

export type Attacker = {
  /** Ends the attack and returns what the attacker counted. */
  stop(): Promise<Tally>;
};

const endDeadlineMs = 60_000;

/**
 * Attacks from a separate process at the lowest priority. A real attacker has its own machines, so only the cost that
 * the attack causes in the services is measured.
 */
export async function startAttacker(stage: Stage, attack: Attack, order: AttackerOrder): Promise<Attacker> {
  const child = await stage.startChild({ name: 'attacker', entry: 'bench/neighbours/attacker-main' });
  await putLast(child.pid);
  const computing = await Promise.all(
    Array.from({ length: attack.fillsProcessors === true ? availableParallelism() : 0 }, (_, core) =>
      stage.startChild({ name: `computing-${core}`, entry: 'bench/neighbours/computing-main' }),
    ),
  );
  const begun = child.nextMessage();
  child.send(order);
  await begun;
  return {
    async stop() {
      const ended = child.nextMessage() as Promise<AttackerMessage>;
      child.send('stop');
      const tooLate = new Promise<never>((_resolve, reject) => {
        setTimeout(() => reject(new Error(`the attack ${order.attack} did not end`)), endDeadlineMs).unref();
      });
      await Promise.all(computing.map((program) => program.stop()));
      const message = await Promise.race([ended, tooLate]);
      await child.stop();
      if (message.kind !== 'ended')
        throw new Error(`the attack ${order.attack} sent ${message.kind} instead of its tally`);
      return message.tally;
    },
  };
}
