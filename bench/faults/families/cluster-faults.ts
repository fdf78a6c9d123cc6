import { streams } from '../../../shared/nats/streams/topology.ts';
import { sleep, waitUntil } from '../../machine/wait-until.ts';
import { kill, untilRunning } from '../stack/actions.ts';
import { findStreamLeader, rolesIn } from '../stack/cluster-roles.ts';
import { defineFault } from './fault.ts';

const nodes = 3;
const harms = ['log', 'network'] as const;
const withoutQuorumMs = 6_000;
const electionDeadlineMs = 30_000;
const cutMs = 15_000;

const doctor = 'Do not touch another node until `npm run doctor` reports all copies up to date.';

export const clusterFollowerKilled = defineFault({
  name: 'cluster-follower-killed',
  about: 'one of three nodes, a follower of INGEST, gets SIGKILL',
  sees: 'Almost nothing: two of three copies are enough. `sluice_log_server_check` names the node; services that were connected to it connect to another.',
  does: `Bring the node back. ${doctor}`,
  harms,
  nodes,
  async run({ stack }) {
    const { followers } = await rolesIn(stack.log);
    await kill(...followers.slice(0, 1));
  },
});

export const clusterLeaderKilled = defineFault({
  name: 'cluster-leader-killed',
  about: 'one of three nodes, the leader of INGEST, gets SIGKILL',
  sees: 'For some seconds, until a new leader is elected, gateways answer late or 503 with `Retry-After`; then everything continues on two nodes.',
  does: `Bring the node back. ${doctor}`,
  harms,
  nodes,
  async run({ stack }) {
    const { leader } = await rolesIn(stack.log);
    await kill(leader);
  },
});

export const clusterLeaderCutOff = defineFault({
  name: 'cluster-leader-cut-off',
  about: `one of three nodes, the leader of INGEST, cannot reach the other two for ${cutMs / 1_000} s; services reach all three`,
  sees: 'Requests that lead to this node time out or get 503: alone it has no quorum and acknowledges nothing. The other two elect a leader. Its connections and `/healthz` look healthy for a while.',
  does: `Repair the network between the nodes. Nothing has to be restarted; the separated node acknowledged nothing meanwhile. ${doctor}`,
  harms,
  nodes,
  hasNetwork: true,
  async run({ stack }) {
    const { leader } = await rolesIn(stack.log);
    const isNode = (name: string): boolean => stack.log.some((node) => node.name === name);
    const heal = stack.network.trouble(
      { kind: 'cut' },
      (from, to) => isNode(from) && isNode(to) && (from === leader.name || to === leader.name),
    );
    await sleep(cutMs);
    heal();
  },
});

export const clusterQuorumLost = defineFault({
  name: 'cluster-quorum-lost',
  about: 'both followers of INGEST are killed, its leader 6 s later; the followers come back, and then the leader',
  sees: 'Without two of three nodes nothing is acknowledged: 503 with `Retry-After`, gateways are not ready. Once two nodes are back, everything continues.',
  does: `Bring the nodes back with their data, any two of them first. Never replace two at once with empty ones. ${doctor}`,
  harms,
  nodes,
  async run({ stack, say }) {
    const { leader, followers } = await rolesIn(stack.log);
    await untilRunning(...stack.log);
    for (const node of stack.log) node.hold();
    try {
      await kill(...followers);
      await sleep(withoutQuorumMs);
      await kill(leader);
      for (const follower of followers) follower.release();
      await untilRunning(...followers);
      await waitUntil('the followers to lead', electionDeadlineMs, async () => {
        const leaders = [streams.ingest, streams.events].map((stream) => findStreamLeader(followers, stream));
        return (await Promise.all(leaders)).includes(undefined) ? 'a stream has no leader' : undefined;
      });
      say('both streams have a leader among the followers; the old one comes back');
    } finally {
      for (const node of stack.log) node.release();
    }
  },
});

export const clusterAllKilled = defineFault({
  name: 'cluster-all-killed',
  about: 'all three nodes get SIGKILL at once',
  sees: 'As `nats-killed`, but some seconds longer, until leaders are elected.',
  does: `The data needs no repair: each node syncs before it acknowledges. ${doctor}`,
  harms,
  nodes,
  async run({ stack }) {
    await kill(...stack.log);
  },
});
