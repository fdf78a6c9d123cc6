import { streams } from '../../../shared/nats/streams/topology.ts';
import { sleep } from '../../machine/wait-until.ts';
import type { LogNode } from './stack-parts.ts';

type Page = {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name?: string; readonly cluster?: { readonly leader?: string } }[];
  }[];
};

const askMs = 2_000;
const electionDeadlineMs = 30_000;
const lookEveryMs = 100;

/** The leader and the followers of INGEST. Waits for a leader; throws if none is elected before the deadline. */
export async function rolesIn(log: readonly LogNode[]): Promise<{ leader: LogNode; followers: readonly LogNode[] }> {
  const deadline = performance.now() + electionDeadlineMs;
  for (;;) {
    const leader = await findStreamLeader(log, streams.ingest);
    if (leader !== undefined) return { leader, followers: log.filter((node) => node !== leader) };
    if (performance.now() > deadline) throw new Error('the stream INGEST has no leader to begin with');
    await sleep(lookEveryMs);
  }
}

/** The leader of a stream as reported by the nodes; undefined if there is no leader, or no node answers. */
export async function findStreamLeader(nodes: readonly LogNode[], stream: string): Promise<LogNode | undefined> {
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
