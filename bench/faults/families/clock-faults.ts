import { kill } from '../stack/actions.ts';
import { sleep } from '../../machine/wait-until.ts';
import { defineFault } from './fault.ts';

const hourMs = 3_600_000;
const heldMs = 10_000;

const words = {
  sees: '`SluiceClockJumped`, and `sluice_clock_last_jump_seconds` shows by how much. Events continue, as waits and deadlines use the monotonic clock, which cannot be set. Times in events and in health come from the wall clock.',
  does: 'Repair the machine’s time (chrony, systemd-timesyncd), then check the other machines’. Nothing has to be restarted.',
  harms: ['clocks', 'log'],
  hasMovableClocks: true,
} as const;

export const clockBackNatsKilled = defineFault({
  name: 'clock-back-nats-killed',
  about: 'the wall clock of every service is set back by an hour, and nats-server gets SIGKILL',
  ...words,
  async run({ stack, pick }) {
    await stack.setClocks(-hourMs);
    await kill(pick(stack.log));
  },
});

export const clockForwardAndBack = defineFault({
  name: 'clock-forward-and-back',
  about: `the wall clock of every service is set forward by an hour, nats-server gets SIGKILL, and ${heldMs / 1_000} s later the clock is set right`,
  ...words,
  async run({ stack, pick }) {
    await stack.setClocks(hourMs);
    try {
      await kill(pick(stack.log));
      await sleep(heldMs);
    } finally {
      await stack.setClocks(0);
    }
  },
});
