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
  /** Effects while the process is gone or stopped. */
  readonly gone: string;
  /** Further signs that the process was gone. */
  readonly shows: string;
  readonly does: string;
};

const processes: readonly Process[] = [
  {
    name: 'gateway',
    title: 'the only gateway',
    harms: 'gateways',
    partsOf: ({ gateways }) => gateways,
    gone: 'Clients cannot connect, or get no answer. No acknowledged event is lost.',
    shows:
      '`SluiceScrapeMissing` if it lasts, and a jump of `process_start_time_seconds`. Clients that retry unanswered requests lose nothing.',
    does: 'Run two or more gateways behind a load balancer that checks `/readyz`, to avoid this. If a gateway restarts by itself, read the last log lines before its start; exit code 78 means that a restart cannot help.',
  },
  {
    name: 'pipeline',
    title: 'the only pipeline',
    harms: 'pipelines',
    partsOf: ({ pipelines }) => pipelines,
    gone: 'Events are accepted and wait in the log; nothing is delivered. Only pipelines export backlogs: `GET /rest/v1/system/partitions` shows how long events wait.',
    shows:
      '`SluiceScrapeMissing` if it lasts. Afterwards `sluice_dispatcher_repeated_events_total` has grown by the events in flight, which were sent a second time under the same `Idempotency-Key`.',
    does: 'The data needs no repair. A second pipeline takes over the work within about four seconds. If pipelines keep dying, `SluiceActorsCrashLooping` and the log name the actor that ran.',
  },
  {
    name: 'nats',
    title: 'the only nats-server',
    harms: 'log',
    partsOf: ({ log }) => log,
    gone: 'Gateways answer 503 with `Retry-After` and are not ready (`/readyz`: `NATS at NATS_URL is not connected`); deliveries stop.',
    shows: '`SluiceLogDisconnected` if it lasts. Services reconnect within a second of the server’s return.',
    does: 'Find out why nats-server ended (its own log, the kernel’s for the OOM killer). `npm run doctor` shows whether it is healthy again. With three nodes and `LOG_REPLICAS=3`, losing one is only a short pause for clients.',
  },
  {
    name: 'postgres',
    title: 'PostgreSQL',
    harms: 'postgres',
    partsOf: ({ postgres }) => [postgres],
    gone: 'Events are accepted. If a pipeline has the visitor in its cache, the event is delivered; other events wait in INGEST. The configuration interface answers 503.',
    shows:
      'The control plane’s `/readyz` shows `PostgreSQL at DATABASE_URL does not answer`; the partition backlog grows.',
    does: 'Bring PostgreSQL back; everything continues by itself. Watch INGEST against `LOG_INGEST_BYTES_MAX` during a long outage: gateways answer 429 to an account that fills more than half of it (`LOG_ACCOUNT_SHARE_PERCENT`), and 503 once it is full.',
  },
  {
    name: 'control-plane',
    title: 'the control plane',
    harms: 'control-plane',
    partsOf: ({ controlPlane }) => [controlPlane],
    gone: 'The console and the configuration interface do not answer. Events are accepted and delivered as last configured.',
    shows: '`SluiceScrapeMissing` if it lasts.',
    does: 'The data needs no repair. A second control plane takes over publishing within a second.',
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
      await kill(pick(partsOf(stack)));
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
    about: `${title} is stopped for ${pauseMs / 1_000} s (SIGSTOP), as when a machine swaps or migrates`,
    sees: `${gone} Its connections stay open: only deadlines detect this. Then the process continues where it stopped.`,
    does: `Find out what stopped the machine: swapping, a full disk queue, a live migration. ${does}`,
    harms: [harms],
    run: ({ stack, pick }) => pause(pick(partsOf(stack))),
  });

export const processFaults: readonly Fault[] = processes.flatMap((process) => [
  killed(process),
  killedTwice(process),
  paused(process),
]);

const awayMs = 20_000;

/** Faults in which a server of the log or PostgreSQL is gone for a while. */
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
  sees: 'Clients cannot connect until a gateway is back; then everything continues where it stopped, in whatever order the processes start. Events in flight are sent a second time, under their `Idempotency-Key`.',
  does: 'The data needs no repair, and processes can start in any order. Run `npm run doctor` once they are up.',
  harms: ['gateways', 'pipelines', 'control-plane', 'log', 'postgres'],
} as const;

export const allKilled = defineFault({
  name: 'all-killed',
  about: 'every process gets SIGKILL at once',
  ...all,
  async run({ stack }) {
    await kill(...everything(stack));
  },
});

export const allKilledTwice = defineFault({
  name: 'all-killed-twice',
  about: 'every process gets SIGKILL at once, and again when all have been restarted',
  ...all,
  run: ({ stack }) => killTwice(...everything(stack)),
});
