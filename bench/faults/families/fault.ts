import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { programFolders } from '../../../shared/embedded/machine/env.ts';
import type { BlockDisk } from '../stack/block-disk.ts';
import type { LogDisk } from '../stack/log-disk.ts';
import type { FaultStack, StackShape } from '../stack/stack.ts';
import type { Verdict } from '../judge/judge.ts';

/** Context of a fault once its stack is under load. */
export type FaultContext = {
  readonly stack: FaultStack;
  readonly say: (line: string) => void;
  /** The part to affect: the first one, or a random one if the fault is drawn by chaos. */
  pick<Kind>(parts: readonly Kind[]): Kind;
  /** Events acknowledged from now on must arrive; earlier ones may have been destroyed. */
  mayMissUntilNow(): void;
  /** The disk that the fault requires. */
  readonly disk: FaultDisks;
  /** Folder of the other checkout, for a fault that needs one. */
  readonly previous: string;
};

/** A separate disk for the streams of the log's first node; methods of a kind that was not required throw. */
export type FaultDisks = { readonly memory: LogDisk; readonly block: BlockDisk };

/** Parts that a fault has exclusively while it lasts, if faults overlap. */
export type Harmed =
  | 'gateways'
  | 'pipelines'
  | 'control-plane'
  | 'log'
  | 'postgres'
  | 'network'
  | 'destination'
  | 'clocks'
  | 'configuration';

/** Requirements of a fault beside an ordinary account; without them it is skipped with a message. */
export type Needs = {
  readonly root?: true;
  readonly programs?: readonly string[];
  /** A built checkout of another version, `--previous`. */
  readonly previous?: true;
};

/** A fault: one file that describes all of it, with a line in the registry. */
export type Fault = {
  readonly name: string;
  readonly about: string;
  /** Signs that an operator sees, and effects that recover by themselves. For the runbook; Markdown. */
  readonly sees: string;
  /** The operator's steps. */
  readonly does: string;
  readonly harms: readonly Harmed[];
  readonly shape: StackShape;
  readonly needs: Needs;
  /** A file system for the streams of the log's first node: in memory, or one whose unsynced writes can be thrown away. */
  readonly disk?: { readonly kind: 'memory' | 'block'; readonly mib: number };
  /** Never overlaps with others: an incomplete run would break the following faults. */
  readonly isAlone?: true;
  /** The stack begins with the services of the other checkout. */
  readonly beginsWithPrevious?: true;
  /** Answer time of both destinations under load, in ms. */
  readonly answerAfterMs?: number;
  /** Destroys acknowledged events, which no other fault may. */
  readonly destroys?: true;
  /** Causes the fault and undoes it unless it recovers by itself: when it resolves the fault is over. */
  run(context: FaultContext): Promise<void>;
  /** A problem other than loss, duplicates and disorder; undefined: none. Called after the last delivery. */
  check?(context: FaultContext, verdict: Verdict): Promise<string | undefined>;
};

export type FaultDefinition = Omit<Fault, 'shape' | 'needs'> & Partial<StackShape> & { readonly needs?: Needs };

/** Declares a fault: on one node, one pipeline and one gateway unless it says otherwise. */
export function defineFault(definition: FaultDefinition): Fault {
  const {
    nodes = 1,
    pipelines = 1,
    gateways = 1,
    env = {},
    hasMovableClocks = false,
    hasNetwork = false,
    hasStandby = false,
    hasNames = false,
    hasCertificates = false,
    needs = {},
    ...fault
  } = definition;
  const shape = {
    nodes,
    pipelines,
    gateways,
    env,
    hasMovableClocks,
    hasNetwork,
    hasStandby,
    hasNames,
    hasCertificates,
  };
  return { ...fault, needs, shape };
}

/** Means that faults can use. */
export type Means = {
  readonly uid: number | undefined;
  hasProgram(name: string): boolean;
  readonly previous: string | undefined;
};

/** Means of this process. */
export function meansHere(previous?: string): Means {
  return {
    uid: process.getuid?.(),
    hasProgram: (name) => programFolders().some((folder) => existsSync(join(folder, name))),
    previous,
  };
}

/** Why a fault cannot be run with these means; undefined: it can. */
export function obstacleTo({ needs }: Pick<Fault, 'needs'>, means: Means): string | undefined {
  if (needs.root === true && means.uid !== 0) return 'root is needed, to mount a file system or to trace a server';
  const missing = needs.programs?.find((name) => !means.hasProgram(name));
  if (missing !== undefined) return `there is no program ${missing} on this machine`;
  if (needs.previous === true && means.previous === undefined) {
    return 'the fault needs --previous, the folder in which another version is checked out and built';
  }
  return undefined;
}
