import { kill, only, pause } from '../stack/actions.ts';
import { defineFault } from './fault.ts';

export const nothing = defineFault({
  name: 'nothing',
  about: 'nothing goes wrong: what the other rows are to be held against',
  run: () => Promise.resolve(),
});

export const gatewayKilled = defineFault({
  name: 'gateway-killed',
  about: 'the only gateway gets SIGKILL',
  async run({ stack }) {
    kill(only(stack.gateways));
  },
});

export const gatewayPaused = defineFault({
  name: 'gateway-paused',
  about: 'the only gateway stands still for 20 s (SIGSTOP)',
  run: ({ stack }) => pause(only(stack.gateways)),
});
