import { sleep } from '../../machine/wait-until.ts';
import { takeDown } from '../stack/actions.ts';
import { defineFault } from './fault.ts';

const standbyForMs = 10_000;

export const postgresFailedOver = defineFault({
  name: 'postgres-failed-over',
  about: `PostgreSQL dies for good, its address leads to a standby at once, and that is promoted ${standbyForMs / 1_000} s later`,
  sees: 'Until the standby is promoted, as while PostgreSQL is away: `retrying` in the logs says `the server at DATABASE_URL takes no writes`, where the address leads there already. No session with such a server is kept, so that everything goes on within a second or two of the promotion, or of the address leading to the right server.',
  does: 'Nothing for the events. Have DATABASE_URL name an address that follows the server that leads. Replicate synchronously: writes that the lost server had acknowledged and its standby did not have are lost; if a version was published then, publish the next one.',
  harms: ['postgres'],
  hasNetwork: true,
  hasStandby: true,
  async run({ stack, say }) {
    await takeDown(stack.postgres);
    stack.leadDatabaseTo(stack.standby);
    await sleep(standbyForMs);
    await stack.standby.promote();
    say('the standby leads');
  },
  async check({ stack }) {
    try {
      await stack.control.publish();
      return undefined;
    } catch (error) {
      return `a version cannot be published after it: ${(error as Error).message}`;
    }
  },
});
