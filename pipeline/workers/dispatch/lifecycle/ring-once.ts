import type { Wakeup } from '../../worker/wakeup.ts';

/** Rings at the end of this round of the event loop, once for all calls. */
export function ringOncePerRound(wakeup: Pick<Wakeup, 'ring'>): () => void {
  let isRinging = false;
  return () => {
    if (isRinging) return;
    isRinging = true;
    setImmediate(() => {
      isRinging = false;
      wakeup.ring();
    });
  };
}
