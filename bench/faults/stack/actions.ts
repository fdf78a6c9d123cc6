import { sleep, waitUntil } from '../../machine/wait-until.ts';
import type { Part } from './part.ts';
import type { ServicePart } from './stack-parts.ts';

const deadlineMs = 60_000;

/** How long parts stay stopped, in ms. */
export const pauseMs = 20_000;

/** Waits until all parts have a process at the same moment; throws after a minute. */
export async function untilRunning(...parts: readonly Part[]): Promise<void> {
  await waitUntil('every process to run', deadlineMs, () => Promise.resolve(parts.find(({ pid }) => pid === 0)?.name));
}

/** Sends a signal to all processes of the parts at the same moment, and waits for their exit. */
async function end(parts: readonly Part[], signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const pids = parts.map(({ pid }) => pid);
  for (const part of parts) part.signal(signal);
  await waitUntil(`the exit after ${signal}`, deadlineMs, () =>
    Promise.resolve(parts.find(({ pid }, index) => pid === pids[index])?.name),
  );
}

/** Sends SIGKILL to all processes of the parts at the same moment, once all of them run, and waits for their exit. */
export async function kill(...parts: readonly Part[]): Promise<void> {
  await untilRunning(...parts);
  await end(parts, 'SIGKILL');
}

/** Stops a process (SIGSTOP) and continues it after a while. */
export async function pause(part: Part, ms = pauseMs): Promise<void> {
  await untilRunning(part);
  await part.signalFamily('SIGSTOP');
  try {
    await sleep(ms);
  } finally {
    await part.signalFamily('SIGCONT');
  }
}

const settleMs = 200;

/** Runs `work` while processes are stopped without a system call in flight; they stay stopped afterwards. */
export async function onceStill(parts: readonly Part[], work: () => Promise<void>): Promise<void> {
  await Promise.all(parts.map((part) => part.signalFamily('SIGSTOP')));
  // Gives the system calls in flight time to end.
  await sleep(settleMs);
  await work();
}

/** Sends SIGKILL to the parts, and again as soon as every part runs again. */
export async function killTwice(...parts: readonly Part[]): Promise<void> {
  await kill(...parts);
  await kill(...parts);
}

/** Sends SIGKILL to a part and prevents its restart for `ms`. */
export async function keepAway(part: Part, ms: number): Promise<void> {
  await untilRunning(part);
  part.hold();
  try {
    await end([part], 'SIGKILL');
    await sleep(ms);
  } finally {
    part.release();
  }
  await untilRunning(part);
}

/** Kills each part that runs with SIGKILL, and waits for its exit. The parts start again once they are released. */
export async function takeDown(...parts: readonly Part[]): Promise<void> {
  for (const part of parts) part.hold();
  await end(
    parts.filter(({ pid }) => pid !== 0),
    'SIGKILL',
  );
}

/** Sends SIGTERM to services one after the other, each after the previous one is ready again. */
export async function restartInTurn(services: readonly ServicePart[]): Promise<void> {
  for (const service of services) {
    await untilRunning(service);
    await end([service], 'SIGTERM');
    await untilRunning(service);
    await waitUntil(`${service.name} to be ready again`, deadlineMs, async () =>
      (await service.isReady()) ? undefined : 'it is not',
    );
  }
}
