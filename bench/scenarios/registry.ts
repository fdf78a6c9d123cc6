import type { Scenario } from '../system/scenario.ts';
import { actors } from './actors.ts';
import { batch } from './batch.ts';
import { cold } from './cold.ts';
import { compat } from './compat.ts';
import { cost } from './cost.ts';
import { dedupeMemory } from './dedupe-memory.ts';
import { dispatch } from './dispatch.ts';
import { endToEnd } from './end-to-end.ts';
import { experiments } from './experiments.ts';
import { idleAndSmall } from './idle-and-small.ts';
import { inTime } from './in-time.ts';
import { isolation } from './isolation.ts';
import { latency } from './latency.ts';
import { many } from './many.ts';
import { memory } from './memory.ts';
import { metrics } from './metrics.ts';
import { micro } from './micro.ts';
import { neighbours } from './neighbours.ts';
import { newVisitors } from './new-visitors.ts';
import { overload } from './overload.ts';
import { publish } from './publish.ts';
import { replicated } from './replicated.ts';
import { scaling } from './scaling.ts';
import { soak } from './soak.ts';
import { startWithHistory } from './start-with-history.ts';
import { tls } from './tls.ts';
import { track } from './track.ts';
import { tune } from './tune.ts';

/** Every scenario, in the order in which they are listed and `all` runs them. */
export const scenarios: readonly Scenario[] = [
  track,
  batch,
  compat,
  latency,
  dispatch,
  tls,
  endToEnd,
  inTime,
  replicated,
  cost,
  idleAndSmall,
  cold,
  newVisitors,
  memory,
  isolation,
  overload,
  neighbours,
  actors,
  dedupeMemory,
  experiments,
  publish,
  scaling,
  metrics,
  micro,
  tune,
  soak,
  startWithHistory,
  many,
];
