import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import { allWork, decodeWorkReport, workKey } from '../../shared/contracts/work-report.ts';
import type { WorkReport } from '../../shared/contracts/work-report.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { defineService } from '../api/services.ts';
import { logFigures } from '../health/log-figures.ts';
import type { BucketCache } from '../publishing/bucket-cache.ts';
import { createBucketCache } from '../publishing/bucket-cache.ts';
import { listControlPlanes } from '../publishing/list-control-planes.ts';
import { leases } from '../publishing/publishing-service.ts';
import { liveContent } from '../versions/version-store.ts';
import { alerts, alertsReply } from './read-alerts.ts';
import { findings } from './read-findings.ts';

export type WorkCache = BucketCache<WorkReport>;

/** Threads and actors, as the live pipelines report them. */
export function createWorkCache(): WorkCache {
  return createBucketCache(allWork, decodeWorkReport);
}

export const work = defineService<WorkCache>('work reports');

/** The newest revision of the configuration that this control plane has seen. */
export const configRevision = defineService<() => number>('configuration revision');

const count = Type.Integer({ minimum: 0 });
const instant = Type.String({ format: 'date-time' });

export const operateEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/processes',
    scope: 'system:find',
    id: 'listProcesses',
    uses: { leases, configRevision },
    tag: 'System',
    summary:
      'The gateways and pipelines that are alive, which revision of the configuration each runs, and the control planes that are connected to the database',
    reply: Type.Object({
      revision: { ...count, description: 'The newest revision of any account that this control plane has received.' },
      entities: Type.Array(
        Type.Object({
          kind: Type.String(),
          instanceId: Type.String(),
          version: nullable(Type.String({ description: 'Version of its build; null if it does not report one.' })),
          startedAt: instant,
          revision: Type.Integer({ description: 'Revision of the configuration that it runs.' }),
          revisionAt: nullable({
            ...instant,
            description: 'When it received the revision; null if it does not report that.',
          }),
          isLeaving: Type.Boolean({ description: 'Whether it is stopping.' }),
          heardMsAgo: { ...count, description: 'Time since its last report, in ms.' },
        }),
      ),
      controlPlanes: Type.Array(
        Type.Object({
          address: nullable(
            Type.String({ description: 'The address from which it connects to PostgreSQL; null for a local socket.' }),
          ),
          version: nullable(Type.String({ description: 'Version of its build; null if it does not report one.' })),
          connectedAt: instant,
          isLeader: Type.Boolean({ description: 'Whether it is the leader, which publishes configuration.' }),
        }),
      ),
    }),
    async handle(_input, { leases, configRevision, pool }) {
      const nowMs = performance.now();
      const alive = [...leases.entries.values()].filter(({ receivedAtMs }) => nowMs - receivedAtMs < leaseTtlMs);
      const entities = alive.map(({ value, receivedAtMs }) => ({
        kind: value.kind,
        instanceId: value.instanceId,
        version: value.version ?? null,
        startedAt: value.startedAt,
        revision: value.revision,
        revisionAt: value.revisionAt ?? null,
        isLeaving: value.isLeaving === true,
        heardMsAgo: Math.round(nowMs - receivedAtMs),
      }));
      const name = (one: (typeof entities)[number]): string => `${one.kind} ${one.instanceId}`;
      return {
        revision: configRevision(),
        entities: entities.toSorted((a, b) => name(a).localeCompare(name(b))),
        controlPlanes: await listControlPlanes(pool),
      };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/partitions',
    scope: 'system:find',
    id: 'listPartitions',
    uses: { logFigures },
    tag: 'System',
    summary: 'Events that wait to be resolved, by partition',
    reply: Type.Object({
      entities: Type.Array(
        Type.Object({
          partition: count,
          waitingFrames: count,
          oldestMs: nullable(
            Type.Number({ description: 'How long the oldest event has waited, in ms; null if none waits.' }),
          ),
        }),
      ),
    }),
    handle: async (_input, { logFigures }) => ({
      entities: (await logFigures.read()).partitions,
    }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/work',
    scope: 'system:find',
    id: 'listWork',
    uses: { leases, work },
    tag: 'System',
    summary: 'The threads of each pipeline that is alive, and which actors each thread runs',
    reply: Type.Object({
      entities: Type.Array(
        Type.Object({
          instanceId: Type.String(),
          threads: Type.Array(
            Type.Object({
              thread: count,
              isReady: Type.Boolean(),
              silentMs: { ...count, description: 'Time since its last report, in ms.' },
              heapUsedBytes: count,
              utilization: Type.Number({ description: 'Fraction of the time that its event loop was busy, 0 to 1.' }),
              delayP99Ms: Type.Number({ description: 'Delay of its event loop in ms, 99th percentile.' }),
              isLogConnected: Type.Boolean(),
            }),
          ),
          actors: Type.Array(
            Type.Object({
              kind: Type.String(),
              key: Type.String({ description: 'A partition, or the id of a destination or an account.' }),
              name: nullable(
                Type.String({ description: 'Name of a destination of the key’s account; null for any other actor.' }),
              ),
              thread: nullable(count),
              state: Type.String(),
              failuresInARow: count,
            }),
            { description: 'Actors that are not running come first.' },
          ),
          actorsMore: { ...count, description: 'Number of its actors that are not listed.' },
        }),
      ),
    }),
    async handle({ principal }, { leases, work, storage }) {
      const nowMs = performance.now();
      const pipelines = [...leases.entries.values()]
        .filter(({ value, receivedAtMs }) => value.kind === 'pipeline' && nowMs - receivedAtMs < leaseTtlMs)
        .map(({ value }) => value.instanceId);
      const { destinations } = await liveContent(storage.fork(), principal.accountId, 'destinations');
      const names = new Map(destinations.map(({ id, name }) => [id, textOf(name)]));
      const entities = pipelines.toSorted().flatMap((instanceId) => {
        const report = work.entries.get(workKey(instanceId))?.value;
        if (report === undefined) return [];
        const { threads, actors, actorsMore } = report;
        const shown = actors.map((actor) => ({
          ...actor,
          name: names.get(actor.key) ?? null,
          thread: actor.thread ?? null,
        }));
        return [{ instanceId, threads, actors: shown, actorsMore }];
      });
      return { entities };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/alerts',
    scope: 'system:find',
    id: 'listAlerts',
    uses: { alerts },
    tag: 'System',
    summary: 'The open alerts of the Prometheus at PROMETHEUS_URL',
    reply: alertsReply,
    handle: (_input, { alerts }) => alerts.read(),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/system/findings',
    scope: 'system:find',
    id: 'listFindings',
    uses: { findings },
    tag: 'System',
    summary: 'Findings of the doctor about the log and its servers, as seen from this control plane, the worst first',
    reply: Type.Object({
      lookedAt: instant,
      entities: Type.Array(
        Type.Object({
          level: Type.Enum(['ok', 'warn', 'fail']),
          about: Type.String(),
          detail: Type.String(),
          advice: nullable(Type.String({ description: 'What to do; null if nothing is wrong.' })),
        }),
      ),
    }),
    handle: (_input, { findings }) => findings.read(),
  }),
];
