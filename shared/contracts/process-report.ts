import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

/** The report of a live process in the LEASES bucket, under `<kind>.<instance>`. */
export type ProcessReport = ProcessName & {
  readonly startedAt: string;
  /** Version of the process's build; absent before 0.1.0. */
  readonly version?: string;
  /** The configuration revision that the process uses. */
  readonly revision: number;
  /** When the process began to use this revision. */
  readonly revisionAt?: string;
  /** The instances among which the process divides the work: it has released all actors that belong to the others. */
  readonly peers?: readonly string[];
  /** Whether the process is shutting down and releases its actors. */
  readonly isLeaving?: boolean;
  /** Distinguishes the process from another one with the same instance id. */
  readonly holder?: InstanceHolder;
};

export type ProcessKind = 'gateway' | 'pipeline';

export type ProcessName = { readonly kind: ProcessKind; readonly instanceId: string };

/** The process that uses an instance id. `machine` and `startedAt` are known on Linux only. */
export type InstanceHolder = {
  /** A random text, created at each start of the process. */
  readonly nonce: string;
  readonly pid: number;
  /** The machine or container in which process ids are comparable. */
  readonly machine?: string;
  /**
   * Distinguishes the process from an earlier one with the same process id; begins with the id of the running system.
   */
  readonly startedAt?: string;
};

/** An entry that was not renewed for this long is dropped, in ms. */
export const leaseTtlMs = 10_000;

export const leaseKey = ({ kind, instanceId }: ProcessName): string => `${kind}.${assertId(instanceId)}`;

/** Matches the keys of all processes of a kind. */
export const leasesOfKind = (kind: ProcessKind): string => `${kind}.*`;

const isReport = Compile(
  Type.Object({
    // Any kind is accepted, since another build may have processes of a kind that this build does not know.
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

/** Reads an entry of the LEASES bucket; undefined for a format that this build does not know. */
export function decodeReport(bytes: Uint8Array | undefined): ProcessReport | undefined {
  const report = decodeJson(bytes);
  return isReport.Check(report) ? report : undefined;
}
