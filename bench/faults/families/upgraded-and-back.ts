import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logFormat } from '../../../shared/contracts/log-format.ts';
import { sleep } from '../../machine/wait-until.ts';
import { restartInTurn } from '../stack/actions.ts';
import { servicesOf } from '../stack/stack.ts';
import { defineFault } from './fault.ts';

const betweenMs = 5_000;
/** Variables that the runbook sets for pipelines while some pipelines still run the previous version. */
const besideOlder = { RESOLVER_VISITORS_ONCE: 'false', RESOLVER_COMPRESSION: 'off' };

export const upgradedAndBack = defineFault({
  name: 'upgraded-and-back',
  about:
    'a stack of another version (--previous) is upgraded to this one, service by service under load and in the runbook’s order, then rolled back and upgraded again',
  sees: 'As a rolling restart. `sluice_build_info` and `/livez` show the version of each process.',
  does: 'Run `npm run upgrade-check` first, and follow the order of [start-stop-upgrade.md](start-stop-upgrade.md).',
  harms: ['gateways', 'pipelines', 'control-plane'],
  needs: { previous: true },
  beginsWithPrevious: true,
  gateways: 2,
  pipelines: 2,
  async run({ stack, previous, say }) {
    const services = servicesOf(stack);
    // The runbook upgrades control planes first and gateways last, and rolls back in the reverse order.
    const forward = services.toReversed();
    const canGoBack = previous !== undefined && (await logFormatOf(previous)) >= logFormat;
    if (!canGoBack)
      say('the other version reads an older format of the log and refuses to start on this log: no rollback');
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
      await sleep(betweenMs);
    }
  },
});

async function logFormatOf(checkout: string): Promise<number> {
  const source = await readFile(join(checkout, 'shared/contracts/log-format.ts'), 'utf8');
  return Number(/logFormat = (\d+)/.exec(source)?.[1]);
}
