import { threadId } from 'node:worker_threads';
import { createBlackBox } from '../../threads/black-box.ts';
import { ownTaskId } from '../../../shared/runtime/cpu-use.ts';
import type { HostTask } from '../../threads/host.ts';
import type { Command, Report } from '../../threads/messages.ts';

/** Resolvers of these partitions crash their thread when they start. */
export const fatalPartitions = { exits: 90, outOfMemory: 91, throws: 92 } as const;

/** A host whose actors do nothing, or crash the thread as faulty code would. */
export function runHost({ port, blackBox }: HostTask): Promise<void> {
  const turns = createBlackBox(blackBox);
  const say = (report: Report): void => port.postMessage(report);
  return new Promise((resolve) => {
    port.on('message', (command: Command) => {
      if (command.kind === 'shutdown') {
        port.close();
        resolve();
      } else if (command.kind === 'start' && command.spec.kind === 'resolver') {
        turns.turn(command.mark);
        die(command.spec.partition);
        turns.turn(0);
        say({ kind: 'started', actorId: command.actorId });
      }
    });
    say({ kind: 'ready', threadId, taskId: ownTaskId() });
  });
}

function die(partition: number): void {
  switch (partition) {
    case fatalPartitions.exits:
      // oxlint-disable-next-line unicorn/no-process-exit -- the crash that is simulated
      process.exit(3);
      return;
    case fatalPartitions.outOfMemory: {
      const kept: number[][] = [];
      for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i + Math.random()));
    }
    case fatalPartitions.throws:
      throw new Error('an uncaught error');
    default:
  }
}
