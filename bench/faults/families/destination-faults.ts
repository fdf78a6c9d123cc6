import { sleep } from '../../machine/wait-until.ts';
import type { Behaviour } from '../stack/destination.ts';
import { defineFault } from './fault.ts';
import type { Fault } from './fault.ts';

const troubleMs = 10_000;

/** One of the two destinations behaves so for a while; the other is well all the time. */
const troubled = (name: string, about: string, behaviour: Behaviour): Fault =>
  defineFault({
    name,
    about: `one of two destinations ${about}, for ${troubleMs / 1_000} s`,
    async run({ stack }) {
      stack.troubled.behave(behaviour);
      await sleep(troubleMs);
      stack.troubled.behave({ kind: 'take' });
    },
  });

export const destinationRefusing = troubled('destination-refusing', 'answers 503', { kind: 'refuse', status: 503 });

export const destinationHanging = troubled('destination-hanging', 'does not answer', { kind: 'hang' });

export const destinationFlapping = troubled('destination-flapping', 'answers 503 every other second', {
  kind: 'flap',
  everyMs: 1_000,
});

export const destinationThrottling = troubled(
  'destination-throttling',
  'takes 50 a second and answers 429 with Retry-After: 2 beyond that',
  { kind: 'throttle', perS: 50, retryAfterS: 2 },
);
