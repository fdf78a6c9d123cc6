import { clockBackNatsKilled, clockForwardAndBack } from './families/clock-faults.ts';
import {
  clusterAllKilled,
  clusterFollowerKilled,
  clusterLeaderCutOff,
  clusterLeaderKilled,
  clusterQuorumLost,
} from './families/cluster-faults.ts';
import {
  deleted,
  published,
  rolledBack,
  secretsKeyRotated,
  sourceKeyRotated,
} from './families/configuration-faults.ts';
import {
  destinationEndless,
  destinationFlapping,
  destinationHanging,
  destinationRefusing,
  destinationResetting,
  destinationSlow,
  destinationThrottling,
  destinationWrongCertificate,
} from './families/destination-faults.ts';
import { diskFull, diskFullRestart, diskReadOnly, diskSlow, powerCut } from './families/disk-faults.ts';
import { postgresFailedOver } from './families/failover-fault.ts';
import type { Fault } from './families/fault.ts';
import { logCut, logTorn } from './families/log-damage-faults.ts';
import { nameServerGone, natsSlow, postgresSlow } from './families/network-faults.ts';
import { nothing } from './families/nothing.ts';
import { allKilled, allKilledTwice, awayFaults, processFaults } from './families/process-faults.ts';
import { rollingRestart } from './families/rolling-restart.ts';
import { pipelineKilledSlow, pipelineTerminatedSlow } from './families/slow-destinations-faults.ts';
import { threadLooping, threadOutOfMemory, threadThrown } from './families/thread-faults.ts';
import {
  pipelineCutFromLog,
  pipelineCutFromPostgres,
  twoPipelinesOneKilled,
  twoPipelinesOnePaused,
} from './families/two-pipelines-faults.ts';
import { upgradedAndBack } from './families/upgraded-and-back.ts';

/** Every fault, in the order in which the faults are listed and `all` runs them. */
export const faults: readonly Fault[] = [
  nothing,
  ...processFaults,
  ...awayFaults,
  postgresFailedOver,
  allKilled,
  allKilledTwice,
  rollingRestart,
  pipelineKilledSlow,
  pipelineTerminatedSlow,
  threadThrown,
  threadOutOfMemory,
  threadLooping,
  twoPipelinesOneKilled,
  twoPipelinesOnePaused,
  pipelineCutFromLog,
  pipelineCutFromPostgres,
  clusterFollowerKilled,
  clusterLeaderKilled,
  clusterLeaderCutOff,
  clusterQuorumLost,
  clusterAllKilled,
  diskFull,
  diskFullRestart,
  diskReadOnly,
  diskSlow,
  powerCut,
  logCut,
  logTorn,
  postgresSlow,
  natsSlow,
  nameServerGone,
  clockBackNatsKilled,
  clockForwardAndBack,
  published,
  rolledBack,
  deleted,
  sourceKeyRotated,
  secretsKeyRotated,
  upgradedAndBack,
  destinationRefusing,
  destinationHanging,
  destinationSlow,
  destinationFlapping,
  destinationThrottling,
  destinationResetting,
  destinationEndless,
  destinationWrongCertificate,
];
