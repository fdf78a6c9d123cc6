import type { TProperties } from 'typebox';
import { controlPlaneEnv } from '../../control-plane/env.ts';
import { gatewayEnv } from '../../gateway/env.ts';
import { pipelineEnv } from '../../pipeline/env.ts';
import { embeddedEnv } from '../../shared/embedded/machine/env.ts';
import { databaseEnv } from '../../shared/postgres/database-access.ts';
import { doctorEnv } from '../doctor/env.ts';
import { stackEnv } from '../local/env.ts';
import { sinkEnv } from '../local/sink/env.ts';

/** Something that is run, with every variable it reads. */
export type Program = { readonly name: string; readonly variables: TProperties };

/** The services, which share most of how they are run. */
export const services: readonly Program[] = [
  { name: 'gateway', variables: gatewayEnv },
  { name: 'pipeline', variables: pipelineEnv },
  { name: 'control plane', variables: controlPlaneEnv },
];

/** What else is run, mostly with variables of the services. */
export const tools: readonly Program[] = [
  { name: 'local stack', variables: { ...stackEnv, ...embeddedEnv } },
  { name: 'demo sink', variables: sinkEnv },
  { name: 'doctor', variables: doctorEnv },
  { name: 'migrate and keys', variables: databaseEnv },
];
