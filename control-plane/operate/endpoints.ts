import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import type { LogFigures } from '../health/log-figures.ts';
import type { LeaseCache } from '../publishing/publishing-service.ts';
import type { FindingsReader } from './read-findings.ts';

/** What looking at the installation needs beside what every endpoint has. */
export type OperateServices = {
  readonly leases: LeaseCache;
  readonly logFigures: { read(): Promise<LogFigures> };
  readonly findings: FindingsReader;
  /** The revision of the configuration this control plane has heard of. */
  configRevision(): number;
};

const count = Type.Integer({ minimum: 0 });
const instant = Type.String({ format: 'date-time' });

export const operateEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/processes',
    scope: 'system:find',
    id: 'listProcesses',
    tag: 'System',
    summary: 'The gateways and pipelines that are alive, and which revision of the configuration each runs',
    reply: Type.Object({
      revision: { ...count, description: 'The newest revision this control plane has heard of, of any account.' },
      entities: Type.Array(
        Type.Object({
          kind: Type.String(),
          instanceId: Type.String(),
          startedAt: instant,
          revision: Type.Integer({ description: 'What it runs.' }),
          isLeaving: Type.Boolean({ description: 'It is letting go of everything, to end.' }),
          heardMsAgo: { ...count, description: 'Since it last said that it is alive.' },
        }),
      ),
    }),
    async handle(_input, { leases, configRevision }: CoreServices & OperateServices) {
      const nowMs = performance.now();
      const alive = [...leases.entries.values()].filter(({ heardAtMs }) => nowMs - heardAtMs < leaseTtlMs);
      const entities = alive.map(({ value, heardAtMs }) => ({
        kind: value.kind,
        instanceId: value.instanceId,
        startedAt: value.startedAt,
        revision: value.revision,
        isLeaving: value.isLeaving === true,
        heardMsAgo: Math.round(nowMs - heardAtMs),
      }));
      const name = (one: (typeof entities)[number]): string => `${one.kind} ${one.instanceId}`;
      return { revision: configRevision(), entities: entities.toSorted((a, b) => name(a).localeCompare(name(b))) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/partitions',
    scope: 'system:find',
    id: 'listPartitions',
    tag: 'System',
    summary: 'What waits to be resolved in each partition of accepted events',
    reply: Type.Object({
      entities: Type.Array(
        Type.Object({
          partition: count,
          waitingFrames: count,
          oldestMs: nullable(Type.Number({ description: 'How long the oldest has waited; null where none does.' })),
        }),
      ),
    }),
    handle: async (_input, { logFigures }: CoreServices & OperateServices) => ({
      entities: (await logFigures.read()).partitions,
    }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/findings',
    scope: 'system:find',
    id: 'listFindings',
    tag: 'System',
    summary: 'What the doctor finds of the log and its servers as this control plane meets them, the worst first',
    reply: Type.Object({
      lookedAt: instant,
      entities: Type.Array(
        Type.Object({
          level: Type.Enum(['ok', 'warn', 'fail']),
          about: Type.String(),
          detail: Type.String(),
          advice: nullable(Type.String({ description: 'What to do; null where all is well.' })),
        }),
      ),
    }),
    handle: (_input, { findings }: CoreServices & OperateServices) => findings.read(),
  }),
];
