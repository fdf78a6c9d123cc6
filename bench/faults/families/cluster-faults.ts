import { streams } from '../../../shared/nats/streams/topology.ts';
import { sleep, waitUntil } from '../../machine/wait-until.ts';
import { kill, startedAgain } from '../stack/actions.ts';
import { defineFault } from './fault.ts';
import type { LogNode } from '../stack/stack-parts.ts';

const nodes = 3;
const withoutQuorumMs = 6_000;
const electionDeadlineMs = 30_000;

export const clusterFollowerKilled = defineFault({
  name: 'cluster-follower-killed',
  about: 'of three nodes one that does not lead INGEST gets SIGKILL',
  nodes,
  async run({ stack }) {
    const { followers } = await rolesIn(stack.log);
    kill(...followers.slice(0, 1));
  },
});

export const clusterLeaderKilled = defineFault({
  name: 'cluster-leader-killed',
  about: 'of three nodes the one that leads INGEST gets SIGKILL',
  nodes,
  async run({ stack }) {
    const { leader } = await rolesIn(stack.log);
    kill(leader);
  },
});

export const clusterQuorumLost = defineFault({
  name: 'cluster-quorum-lost',
  about: 'both followers of INGEST are killed, its leader 6 s later; the followers come back, and then the leader',
  nodes,
  async run({ stack, say }) {
    const { leader, followers } = await rolesIn(stack.log);
    const starts = followers.map((follower) => follower.starts);
    for (const node of stack.log) node.hold();
    kill(...followers);
    await sleep(withoutQuorumMs);
    kill(leader);
    for (const follower of followers) follower.release();
    await Promise.all(followers.map((follower, index) => startedAgain(follower, starts[index] ?? 0)));
    await waitUntil('the followers to lead', electionDeadlineMs, async () => {
      const leaders = [streams.ingest, streams.events].map((stream) => findStreamLeader(followers, stream));
      return (await Promise.all(leaders)).includes(undefined) ? 'a stream has no leader' : undefined;
    });
    say('both streams have a leader among the followers; the old one comes back');
    leader.release();
  },
});

export const clusterAllKilled = defineFault({
  name: 'cluster-all-killed',
  about: 'all three nodes get SIGKILL in one moment',
  nodes,
  async run({ stack }) {
    kill(...stack.log);
  },
});

async function rolesIn(log: readonly LogNode[]): Promise<{ leader: LogNode; followers: readonly LogNode[] }> {
  const leader = await findStreamLeader(log, streams.ingest);
  if (leader === undefined) throw new Error('the stream INGEST has no leader to begin with');
  return { leader, followers: log.filter((node) => node !== leader) };
}

type Page = {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name?: string; readonly cluster?: { readonly leader?: string } }[];
  }[];
};

const askMs = 2_000;

/** The node that leads a stream, by the word of the others that answer; undefined: none, or nobody answers. */
async function findStreamLeader(nodes: readonly LogNode[], stream: string): Promise<LogNode | undefined> {
  for (const { monitorUrl } of nodes) {
    const name = await readLeader(monitorUrl, stream).catch(() => undefined);
    const leader = nodes.find(({ serverName, pid }) => serverName === name && pid !== 0);
    if (leader !== undefined) return leader;
  }
  return undefined;
}

async function readLeader(monitorUrl: string, stream: string): Promise<string | undefined> {
  const answer = await fetch(`${monitorUrl}/jsz?streams=true&accounts=true`, { signal: AbortSignal.timeout(askMs) });
  const { account_details: accounts = [] } = (await answer.json()) as Page;
  const found = accounts.flatMap(({ stream_detail: streams = [] }) => streams).find(({ name }) => name === stream);
  return found?.cluster?.leader;
}
