import type { Fault } from '../families/fault.ts';
import type { StackShape } from '../stack/stack.ts';

/** One of the faults that were drawn. */
export type DrawnFault = {
  readonly fault: Fault;
  /** When it begins, in ms from the first; later where it has to wait for another one. */
  readonly atMs: number;
  /** In [0, 1): which of several parts it harms. */
  readonly choice: number;
};

/** A stack and what is done to it; the same for the same seed. */
export type Chaos = { readonly shape: StackShape; readonly drawn: readonly DrawnFault[] };

/** Between the beginnings of two faults, in ms: most last longer than that, and overlap. */
const gapMs = { least: 500, most: 8_000 };
const clusterShare = 0.5;

/** Draws faults for so long. `random` gives numbers in [0, 1). */
export function drawFaults(faults: readonly Fault[], durationMs: number, random: () => number): Chaos {
  const shape = { ...chaosShape, nodes: random() < clusterShare ? 1 : 3 };
  const fitting = faults.filter((fault) => fits(fault, shape));
  const drawn: DrawnFault[] = [];
  for (let atMs = 0; atMs < durationMs && fitting.length > 0;) {
    const fault = fitting[Math.floor(random() * fitting.length)];
    if (fault !== undefined) drawn.push({ fault, atMs, choice: random() });
    atMs += gapMs.least + random() * (gapMs.most - gapMs.least);
  }
  return { shape, drawn };
}

/** Everything that can be harmed without a disk of its own. */
const chaosShape: StackShape = {
  nodes: 1,
  pipelines: 2,
  gateways: 2,
  env: {},
  hasMovableClocks: true,
  hasNetwork: true,
  hasStandby: false,
  hasNames: true,
  hasCertificates: true,
};

/** Whether it can be done to a stack beside others: it wants nothing that others do not, and destroys nothing. */
export function fits(fault: Fault, { nodes }: Pick<StackShape, 'nodes'>): boolean {
  return (
    fault.harms.length > 0 &&
    fault.destroys === undefined &&
    fault.isAlone === undefined &&
    fault.disk === undefined &&
    !fault.shape.hasStandby &&
    fault.needs.previous === undefined &&
    fault.answerAfterMs === undefined &&
    Object.keys(fault.shape.env).length === 0 &&
    (fault.shape.nodes === 1 || fault.shape.nodes === nodes)
  );
}
