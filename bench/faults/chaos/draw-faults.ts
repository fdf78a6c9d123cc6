import type { Fault } from '../families/fault.ts';
import type { StackShape } from '../stack/stack.ts';

export type DrawnFault = {
  readonly fault: Fault;
  /** Start in ms after the first fault; later if this fault has to wait for another one. */
  readonly atMs: number;
  /** In [0, 1): selects the part that the fault affects. */
  readonly choice: number;
};

/** A stack and the faults drawn for it. The same seed draws the same faults. */
export type Chaos = { readonly shape: StackShape; readonly drawn: readonly DrawnFault[] };

/** Time between the starts of two faults, in ms; most faults last longer, so they overlap. */
const gapMs = { least: 500, most: 8_000 };
const clusterShare = 0.5;

/** Draws faults for a duration. `random` returns numbers in [0, 1). */
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

/** Every kind of part that a fault can affect without a separate disk or a standby. */
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

/** Whether a fault can overlap with others: it needs no disk, standby, setting or checkout, and destroys no data. */
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
