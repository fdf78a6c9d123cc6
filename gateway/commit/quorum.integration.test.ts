import { afterEach, expect, test } from 'vitest';
import { streams } from '../../shared/nats/streams/topology.ts';
import { startTestNodes } from '../../shared/testing/nats-nodes.ts';
import type { TestNode } from '../../shared/testing/nats-nodes.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { until } from '../../shared/testing/until.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';
import { client } from '../../shared/nats/connection/client.ts';

const { token } = testSources.server;

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUps.splice(0).toReversed()) await step();
});

/** Starts three nodes. Returns them by name. */
async function startNodes() {
  const { url, nodes, stop } = await startTestNodes();
  cleanUps.push(stop);
  return {
    urls: url,
    node(name: string): TestNode {
      const found = nodes.find((each) => each.name === name);
      if (found === undefined) throw new Error(`no node is called ${name}`);
      return found;
    },
    others: (name: string): readonly TestNode[] => nodes.filter((each) => each.name !== name),
  };
}

/** Starts clients that send one track after the other, and records the outcome of each track. */
function startLoad(gateway: GatewayUnderTest, clients = 8) {
  const accepted: { readonly id: string; readonly sentAtMs: number }[] = [];
  const refused = new Map<number, number>();
  const state = { stopped: false, sent: 0 };
  const client = async (): Promise<void> => {
    while (!state.stopped) {
      state.sent += 1;
      const id = `load-${state.sent}`;
      const sentAtMs = performance.now();
      const answer = await fetch(`${gateway.url}/api/v1/track`, {
        method: 'POST',
        body: JSON.stringify({ token, event: 'Counted', distinctId: id, userId: id }),
      });
      await answer.arrayBuffer();
      if (answer.status === 200) accepted.push({ id, sentAtMs });
      else refused.set(answer.status, (refused.get(answer.status) ?? 0) + 1);
      // Refusals come at once, so without a pause they would take all processor time.
      if (answer.status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    accepted,
    refused,
    async stop() {
      state.stopped = true;
      await running;
    },
  };
}

const leaderOf = async (log: TestLog): Promise<string> =>
  (await log.connection[client].jsm.streams.info(streams.ingest)).cluster?.leader ?? '';

test('quorum: with two of three nodes dead no request gets 200, and every accepted event is in the log once they are back', async () => {
  const { urls, node, others } = await startNodes();
  const log = await openTestLog(urls, 3);
  cleanUps.push(() => log.close());
  await log.publishSources(allTestSources);
  const gateway = await startGatewayHere(urls, { LOG_REPLICAS: '3', REQUEST_DEADLINE_MS: '2000' });
  cleanUps.push(() => gateway.stop());
  const load = startLoad(gateway);
  cleanUps.push(() => load.stop());
  for (let round = 1; round <= 2; round += 1) {
    const taken = load.accepted.length;
    await until('tracks are taken', () => load.accepted.length > taken + 200);
    let leader = '';
    await until('the log has a leader', async () => (leader = await leaderOf(log).catch(() => '')) !== '');
    const followers = others(leader);
    await Promise.all(followers.map((follower) => follower.kill()));
    const withoutQuorumMs = performance.now();
    const refusedBefore = load.refused.get(503) ?? 0;
    // With so many refusals, every client got one after the tries of a frame, and then some at once, without a try.
    await until('tracks are refused', () => (load.refused.get(503) ?? 0) > refusedBefore + 100);
    await until('some seconds have passed', () => performance.now() > withoutQuorumMs + 4_000);
    expect(load.accepted.filter(({ sentAtMs }) => sentAtMs > withoutQuorumMs)).toEqual([]);
    await node(leader).kill();
    await Promise.all(followers.map((follower) => follower.start()));
    const before = load.accepted.length;
    await until('tracks are taken by two nodes', () => load.accepted.length > before + 200);
    await node(leader).start();
  }
  await load.stop();
  expect([...load.refused.keys()]).toEqual([503]);
  const stored = new Set((await log.envelopes()).map(({ id }) => id));
  expect(load.accepted.filter(({ id }) => !stored.has(id))).toEqual([]);
}, 180_000);
