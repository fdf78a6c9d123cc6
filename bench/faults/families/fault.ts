import type { Verdict } from '../judge/judge.ts';
import type { FaultStack, StackShape } from '../stack/stack.ts';

/** What a fault is given once its stack is under load. */
export type FaultContext = {
  readonly stack: FaultStack;
  readonly say: (line: string) => void;
  /** What is acknowledged from now on must arrive; what was before may have been destroyed. */
  mayMissUntilNow(): void;
};

/** One thing that goes wrong: declared in a file of its family, with a line in the registry. */
export type Fault = {
  readonly name: string;
  readonly about: string;
  readonly shape: StackShape;
  /** What it takes beside an ordinary account; it is skipped, with a word, where that is missing. */
  readonly needs?: 'root';
  /** Gives the streams of the log's first node a file system of their own, of so many MiB. */
  readonly logDiskMib?: number;
  /** How long both destinations take to answer while there is load, in ms. */
  readonly answerAfterMs?: number;
  /** Does the harm and, where it does not heal by itself, undoes it: when it resolves the fault is over. */
  run(context: FaultContext): Promise<void>;
  /** What is wrong beyond loss, doubles and disorder; undefined: nothing. Asked when all that will come has come. */
  check?(context: FaultContext, verdict: Verdict): Promise<string | undefined>;
};

export type FaultDefinition = Omit<Fault, 'shape'> & Partial<StackShape>;

/** Declares a fault: on one node, one pipeline and one gateway unless it says otherwise. */
export function defineFault(definition: FaultDefinition): Fault {
  const { nodes = 1, pipelines = 1, gateways = 1, env = {}, hasMovableClocks = false, ...fault } = definition;
  return { ...fault, shape: { nodes, pipelines, gateways, env, hasMovableClocks } };
}

/** Why a fault cannot be run by this account on this machine; undefined: it can. */
export function obstacleTo({ needs }: Fault, uid = process.getuid?.()): string | undefined {
  return needs === 'root' && uid !== 0 ? 'it mounts a file system, which takes root' : undefined;
}
