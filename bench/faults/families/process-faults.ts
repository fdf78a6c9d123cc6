import { keepAway, kill, killTwice, pause, pauseMs } from '../stack/actions.ts';
import type { Part } from '../stack/part.ts';
import { servicesOf } from '../stack/stack.ts';
import type { FaultStack } from '../stack/stack.ts';
import { defineFault } from './fault.ts';
import type { Fault, Harmed } from './fault.ts';

type Process = {
  readonly name: string;
  readonly title: string;
  readonly harms: Harmed;
  partsOf(stack: FaultStack): readonly Part[];
  /** Effects while the process is gone, or stopped. */
  readonly gone: string;
  /** Further signs that it was gone. */
  readonly shows: string;
  readonly does: string;
};

const processes: readonly Process[] = [
  {
    name: 'gateway',
    title: 'the only gateway',
    harms: 'gateways',
    partsOf: ({ gateways }) => gateways,
    gone: 'Clients cannot connect, or get no answer: nothing is acknowledged, nothing that was is lost.',
    shows:
      '`SluiceScrapeMissing` if it lasts, and a jump of `process_start_time_seconds`. Clients that send again what was not answered lose nothing.',
    does: 'Run two or more behind a load balancer that asks `/readyz`, so that this is no outage. If it comes back by itself, look in its log for the last lines before the start; exit code 78 means that no start can work.',
  },
  {
    name: 'pipeline',
    title: 'the only pipeline',
    harms: 'pipelines',
    partsOf: ({ pipelines }) => pipelines,
    gone: 'Events are taken and wait in the log: `sluice_partition_backlog_age_seconds` rises, nothing is delivered.',
    shows:
      'After it `sluice_dispatcher_repeated_events_total` has grown by what was in flight: destinations were sent that a second time, under the same `Idempotency-Key`.',
    does: 'Nothing for the data. A second pipeline takes the work over within about four seconds. If it dies again and again, `SluiceActorsCrashLooping` and the log say in whose turn.',
  },
  {
    name: 'nats',
    title: 'the only nats-server',
    harms: 'log',
    partsOf: ({ log }) => log,
    gone: 'Gateways answer 503 with `Retry-After` and are not ready (`/readyz`: `NATS at NATS_URL is not connected`); deliveries stop.',
    shows: '`SluiceLogDisconnected` if it lasts. Services connect again by themselves within a second of its return.',
    does: 'See why it ended (its own log, the kernel’s for the OOM killer). `npm run doctor` says whether it is well again. Three nodes with `LOG_REPLICAS=3` take the death of one without a pause that clients notice for long.',
  },
  {
    name: 'postgres',
    title: 'PostgreSQL',
    harms: 'postgres',
    partsOf: ({ postgres }) => [postgres],
    gone: 'Events are taken; those of visitors that a pipeline has in its cache go on, the others wait in INGEST. The configuration interface answers 503.',
    shows:
      'The control plane’s `/readyz` says `PostgreSQL at DATABASE_URL does not answer`; the partition backlog grows.',
    does: 'Bring PostgreSQL back; everything goes on by itself. Mind `LOG_INGEST_BYTES_MAX` while it is away for long: a full INGEST makes gateways answer 503.',
  },
  {
    name: 'control-plane',
    title: 'the control plane',
    harms: 'control-plane',
    partsOf: ({ controlPlane }) => [controlPlane],
    gone: 'The console and the configuration interface do not answer. Events are taken and delivered as configured last.',
    shows: '`SluiceScrapeMissing` if it lasts.',
    does: 'Nothing for the data; a second control plane takes publishing over within a second.',
  },
];

const killed = ({ name, title, harms, partsOf, gone, shows, does }: Process): Fault =>
  defineFault({
    name: `${name}-killed`,
    about: `${title} gets SIGKILL`,
    sees: `${gone} ${shows}`,
    does,
    harms: [harms],
    async run({ stack, pick }) {
      kill(pick(partsOf(stack)));
    },
  });

const killedTwice = ({ name, title, harms, partsOf, gone, does }: Process): Fault =>
  defineFault({
    name: `${name}-killed-twice`,
    about: `${title} gets SIGKILL, and again as soon as it is back`,
    sees: `As a single kill, twice as long. ${gone}`,
    does,
    harms: [harms],
    run: ({ stack, pick }) => killTwice(pick(partsOf(stack))),
  });

const paused = ({ name, title, harms, partsOf, gone, does }: Process): Fault =>
  defineFault({
    name: `${name}-paused`,
    about: `${title} stands still for ${pauseMs / 1_000} s (SIGSTOP), as a machine that swaps or is moved`,
    sees: `${gone} Connections to it stay open: no peer is notified, deadlines detect it. Afterwards the process continues where it was.`,
    does: `Look for what held the machine: swapping, a full disk queue, a migration by the hypervisor. ${does}`,
    harms: [harms],
    run: ({ stack, pick }) => pause(pick(partsOf(stack))),
  });

export const processFaults: readonly Fault[] = processes.flatMap((process) => [
  killed(process),
  killedTwice(process),
  paused(process),
]);

const awayMs = 20_000;

/** A server that is gone for a while. */
export const awayFaults: readonly Fault[] = processes
  .filter(({ harms }) => harms === 'log' || harms === 'postgres')
  .map(({ name, title, harms, partsOf, gone, shows, does }) =>
    defineFault({
      name: `${name}-away`,
      about: `${title} is gone for ${awayMs / 1_000} s`,
      sees: `${gone} ${shows}`,
      does,
      harms: [harms],
      run: ({ stack, pick }) => keepAway(pick(partsOf(stack)), awayMs),
    }),
  );

const everything = (stack: FaultStack): readonly Part[] => [...stack.log, stack.postgres, ...servicesOf(stack)];

const all = {
  sees: 'Clients cannot connect until a gateway is back; then everything goes on where it was, in whatever order the processes come up. What was in flight is sent a second time, under its `Idempotency-Key`.',
  does: 'Nothing for the data: no start has to wait for another one. `npm run doctor` once it is up.',
  harms: ['gateways', 'pipelines', 'control-plane', 'log', 'postgres'],
} as const;

export const allKilled = defineFault({
  name: 'all-killed',
  about: 'every process gets SIGKILL in one moment',
  ...all,
  async run({ stack }) {
    kill(...everything(stack));
  },
});

export const allKilledTwice = defineFault({
  name: 'all-killed-twice',
  about: 'every process gets SIGKILL in one moment, and again when all have been restarted',
  ...all,
  run: ({ stack }) => killTwice(...everything(stack)),
});
