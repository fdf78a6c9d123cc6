import { sleep } from '../../machine/wait-until.ts';
import type { Behaviour } from '../stack/destination.ts';
import { defineFault } from './fault.ts';
import type { Fault } from './fault.ts';

const troubleMs = 10_000;

const general =
  'Other destinations are not affected, and events are still accepted. The destination’s health shows the failed attempts with their reason; its events wait in the retry log (`sluice_destination_retries_waiting_frames`), in order, and `SluiceDestinationUnhealthy` fires if this lasts. It catches up by itself.';

const harms = ['destination'] as const;

/** A fault in which one of the two destinations behaves in a given way for a while; the other one stays healthy. */
const troubled = (name: string, about: string, words: Pick<Fault, 'sees' | 'does'>, behaviour: Behaviour): Fault =>
  defineFault({
    name,
    about: `one of two destinations ${about}, for ${troubleMs / 1_000} s`,
    ...words,
    harms,
    async run({ stack }) {
      stack.troubled.behave(behaviour);
      await sleep(troubleMs);
      stack.troubled.behave({ kind: 'take' });
    },
  });

const wait = 'Nothing if the destination recovers within the retry window. After that, replay the dead letters.';

export const destinationRefusing = troubled(
  'destination-refusing',
  'answers 503',
  { sees: `${general} Its breaker opens: events wait in the log and are not tried one by one.`, does: wait },
  { kind: 'refuse', status: 503 },
);

export const destinationHanging = troubled(
  'destination-hanging',
  'does not answer',
  { sees: `${general} The reason is a timeout.`, does: wait },
  { kind: 'hang' },
);

export const destinationSlow = troubled(
  'destination-slow',
  'takes 3 s to answer',
  {
    sees: 'Its delivery time rises (`sluice_dispatch_duration_seconds`), and its backlog too if it accepts fewer events per second than arrive. No attempt fails.',
    does: 'If the backlog grows all day: raise `DISPATCH_CONCURRENCY`, or use batches if the kind supports them.',
  },
  { kind: 'take', afterMs: 3_000 },
);

export const destinationFlapping = troubled(
  'destination-flapping',
  'answers 503 every other second',
  { sees: general, does: wait },
  { kind: 'flap', everyMs: 1_000 },
);

export const destinationThrottling = troubled(
  'destination-throttling',
  'accepts 50 requests per second and answers 429 with Retry-After: 2 beyond that',
  {
    sees: `${general} The reason is 429; the requested wait is observed.`,
    does: 'Ask the platform for a higher limit, or send it less (rules, sampling) if the backlog never empties.',
  },
  { kind: 'throttle', perS: 50, retryAfterS: 2 },
);

export const destinationResetting = troubled(
  'destination-resetting',
  'breaks connections, half of them in the middle of a 200 answer',
  {
    sees: `${general} The reason is \`network ECONNRESET\` or the like. Events that it accepted before the connection broke are sent once more, under the same \`Idempotency-Key\`.`,
    does: 'Check the proxy in front of the platform, the usual cause.',
  },
  { kind: 'reset' },
);

export const destinationEndless = troubled(
  'destination-endless',
  'answers 200 and sends an endless body',
  {
    sees: 'Nothing, or attempts that end at their deadline: only the first kilobytes of an answer are kept, and the connection is closed. Memory does not grow.',
    does: 'Check which server answers at this address: it is probably not the platform’s.',
  },
  { kind: 'endless' },
);

export const destinationWrongCertificate = defineFault({
  name: 'destination-wrong-certificate',
  about: `one of two destinations presents an expired certificate, for ${troubleMs / 1_000} s`,
  sees: `${general} The reason is \`network CERT_HAS_EXPIRED\`, or another problem of the certificate. Nothing is sent to it meanwhile.`,
  does: 'The platform has to renew its certificate. For a private authority, check that `NODE_EXTRA_CA_CERTS` names it.',
  harms,
  hasCertificates: true,
  async run({ stack }) {
    const { good, expired } = stack.certificates;
    stack.troubled.show(expired);
    stack.troubled.disconnect();
    await sleep(troubleMs);
    stack.troubled.show(good);
    stack.troubled.disconnect();
  },
});
