import type { ErasureEnd, ErasureStep } from '../../shared/destinations/sdk/erasure.ts';
import type { Sender } from '../../shared/egress/sender.ts';

/** Maximum number of requests of one attempt, far above what a person's few identifiers need. */
const stepsMax = 1_000;

/**
 * Runs the requests of an attempt until it ends. If the sender cannot reach an address, the attempt ends with `retry`.
 */
export async function runAttempt(
  first: ErasureStep,
  sender: Pick<Sender, 'send'>,
  { now, timeoutMs }: { now(): number; readonly timeoutMs: number },
): Promise<ErasureEnd> {
  const endsMs = now() + timeoutMs;
  let step = first;
  for (let steps = 0; step.kind === 'send'; steps += 1) {
    if (steps >= stepsMax) return { kind: 'failed', reason: `more than ${stepsMax} requests were needed` };
    if (now() > endsMs) return { kind: 'retry', reason: `not done within ${timeoutMs} ms` };
    const sent = await sender.send(step.request);
    if (sent.kind === 'failed') {
      const { reason, permanent, failure } = sent;
      return { kind: permanent ? 'failed' : 'retry', reason: failure === 'blocked' ? `blocked: ${reason}` : reason };
    }
    step = step.read(sent.answer, now());
  }
  return step;
}
