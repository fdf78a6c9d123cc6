import { sleep, waitUntil } from '../../machine/wait-until.ts';
import type { Part } from './part.ts';
import type { ServicePart } from './stack-parts.ts';

const readyDeadlineMs = 60_000;

/** How long parts stay stopped, in ms. */
export const pauseMs = 20_000;

/** SIGKILL to all processes at the same moment. */
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

/** Runs a function while processes are stopped with no system call in flight; they stay stopped afterwards. */
export async function onceStill(parts: readonly Part[], work: () => Promise<void>): Promise<void> {
  await Promise.all(parts.map((part) => part.signalFamily('SIGSTOP')));
  // Gives pending system calls of the processes time to end.
  await sleep(settleMs);
  await work();
}

/** SIGKILL, and again as soon as it is back. */
export async function killTwice(...parts: readonly Part[]): Promise<void> {
  const starts = parts.map((part) => part.starts);
  kill(...parts);
  await Promise.all(parts.map((part, index) => startedAgain(part, starts[index] ?? 0)));
  kill(...parts);
}

/** SIGKILL, without a restart for a while. */
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

/** Kills a process with SIGKILL and waits for its exit; it starts again once released. */
export async function takeDown(...parts: readonly Part[]): Promise<void> {
  for (const part of parts) part.hold();
  kill(...parts);
  // The exit event has arrived once the process is gone.
  while (parts.some(({ pid }) => pid !== 0)) await sleep(10);
}

/** SIGTERM to services in sequence, each after the previous one is ready again. */
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

/** Waits until a killed part runs again. */
export async function startedAgain(part: Part, startsBefore: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (part.starts <= startsBefore || part.pid === 0) {
    if (performance.now() > deadline) throw new Error(`${part.name} was not started again within a minute`);
    await sleep(20);
  }
}
