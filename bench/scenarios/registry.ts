import type { Scenario } from '../system/scenario.ts';
import { batch } from './batch.ts';
import { cold } from './cold.ts';
import { cost } from './cost.ts';
import { dispatch } from './dispatch.ts';
import { endToEnd } from './end-to-end.ts';
import { experiments } from './experiments.ts';
import { idleAndSmall } from './idle-and-small.ts';
import { isolation } from './isolation.ts';
import { many } from './many.ts';
import { memory } from './memory.ts';
import { micro } from './micro.ts';
import { neighbours } from './neighbours.ts';
import { newVisitors } from './new-visitors.ts';
import { overload } from './overload.ts';
import { replicated } from './replicated.ts';
import { soak } from './soak.ts';
import { startWithHistory } from './start-with-history.ts';
import { track } from './track.ts';
import { tune } from './tune.ts';

/** Every scenario, in the order in which the scenarios are listed and `all` runs them. */
export const scenarios: readonly Scenario[] = [
  track,
  batch,
  dispatch,
  endToEnd,
  replicated,
  cost,
  idleAndSmall,
  cold,
  newVisitors,
  memory,
  isolation,
  overload,
  neighbours,
  experiments,
  micro,
  tune,
  soak,
  startWithHistory,
  many,
];
