import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { programFolders } from '../../machine/env.ts';
import type { BlockDisk } from '../stack/block-disk.ts';
import type { LogDisk } from '../stack/log-disk.ts';
import type { FaultStack, StackShape } from '../stack/stack.ts';
import type { Verdict } from '../judge/judge.ts';

/** What a fault is given once its stack is under load. */
export type FaultContext = {
  readonly stack: FaultStack;
  readonly say: (line: string) => void;
  /** The part to do harm to: the first one, and among random faults any. */
  pick<Kind>(parts: readonly Kind[]): Kind;
  /** What is sent from now on must arrive, if it is acknowledged; what was before may have been destroyed. */
  mayMissUntilNow(): void;
  /** The disk that the fault asked for. */
  readonly disk: FaultDisks;
  /** Folder of the other checkout, for a fault that needs one. */
  readonly previous: string;
};

/** A disk of its own for the streams of the log's first node; those that were not asked for throw. */
export type FaultDisks = { readonly memory: LogDisk; readonly block: BlockDisk };

/** What a fault has to itself while it lasts, where faults overlap. */
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

/** What a fault takes beside an ordinary account; it is skipped, with a word, where that is missing. */
export type Needs = {
  readonly root?: true;
  readonly programs?: readonly string[];
  /** A built checkout of another version, `--previous`. */
  readonly previous?: true;
};

/** One thing that goes wrong: a file that says all of it, with a line in the registry. */
export type Fault = {
  readonly name: string;
  readonly about: string;
  /** What whoever runs Sluice notices of it, and what heals by itself. For the runbook; Markdown. */
  readonly sees: string;
  /** What there is to do. */
  readonly does: string;
  readonly harms: readonly Harmed[];
  readonly shape: StackShape;
  readonly needs: Needs;
  /** A file system for the streams of the log's first node: in memory, or one whose unsynced writes can be thrown away. */
  readonly disk?: { readonly kind: 'memory' | 'block'; readonly mib: number };
  /** Is never one of several that overlap: half of it done would break what comes after. */
  readonly isAlone?: true;
  /** The stack begins with the services of the other checkout. */
  readonly beginsWithPrevious?: true;
  /** How long both destinations take to answer while there is load, in ms. */
  readonly answerAfterMs?: number;
  /** Destroys what was acknowledged, which no other fault may. */
  readonly destroys?: true;
  /** Does the harm and, where it does not heal by itself, undoes it: when it resolves the fault is over. */
  run(context: FaultContext): Promise<void>;
  /** What is wrong beyond loss, doubles and disorder; undefined: nothing. Asked when all that will come has come. */
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

/** What there is for faults to use. */
export type Means = {
  readonly uid: number | undefined;
  hasProgram(name: string): boolean;
  readonly previous: string | undefined;
};

/** Of this process. */
export function meansHere(previous?: string): Means {
  return {
    uid: process.getuid?.(),
    hasProgram: (name) => programFolders().some((folder) => existsSync(join(folder, name))),
    previous,
  };
}

/** Why a fault cannot be run with these means; undefined: it can. */
export function obstacleTo({ needs }: Pick<Fault, 'needs'>, means: Means): string | undefined {
  if (needs.root === true && means.uid !== 0) return 'it mounts a file system or traces a server, which takes root';
  const missing = needs.programs?.find((name) => !means.hasProgram(name));
  if (missing !== undefined) return `there is no program ${missing} on this machine`;
  if (needs.previous === true && means.previous === undefined) {
    return 'it takes another version: --previous names a folder where one is checked out and built';
  }
  return undefined;
}
