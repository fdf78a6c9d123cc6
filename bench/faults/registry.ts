import {
  destinationFlapping,
  destinationHanging,
  destinationRefusing,
  destinationThrottling,
} from './families/destination-faults.ts';
import {
  gatewayKilled,
  gatewayPaused,
  nothing,
  pipelineKilled,
  pipelineKilledSlow,
  pipelinePaused,
  pipelineTerminatedSlow,
  rollingRestart,
  threadThrown,
  twoPipelinesOneKilled,
  twoPipelinesOnePaused,
} from './families/service-faults.ts';
import {
  allKilled,
  clockBackNatsKilled,
  controlPlaneKilled,
  natsKilled,
  natsKilledTwice,
  natsPaused,
  postgresKilled,
} from './families/server-faults.ts';
import {
  clusterAllKilled,
  clusterFollowerKilled,
  clusterLeaderKilled,
  clusterQuorumLost,
} from './families/cluster-faults.ts';
import { diskFullRestart, logCut } from './families/disk-faults.ts';
import type { Fault } from './families/fault.ts';

/** Every fault, in the order in which they are listed and `all` runs them. */
export const faults: readonly Fault[] = [
  nothing,
  gatewayKilled,
  gatewayPaused,
  pipelineKilled,
  pipelineKilledSlow,
  pipelineTerminatedSlow,
  pipelinePaused,
  threadThrown,
  twoPipelinesOneKilled,
  twoPipelinesOnePaused,
  natsKilled,
  natsKilledTwice,
  natsPaused,
  postgresKilled,
  controlPlaneKilled,
  allKilled,
  rollingRestart,
  clusterFollowerKilled,
  clusterLeaderKilled,
  clusterQuorumLost,
  clusterAllKilled,
  diskFullRestart,
  logCut,
  clockBackNatsKilled,
  destinationRefusing,
  destinationHanging,
  destinationFlapping,
  destinationThrottling,
];
