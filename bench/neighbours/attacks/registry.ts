import type { Attack } from './attack.ts';
import { alternatingEndpoint, deadDestinations, hangingNames } from './bad-destinations.ts';
import { keyGuesses, lockedEdits, publishStorm, replays } from './configuration.ts';
import { busyNeighbour, foreignPrograms, nobody } from './controls.ts';
import { gzipBombs, idleClients, slowUploads } from './doors.ts';
import { expensiveRules } from './expensive-rules.ts';
import { experimentQueries } from './experiment-queries.ts';
import { failingDestinations } from './failing-destinations.ts';
import { heavyVisitor } from './heavy-visitor.ts';
import { largeMerges } from './large-merges.ts';
import { merges } from './merges.ts';
import { newVisitors } from './new-visitors.ts';

/** Run before the attacks, and without a bar: no neighbour, a full machine, and a well-behaved busy account. */
export const controls: readonly Attack[] = [nobody, foreignPrograms, busyNeighbour];

/** Every attack, in the order in which the attacks run. */
export const attacks: readonly Attack[] = [
  heavyVisitor,
  merges,
  largeMerges,
  newVisitors,
  alternatingEndpoint,
  deadDestinations,
  hangingNames,
  failingDestinations,
  expensiveRules,
  experimentQueries,
  lockedEdits,
  publishStorm,
  keyGuesses,
  replays,
  gzipBombs,
  slowUploads,
  idleClients,
];
