import type { Recorder } from '../recorder.ts';

/** For resolvers in tests that do not concern the view of recent events. */
export const noRecorder: Pick<Recorder, 'note' | 'gauges' | 'close'> = {
  note: () => undefined,
  gauges: () => ({ recent_bytes_waiting: 0, recent_lag_seconds: 0 }),
  close: () => Promise.resolve(),
};
