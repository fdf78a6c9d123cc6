import { sleep } from '../../machine/wait-until.ts';
import { kill, pause } from '../stack/actions.ts';
import type { Between } from '../stack/network.ts';
import { defineFault } from './fault.ts';
import type { Fault } from './fault.ts';

const takeOver =
  'The other pipeline takes over its actors within about four seconds; events in flight are sent a second time, under their `Idempotency-Key`.';

export const twoPipelinesOneKilled = defineFault({
  name: 'two-pipelines-one-killed',
  about: 'one of two pipelines gets SIGKILL',
  sees: `One instance is missing among the leases. ${takeOver}`,
  does: 'The data needs no repair.',
  harms: ['pipelines'],
  pipelines: 2,
  async run({ stack, pick }) {
    await kill(pick(stack.pipelines));
  },
});

export const twoPipelinesOnePaused = defineFault({
  name: 'two-pipelines-one-paused',
  about: 'one of two pipelines is stopped for 20 s (SIGSTOP)',
  sees: `${takeOver} When the stopped pipeline continues, the log refuses its writes and it ends. It does no harm, although it did not know of its successor.`,
  does: 'Find out what stopped the machine.',
  harms: ['pipelines'],
  pipelines: 2,
  run: ({ stack, pick }) => pause(pick(stack.pipelines)),
});

const cutMs = 20_000;

type CutOff = { readonly name: string; readonly from: string; readonly sees: string; readonly isCut: Between };

/** A fault in which one of two pipelines cannot reach something that the other one can. */
const cutOff = ({ name, from, sees, isCut }: CutOff): Fault =>
  defineFault({
    name,
    about: `one of two pipelines is cut off from ${from} alone, for ${cutMs / 1_000} s`,
    sees,
    does: 'Check the network between that machine and the one it does not reach. If this lasts, stop that pipeline: the other one has its work or takes it over.',
    harms: ['pipelines', 'network'],
    pipelines: 2,
    hasNetwork: true,
    async run({ stack, pick }) {
      const { name: pipeline } = pick(stack.pipelines);
      const heal = stack.network.trouble({ kind: 'cut' }, (one, other) => one === pipeline && isCut(one, other));
      await sleep(cutMs);
      heal();
    },
  });

export const pipelineCutFromLog = cutOff({
  name: 'pipeline-cut-off-from-log',
  from: 'the log',
  sees: `Its \`/readyz\` shows that NATS is not connected, its lease expires, and it restarts. ${takeOver}`,
  isCut: (_one, other) => other.startsWith('nats-server'),
});

export const pipelineCutFromPostgres = cutOff({
  name: 'pipeline-cut-off-from-postgres',
  from: 'PostgreSQL',
  sees: 'It keeps its lease, and so its partitions. Their events wait (`sluice_partition_backlog_age_seconds` rises for half of the partitions) until it reaches PostgreSQL again. Both pipelines continue to deliver.',
  isCut: (_one, other) => other === 'PostgreSQL',
});
