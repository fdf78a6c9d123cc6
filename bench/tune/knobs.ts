import { Value } from 'typebox/value';
import { gatewayEnv } from '../../gateway/env.ts';
import { pipelineEnv } from '../../pipeline/env.ts';
import { fitToMachine } from '../../shared/runtime/fit-to-machine.ts';
import { readMachine } from '../../shared/runtime/machine.ts';
import { usualValueOf } from '../../shared/runtime/variables.ts';

/** A setting that the sweep varies. */
export type Knob = {
  /** Variable of the services, or `sync`, a setting of nats-server. */
  readonly name: string;
  readonly values: readonly string[];
  readonly byDefault: string;
  /** The rate by which values are judged: of events that the gateway accepts, or that arrive at a destination. */
  readonly judgedBy: 'accepted' | 'delivered';
  /** The setting is measured to show its cost; no value is recommended. */
  readonly isShownOnly?: boolean;
};

const variables = { ...gatewayEnv, ...pipelineEnv };
const fitted = fitToMachine(readMachine());
/** Defaults that depend on the machine. */
const fittedDefaults: Readonly<Partial<Record<keyof typeof variables, number>>> = {
  LOG_PARTITIONS: fitted.partitions,
  PIPELINE_THREADS: fitted.threads,
};

/** Settings in the order of the sweep; each is measured with the best values of the settings before it. */
export const knobs: readonly Knob[] = [
  turn('LOG_PARTITIONS', [1, 2, 4, 8], 'delivered'),
  turn('PIPELINE_THREADS', [1, 2, 4], 'delivered'),
  turn('FRAMES_IN_FLIGHT_MAX', [1, 2, 4], 'accepted'),
  turn('FRAME_ROUND_MS', [0, 5, 10, 20], 'delivered'),
  turn('RESOLVER_TAKE_EVERY_MS', [0, 4, 8], 'delivered'),
  turn('RESOLVER_ACCOUNT_EVENTS_MAX', [64, 256, 1_024], 'delivered'),
  {
    name: 'sync',
    values: ['always', 'every two minutes'],
    byDefault: 'always',
    judgedBy: 'accepted',
    isShownOnly: true,
  },
];

/** Makes a knob of a service variable, including its default. Throws for a value that the variable does not allow. */
function turn(name: keyof typeof variables, values: readonly number[], judgedBy: Knob['judgedBy']): Knob {
  const variable = variables[name];
  const byDefault = usualValueOf(variable) ?? fittedDefaults[name];
  if (byDefault === undefined) throw new Error(`varying ${name}: it has no default`);
  const outside = values.filter((value) => !Value.Check(variable, value));
  if (outside.length > 0) throw new Error(`varying ${name}: it cannot be ${outside.join(', ')}`);
  const tried = new Set([...values.map(String), String(byDefault)]);
  return { name, values: [...tried], byDefault: String(byDefault), judgedBy };
}
