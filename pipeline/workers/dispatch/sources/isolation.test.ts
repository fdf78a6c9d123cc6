import { expect, test, vi } from 'vitest';
import type { FrameInFlight } from './frames-in-flight.ts';
import { Isolation } from './isolation.ts';

/** An inbox of frames that a test takes and finishes by name. */
function rigOf({ patienceMs = Infinity, mayTake = (): boolean => true } = {}) {
  const inFlight = new Map<string, FrameInFlight>();
  const taken: string[] = [];
  const inbox = {
    get isEmpty() {
      return inFlight.size === 0;
    },
    isInFlight: (frame: FrameInFlight) => [...inFlight.values()].includes(frame),
  };
  const isolation = new Isolation({ inbox, patienceMs, mayTake });
  const take = (name: string): FrameInFlight => {
    const frame = { left: 1 } as FrameInFlight;
    inFlight.set(name, frame);
    taken.push(name);
    return frame;
  };
  return {
    inFlight,
    taken,
    alone: (name: string) => isolation.alone(() => take(name)),
    beside: (name: string) => isolation.beside(() => void take(name)),
    /**
     * Finishes the frames that were taken, one after the other, until `count` were taken. Returns which frames were in
     * flight together.
     */
    async finishAll(count: number): Promise<string[][]> {
      const together: string[][] = [];
      while (taken.length < count || inFlight.size > 0) {
        if (inFlight.size > 0) together.push([...inFlight.keys()]);
        const [first = ''] = inFlight.keys();
        inFlight.delete(first);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return together;
    },
  };
}

test('isolation: an isolated frame waits for the frames in flight, and other frames wait until it ends', async () => {
  const rig = rigOf();
  await rig.beside('before');
  const all = Promise.all([
    rig.alone('first'),
    rig.alone('second'),
    rig.beside('one'),
    rig.beside('another'),
    rig.alone('third'),
  ]);
  const together = await rig.finishAll(6);
  await all;
  expect(rig.taken.slice(0, 2)).toEqual(['before', 'first']);
  for (const alone of ['first', 'second', 'third']) {
    expect(together.filter((names) => names.includes(alone))).toEqual([[alone]]);
  }
});

test('isolation: an isolated frame does not wait forever for frames in flight', async () => {
  const rig = rigOf({ patienceMs: 20 });
  await rig.beside('stuck');
  void rig.alone('first');
  await vi.waitFor(() => expect(rig.taken).toEqual(['stuck', 'first']));
});

test('isolation: once sending is no longer allowed, no caller waits', async () => {
  let isOpen = true;
  const rig = rigOf({ mayTake: () => isOpen });
  void rig.alone('first');
  void rig.beside('fresh');
  await vi.waitFor(() => expect(rig.taken).toEqual(['first']));
  isOpen = false;
  await vi.waitFor(() => expect(rig.taken).toEqual(['first', 'fresh']));
});
