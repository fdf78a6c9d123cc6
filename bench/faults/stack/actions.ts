import { sleep } from '../../machine/wait-until.ts';
import type { Part } from './part.ts';

/** How long parts stand still, in ms. */
export const pauseMs = 20_000;

/** SIGKILL to all of them in one moment. */
export function kill(...parts: readonly Part[]): void {
  for (const part of parts) part.signal('SIGKILL');
}

/** Stops a process where it stands (SIGSTOP), and lets it go on after a while, as if nothing had been. */
export async function pause(part: Part, ms = pauseMs): Promise<void> {
  part.signal('SIGSTOP');
  await sleep(ms);
  part.signal('SIGCONT');
}

/** Waits until a part that was ended runs again. */
export async function startedAgain(part: Part, startsBefore: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (part.starts <= startsBefore || part.pid === 0) {
    if (performance.now() > deadline) throw new Error(`${part.name} was not started again within a minute`);
    await sleep(20);
  }
}

/** The part there is one of, or the first of several. */
export function only<Kind>(parts: readonly Kind[]): Kind {
  const [first] = parts;
  if (first === undefined) throw new Error('the stack of this fault has no such part');
  return first;
}
