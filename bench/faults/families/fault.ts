import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { programFolders } from '../../../shared/embedded/machine/env.ts';
import type { BlockDisk } from '../stack/block-disk.ts';
import type { LogDisk } from '../stack/log-disk.ts';
import type { FaultStack, StackShape } from '../stack/stack.ts';
import type { Verdict } from '../judge/judge.ts';

/** What a fault gets once its stack is under load. */
export type FaultContext = {
  readonly stack: FaultStack;
  readonly say: (line: string) => void;
  /** Selects the part to affect: the first one, or a random one if chaos has drawn the fault. */
  pick<Kind>(parts: readonly Kind[]): Kind;
  /** Marks events acknowledged before this call as possibly destroyed; later ones must arrive. */
  mayMissUntilNow(): void;
  /** Adds a remark to the result: something that this run did not do. */
  remark(text: string): void;
  /** The disk that the fault requires. */
  readonly disk: FaultDisks;
  /** Folder of the other checkout, for a fault that needs one; otherwise empty. */
  readonly previous: string;
};

/** The disk of the log's first node, by kind; reading a kind that the fault did not request throws. */
export type FaultDisks = { readonly memory: LogDisk; readonly block: BlockDisk };

/** Parts that only one fault at a time may affect, so overlapping faults never share one of them. */
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

/** What a fault needs beyond an ordinary user account; without it the fault is skipped with a message. */
export type Needs = {
  readonly root?: true;
  readonly programs?: readonly string[];
  /** A built checkout of another version, given with `--previous`. */
  readonly previous?: true;
};

/** A fault: one definition with everything about it, and an entry in the registry. */
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
  /** Disk for the streams of the log's first node: in memory, or one whose unsynced writes can be discarded. */
  readonly disk?: { readonly kind: 'memory' | 'block'; readonly mib: number };
  /** Never overlaps with other faults, because an incomplete run would break those that follow. */
  readonly isAlone?: true;
  /** The stack begins with the services of the other checkout. */
  readonly beginsWithPrevious?: true;
  /** Answer time of both destinations under load, in ms. */
  readonly answerAfterMs?: number;
  /** Destroys acknowledged events, which faults without this flag may not. */
  readonly destroys?: true;
  /** Causes the fault and, unless it recovers by itself, undoes it; the fault is over when this resolves. */
  run(context: FaultContext): Promise<void>;
  /**
   * Called after the last delivery. Returns a problem other than loss, duplicates and disorder, or undefined if there
   * is none.
   */
  check?(context: FaultContext, verdict: Verdict): Promise<string | undefined>;
};

export type FaultDefinition = Omit<Fault, 'shape' | 'needs'> & Partial<StackShape> & { readonly needs?: Needs };

/** Declares a fault; by default its stack has one node, one pipeline and one gateway. */
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

/** What the environment provides for faults: rights, programs and a second checkout. */
export type Means = {
  readonly uid: number | undefined;
  hasProgram(name: string): boolean;
  readonly previous: string | undefined;
};

/** The means that this process has. */
export function meansHere(previous?: string): Means {
  return {
    uid: process.getuid?.(),
    hasProgram: (name) => programFolders().some((folder) => existsSync(join(folder, name))),
    previous,
  };
}

/** Reason why a fault cannot run with these means; undefined if it can. */
export function obstacleTo({ needs }: Pick<Fault, 'needs'>, means: Means): string | undefined {
  if (needs.root === true && means.uid !== 0) return 'root is needed, to mount a file system or to trace a server';
  const missing = needs.programs?.find((name) => !means.hasProgram(name));
  if (missing !== undefined) return `there is no program ${missing} on this machine`;
  if (needs.previous === true && means.previous === undefined) {
    return 'the fault needs --previous, the folder in which another version is checked out and built';
  }
  return undefined;
}
