import { recentEventsConsumer } from '../../../shared/contracts/subjects.ts';
import { defineWorker } from '../worker/define-worker.ts';
import { recorderCounters, recorderGauges } from './recorder-context.ts';
import type { RecorderContext } from './recorder-context.ts';
import type { RecentSettings } from './recent-settings.ts';
import { startRecentEventsRecorder } from './recorder.ts';

/** Keeps the view of recent events; there is one. */
export type RecorderSpec = { readonly kind: 'recorder' };

type RecorderHost = Pick<RecorderContext, 'connection' | 'pool' | 'logger' | 'beginTurn' | 'suspicion'> & {
  readonly settings: { readonly recent: RecentSettings };
};

const onlyKey = '0';

export const recorderWorker = defineWorker({
  kind: 'recorder',
  keyOf: (_spec: RecorderSpec) => onlyKey,
  weight: 1,
  wanted: { by: 'log', specs: (): readonly RecorderSpec[] => [{ kind: 'recorder' }] },
  consumer: {
    nameOf: () => recentEventsConsumer,
    keyOf: (name) => (name === recentEventsConsumer ? onlyKey : undefined),
  },
  label: undefined,
  counters: recorderCounters,
  families: {},
  gauges: recorderGauges,
  framesRead: undefined,
  start: (_spec: RecorderSpec, { connection, pool, logger, settings, beginTurn, suspicion }: RecorderHost) =>
    startRecentEventsRecorder({
      connection,
      pool,
      logger,
      settings: settings.recent.events,
      beginTurn,
      suspicion,
    }),
});
