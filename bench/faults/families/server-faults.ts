import { kill, only, pause, startedAgain } from '../stack/actions.ts';
import { defineFault } from './fault.ts';
import { servicesOf } from '../stack/stack.ts';

export const natsKilled = defineFault({
  name: 'nats-killed',
  about: 'the only nats-server gets SIGKILL',
  async run({ stack }) {
    kill(only(stack.log));
  },
});

export const natsKilledTwice = defineFault({
  name: 'nats-killed-twice',
  about: 'the only nats-server gets SIGKILL, and again as soon as it is back',
  async run({ stack }) {
    const log = only(stack.log);
    const { starts } = log;
    kill(log);
    await startedAgain(log, starts);
    kill(log);
  },
});

export const natsPaused = defineFault({
  name: 'nats-paused',
  about: 'the only nats-server stands still for 20 s (SIGSTOP)',
  run: ({ stack }) => pause(only(stack.log)),
});

export const postgresKilled = defineFault({
  name: 'postgres-killed',
  about: 'PostgreSQL gets SIGKILL',
  async run({ stack }) {
    kill(stack.postgres);
  },
});

export const controlPlaneKilled = defineFault({
  name: 'control-plane-killed',
  about: 'the control plane gets SIGKILL',
  async run({ stack }) {
    kill(stack.controlPlane);
  },
});

export const allKilled = defineFault({
  name: 'all-killed',
  about: 'every process gets SIGKILL in one moment',
  async run({ stack }) {
    kill(...stack.log, stack.postgres, ...servicesOf(stack));
  },
});

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
