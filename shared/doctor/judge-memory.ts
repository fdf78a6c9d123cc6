import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

const mebibyte = 1024 ** 2;
/** Share of the memory that counted uses may take; the rest is for the system and for uncounted uses. */
const usableShare = 0.9;

/** Memory that the processes of one kind on this machine may use together, by their configuration. */
export type MemoryUse = {
  /** The kind of process, such as `gateway` or `nats-server`. */
  readonly of: string;
  /** Number of processes. */
  readonly processes: number;
  /** Memory that one process may use, by purpose. */
  readonly parts: readonly { readonly what: string; readonly bytes: number }[];
  /** A use without a limit, and the setting that limits it. */
  readonly unbounded?: { readonly what: string; readonly advice: string };
};

/** One finding per kind of process, and one that compares their sum with the memory of the machine or container. */
export function judgeMemory(uses: readonly MemoryUse[], availableBytes: number): Finding[] {
  const here = uses.filter(({ processes }) => processes > 0);
  const sum = here.reduce((bytes, use) => bytes + use.processes * bytesOf(use), 0);
  const detail = `${mib(sum)} by configuration, of ${mib(availableBytes)}`;
  const advice =
    'lower the largest use with PIPELINE_THREADS, PIPELINE_THREAD_HEAP_MIB and MAIN_HEAP_MIB, or ' +
    'max_connections of PostgreSQL; or give the numbers on this machine with --gateways, --pipelines and --control-planes';
  const total =
    sum <= availableBytes * usableShare
      ? ok('memory', detail)
      : (sum > availableBytes ? fail : warn)('memory', detail, advice);
  return [...here.map(judgeUse), total];
}

function judgeUse(use: MemoryUse): Finding {
  const about = `memory: ${use.of}`;
  const parts = use.parts.map(({ what, bytes }) => `${mib(bytes)} ${what}`).join(', ');
  const times = use.processes === 1 ? '' : `${use.processes} × `;
  if (use.unbounded !== undefined) {
    const counted = parts === '' ? '' : `; besides ${parts}`;
    return warn(about, `no limit of ${use.unbounded.what}${counted}`, use.unbounded.advice);
  }
  return ok(about, `${times}${mib(bytesOf(use))}: ${parts}`);
}

const bytesOf = ({ parts }: MemoryUse): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);
const mib = (bytes: number): string => `${Math.ceil(bytes / mebibyte)} MiB`;
