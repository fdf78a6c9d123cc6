import { sleep } from '../../machine/wait-until.ts';
import type { Fault, FaultContext, Harmed } from '../families/fault.ts';
import type { Chaos, DrawnFault } from './draw-faults.ts';

/** Random overlapping faults as a single fault. Faults that affect the same part run one after the other. */
export function createChaos({ shape, drawn }: Chaos): Fault {
  return {
    name: 'chaos',
    about: `${drawn.length} faults drawn at random, on ${shape.nodes} node${shape.nodes === 1 ? '' : 's'} of the log`,
    sees: 'The signs of its faults, together.',
    does: 'The steps for each of its faults, one after the other; most faults need no step.',
    harms: [],
    shape,
    needs: {},
    run: (context) => runDrawn(context, drawn),
  };
}

async function runDrawn(context: FaultContext, drawn: readonly DrawnFault[]): Promise<void> {
  const beganMs = performance.now();
  const busy = new Set<Harmed>();
  const running = new Set<Promise<void>>();
  let undone = 0;
  for (const { fault, atMs, choice } of drawn) {
    await sleep(Math.max(0, beganMs + atMs - performance.now()));
    while (fault.harms.some((harmed) => busy.has(harmed))) await Promise.race(running);
    for (const harmed of fault.harms) busy.add(harmed);
    context.say(`${fault.name} begins`);
    const pick = <Kind>(parts: readonly Kind[]): Kind => pickOf(parts, choice);
    const done: Promise<void> = fault
      .run({ ...context, pick, say: (line) => context.say(`${fault.name}: ${line}`) })
      // While another fault lasts, this fault may find no part to affect, or may be unable to request a change.
      .catch((error: unknown) => {
        undone += 1;
        context.say(`${fault.name} could not be caused: ${(error as Error).message}`);
      })
      .then(() => {
        for (const harmed of fault.harms) busy.delete(harmed);
        running.delete(done);
        context.say(`${fault.name} is over`);
      });
    running.add(done);
  }
  await Promise.all(running);
  // Checked only after all faults have ended, so that nothing stays broken.
  if (undone > drawn.length / 2) throw new Error(`${undone} of ${drawn.length} drawn faults could not be caused`);
}

/** Selects an entry of a list; `choice` is in [0, 1). */
export function pickOf<Kind>(parts: readonly Kind[], choice: number): Kind {
  const part = parts[Math.floor(choice * parts.length)];
  if (part === undefined) throw new Error('the stack has no part that this fault can affect');
  return part;
}
