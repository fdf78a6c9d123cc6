import { expect, test } from 'vitest';
import { impressionEvent } from '../../../shared/experiments/impression-event.ts';
import { resolvedEvent, resolvedFrame } from '../recent/testing/resolved.ts';
import { createFindResults } from './find-results.ts';
import { ResultsBatch } from './results-batch.ts';

test.each([1e17, -1e17, 'soon'])(
  'results: an event whose time is no date is left out, and the others count: %s',
  (time) => {
    const find = createFindResults({ metrics: new Map([['Purchase', ['experiment-1']]]), flags: new Map() });
    const bought = (changes: object) => resolvedEvent('account', { event: 'Purchase', ...changes });
    const shown = (changes: object) => {
      const properties = { experiment_id: 'experiment-1', variant_id: 'a' };
      return resolvedEvent('account', { event: impressionEvent, event_properties: properties, ...changes });
    };
    const batch = new ResultsBatch();
    const wrong = [bought({ time }), shown({ time }), bought({ received_at: time })];
    find(resolvedFrame([...wrong, bought({ time: 5 }), shown({ time: 4 })]).data, batch);
    expect(batch.conversions).toMatchObject([{ metric: 'Purchase', atMs: 5 }]);
    expect(batch.exposures).toMatchObject([{ variantId: 'a', atMs: 4 }]);
  },
);
