import { sleep } from '../../machine/wait-until.ts';
import { restartInTurn } from '../stack/actions.ts';
import { servicesOf } from '../stack/stack.ts';
import { defineFault } from './fault.ts';

const betweenMs = 5_000;
/** What the runbook has pipelines be told while some of the version before run. */
const besideOlder = { RESOLVER_VISITORS_ONCE: 'false', RESOLVER_COMPRESSION: 'off' };

export const upgradedAndBack = defineFault({
  name: 'upgraded-and-back',
  about:
    'a stack of another version (--previous) goes over to this one, service by service under load and in the runbook’s order, back again, and over for good',
  sees: 'As a rolling restart. `sluice_build_info` and `/livez` say which version each process is.',
  does: '`npm run upgrade-check` before, and the order of [start-stop-upgrade.md](start-stop-upgrade.md).',
  harms: ['gateways', 'pipelines', 'control-plane'],
  needs: { previous: true },
  beginsWithPrevious: true,
  gateways: 2,
  pipelines: 2,
  async run({ stack, previous, say }) {
    const services = servicesOf(stack);
    for (const [what, run] of [
      ['this version', { env: besideOlder }],
      ['the other version again', { env: {}, checkout: previous }],
      ['this version, for good', { env: besideOlder }],
      ['this version, with nothing to look out for', { env: {} }],
    ] as const) {
      say(`${what}, service by service`);
      for (const service of services) service.runAs({ checkout: undefined, ...run });
      await restartInTurn(services);
      await sleep(betweenMs);
    }
  },
});
