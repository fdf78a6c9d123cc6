import { sleep, waitUntil } from '../../machine/wait-until.ts';
import type { Part } from './part.ts';
import type { ServicePart } from './stack-parts.ts';

const readyDeadlineMs = 60_000;

/** How long parts stay stopped, in ms. */
export const pauseMs = 20_000;

/** Sends SIGKILL to all processes of the parts at the same moment. */
export function kill(...parts: readonly Part[]): void {
  for (const part of parts) part.signal('SIGKILL');
}

/** Stops a process (SIGSTOP) and continues it after a while. */
export async function pause(part: Part, ms = pauseMs): Promise<void> {
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
  const starts = parts.map((part) => part.starts);
  kill(...parts);
  await Promise.all(parts.map((part, index) => startedAgain(part, starts[index] ?? 0)));
  kill(...parts);
}

/** Sends SIGKILL to a part and prevents its restart for `ms`. */
export async function keepAway(part: Part, ms: number): Promise<void> {
  const { starts } = part;
  part.hold();
  try {
    kill(part);
    await sleep(ms);
  } finally {
    part.release();
  }
  await startedAgain(part, starts);
}

/** Kills parts with SIGKILL and waits for their exit; they start again once released. */
export async function takeDown(...parts: readonly Part[]): Promise<void> {
  for (const part of parts) part.hold();
  kill(...parts);
  // `pid` is 0 once the exit event has arrived.
  while (parts.some(({ pid }) => pid !== 0)) await sleep(10);
}

/** Sends SIGTERM to services one after the other, each after the previous one is ready again. */
export async function restartInTurn(services: readonly ServicePart[]): Promise<void> {
  for (const service of services) {
    const { starts } = service;
    service.signal('SIGTERM');
    await startedAgain(service, starts);
    await waitUntil(`${service.name} to be ready again`, readyDeadlineMs, async () =>
      (await service.isReady()) ? undefined : 'it is not',
    );
  }
}

/** Waits until a killed part runs again; throws after a minute. */
export async function startedAgain(part: Part, startsBefore: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (part.starts <= startsBefore || part.pid === 0) {
    if (performance.now() > deadline) throw new Error(`${part.name} was not started again within a minute`);
    await sleep(20);
  }
}
