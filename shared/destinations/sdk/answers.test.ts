import { describe, expect, it } from 'vitest';
import { rowOutcomes, rowRefusal } from './answers.ts';

describe('row outcomes', () => {
  it('rows that are not named as refused count as delivered', () => {
    expect(rowOutcomes(3, new Map([[1, 'row refused: time']]))).toEqual([
      { kind: 'delivered' },
      { kind: 'reject', reason: 'row refused: time' },
      { kind: 'delivered' },
    ]);
  });

  it('a refusal keeps codes and field names, and drops any sentence that may quote the event', () => {
    expect(rowRefusal('VALIDATION_ERROR', 'properties.$insert_id', 'items[0]')).toBe(
      'row refused: VALIDATION_ERROR: properties.$insert_id: items[0]',
    );
    expect(rowRefusal('ada@example.com is invalid', 'ada@example.com', 7, undefined)).toBe('row refused');
  });
});
