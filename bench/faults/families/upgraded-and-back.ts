import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logFormat } from '../../../shared/contracts/log-format.ts';
import { sleep, waitUntil } from '../../machine/wait-until.ts';
import type { Arrival } from '../judge/judge.ts';
import { restartInTurn } from '../stack/actions.ts';
import { startFaultDestination } from '../stack/destination.ts';
import type { FaultDestination } from '../stack/destination.ts';
import { servicesOf } from '../stack/stack.ts';
import type { FaultStack } from '../stack/stack.ts';
import { defineFault } from './fault.ts';

const betweenMs = 5_000;
const deadlineMs = 120_000;
const replayLookMs = 250;
/** Variables that the runbook sets for pipelines while some pipelines still run the previous version. */
const besideOlder = { RESOLVER_VISITORS_ONCE: 'false', RESOLVER_COMPRESSION: 'off' };

export const upgradedAndBack = defineFault({
  name: 'upgraded-and-back',
  about:
    'a stack of another version (--previous), in which events wait for a retry and others are dead letters, is upgraded to this one, service by service under load and in the runbook’s order, then rolled back, if the other version reads this one’s log, and upgraded again',
  sees: 'As a rolling restart. `sluice_build_info` and `/livez` show the version of each process.',
  does: 'Run `npm run upgrade-check` first, and follow the order of [start-stop-upgrade.md](start-stop-upgrade.md).',
  harms: ['gateways', 'pipelines', 'control-plane', 'destination'],
  needs: { previous: true },
  beginsWithPrevious: true,
  gateways: 2,
  pipelines: 2,
  async run({ stack, previous, say, remark }) {
    const services = servicesOf(stack);
    // The runbook upgrades control planes first and gateways last, and rolls back in the reverse order.
    const forward = services.toReversed();
    const canGoBack = previous !== undefined && (await logFormatOf(previous)) >= logFormat;
    // The other version refuses to start on a log with a newer format than its own.
    if (!canGoBack) remark('no rollback: log format');
    const refusing = await startFaultDestination('refusing');
    try {
      const { id, from } = await refuse(stack, refusing);
      for (const [what, run] of [
        ['this version', { order: forward, env: besideOlder }],
        ...(canGoBack ? [['the other version again', { order: services, env: {}, checkout: previous }] as const] : []),
        ['this version again', { order: forward, env: besideOlder }],
        ['this version, without the settings for mixed versions', { order: forward, env: {} }],
      ] as const) {
        say(`${what}, service by service`);
        const { order, ...as } = run;
        for (const service of services) service.runAs({ checkout: undefined, ...as });
        await restartInTurn(order);
        for (const each of [stack.troubled, refusing]) each.behave({ kind: 'take' });
        await sleep(betweenMs);
      }
      await replayLetters(stack, { refusing, id, from });
    } finally {
      await refusing.close();
    }
  },
});

/**
 * Makes events wait for a retry at the controlled destination, and become dead letters at a new one. Returns the new
 * one's id, and the number of events that the steady destination had taken before.
 */
async function refuse(
  { control, steady, troubled }: FaultStack,
  refusing: FaultDestination,
): Promise<{ readonly id: string; readonly from: number }> {
  refusing.behave({ kind: 'refuse', status: 400 });
  const settings = { httpDestinationUrl: refusing.url };
  const { id } = await control.call('POST', 'destinations', { name: 'refusing', type: 'HTTPDestination', settings });
  await control.publish();
  await waitUntil('events to become dead letters', deadlineMs, () =>
    Promise.resolve(refusing.asked > 0 ? undefined : 'the destination got no request'),
  );
  troubled.behave({ kind: 'refuse', status: 503 });
  // Events from before the publication, which the new destination does not get, have arrived by then.
  await sleep(betweenMs);
  const from = steady.taken.length;
  await sleep(betweenMs);
  return { id: String(id), from };
}

type Letters = { readonly refusing: FaultDestination; readonly id: string; readonly from: number };

/** Replays the dead letters, and waits until the destination has all that the steady one has taken since `from`. */
async function replayLetters({ control, steady }: FaultStack, { refusing, id, from }: Letters): Promise<void> {
  const eventOf = ({ visitor, number }: Arrival): string => `${visitor}/${number}`;
  const wanted = steady.taken.slice(from).map(eventOf);
  await control.call('POST', `destinations/${id}/replay`, { what: 'dead-letters' });
  const check = (): Promise<string | undefined> => {
    const taken = new Set(refusing.taken.map(eventOf));
    const missing = wanted.filter((event) => !taken.has(event));
    return Promise.resolve(missing.length === 0 ? undefined : `${missing.length} are missing, first ${missing[0]}`);
  };
  await waitUntil('every dead letter to be delivered by its replay', deadlineMs, check, replayLookMs);
}

async function logFormatOf(checkout: string): Promise<number> {
  const source = await readFile(join(checkout, 'shared/contracts/log-format.ts'), 'utf8');
  return Number(/logFormat = (\d+)/.exec(source)?.[1]);
}
