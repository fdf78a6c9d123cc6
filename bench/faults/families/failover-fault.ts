import { sleep } from '../../machine/wait-until.ts';
import { takeDown } from '../stack/actions.ts';
import { defineFault } from './fault.ts';

const standbyForMs = 10_000;

export const postgresFailedOver = defineFault({
  name: 'postgres-failed-over',
  about: `PostgreSQL is lost; its address leads to a standby at once, which is promoted ${standbyForMs / 1_000} s later`,
  sees: 'Until the standby is promoted, the same as while PostgreSQL is away. Once the address leads to the standby, `retrying` log lines have `the server at DATABASE_URL accepts no writes`. Services keep no session with such a server, so everything continues a second or two after the promotion, or after the address leads to the right server.',
  does: 'The events need no repair. Set DATABASE_URL to an address that follows the primary. Replicate synchronously: otherwise writes that the lost server acknowledged before its standby had them are lost. If a version was among them, publish again.',
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
      return `a version cannot be published after the failover: ${(error as Error).message}`;
    }
  },
});
