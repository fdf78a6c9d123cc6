import { sleep } from '../../machine/wait-until.ts';
import { kill, keepAway } from '../stack/actions.ts';
import { defineFault } from './fault.ts';

const slowMs = 100;
const slowForMs = 15_000;

export const postgresSlow = defineFault({
  name: 'postgres-slow',
  about: `every exchange with PostgreSQL takes ${2 * slowMs} ms longer, for ${slowForMs / 1_000} s`,
  sees: 'Deliveries are late by PostgreSQL’s delay. Resolvers look up visitors once per batch, not per event, so frames grow and the backlog stays bounded. `sluice_database_waiting_queries` rises.',
  does: 'Check PostgreSQL: locks, its disk, its network. Nothing is refused unless INGEST fills up.',
  harms: ['network', 'postgres'],
  hasNetwork: true,
  async run({ stack }) {
    const heal = stack.network.trouble({ kind: 'slow', ms: slowMs }, (_from, to) => to === 'PostgreSQL');
    await sleep(slowForMs);
    heal();
  },
});

export const natsSlow = defineFault({
  name: 'nats-slow',
  about: `every exchange with nats-server takes ${2 * slowMs} ms longer, for ${slowForMs / 1_000} s`,
  sees: 'Every request waits until it is stored: answers take that much longer, and frames grow. Nothing is refused.',
  does: 'Check the network to the log, and its disk (the doctor times it).',
  harms: ['network', 'log'],
  hasNetwork: true,
  async run({ stack }) {
    const heal = stack.network.trouble({ kind: 'slow', ms: slowMs }, (_from, to) => to.startsWith('nats-server'));
    await sleep(slowForMs);
    heal();
  },
});

const namesGoneMs = 15_000;
const awayMs = 2_000;

export const nameServerGone = defineFault({
  name: 'name-server-gone',
  about: `name resolution fails for ${namesGoneMs / 1_000} s, and every connection to log, database and destinations is closed meanwhile`,
  sees: 'New connections fail: gateways answer 503, deliveries fail with `network EAI_AGAIN` and are retried. Existing connections are not affected.',
  does: 'Bring the name server back; everything reconnects by itself. IP addresses in NATS_URL and DATABASE_URL, or a resolver on each machine, avoid the risk.',
  harms: ['network', 'log', 'postgres', 'destination'],
  hasNames: true,
  async run({ stack, pick }) {
    await stack.setNames('gone');
    try {
      stack.steady.disconnect();
      stack.troubled.disconnect();
      await kill(stack.postgres);
      await keepAway(pick(stack.log), awayMs);
      await sleep(namesGoneMs - awayMs);
    } finally {
      await stack.setNames('known');
    }
  },
});
