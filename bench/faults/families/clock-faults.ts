import { kill, only } from '../stack/actions.ts';
import { defineFault } from './fault.ts';

const hourMs = 3_600_000;

export const clockBackNatsKilled = defineFault({
  name: 'clock-back-nats-killed',
  about: 'the wall clock of every service is set back by an hour, and nats-server gets SIGKILL',
  hasMovableClocks: true,
  async run({ stack }) {
    await stack.setClocks(-hourMs);
    kill(only(stack.log));
  },
});
