import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

/** What a live process says of itself in the LEASES bucket, under `<kind>.<instance>`. */
export type ProcessReport = ProcessName & {
  readonly startedAt: string;
  /** Of its build; a build before 0.1.0 said none. */
  readonly version?: string;
  /** The configuration revision it runs. */
  readonly revision: number;
  /** Since when. */
  readonly revisionAt?: string;
  /** The instances of its kind it shares work with: it has let go of all that is not its own among them. */
  readonly peers?: readonly string[];
  /** It is letting go of everything, to end. */
  readonly isLeaving?: boolean;
  /** Tells it from another process of the same id. */
  readonly holder?: InstanceHolder;
};

export type ProcessKind = 'gateway' | 'pipeline';

export type ProcessName = { readonly kind: ProcessKind; readonly instanceId: string };

/** The process that goes by an instance id, beyond that id. Where it runs is known on Linux only. */
export type InstanceHolder = {
  /** Of this life of the process. */
  readonly nonce: string;
  readonly pid: number;
  /** Within which ids of processes mean the same: the machine, or the container. */
  readonly machine?: string;
  /** Tells it from a process that had its id before; begins with the id of the running system. */
  readonly startedAt?: string;
};

/** An entry not renewed for this long is gone, in ms. */
export const leaseTtlMs = 10_000;

export const leaseKey = ({ kind, instanceId }: ProcessName): string => `${kind}.${assertId(instanceId)}`;

/** Matches the keys of all processes of a kind. */
export const leasesOfKind = (kind: ProcessKind): string => `${kind}.*`;

const isReport = Compile(
  Type.Object({
    // A kind another build knows is a process, too.
    kind: Type.Unsafe<ProcessKind>(Type.String()),
    instanceId: Type.String(),
    startedAt: Type.String(),
    version: Type.Optional(Type.String()),
    revision: Type.Number(),
    revisionAt: Type.Optional(Type.String()),
    peers: Type.Optional(Type.Array(Type.String())),
    isLeaving: Type.Optional(Type.Boolean()),
    holder: Type.Optional(
      Type.Object({
        nonce: Type.String(),
        pid: Type.Number(),
        machine: Type.Optional(Type.String()),
        startedAt: Type.Optional(Type.String()),
      }),
    ),
  }),
);

export function encodeReport(report: ProcessReport): Uint8Array {
  return encodeJson(report);
}

/** Reads an entry of the LEASES bucket; undefined when it is none this build knows. */
export function decodeReport(bytes: Uint8Array | undefined): ProcessReport | undefined {
  const report = decodeJson(bytes);
  return isReport.Check(report) ? report : undefined;
}
