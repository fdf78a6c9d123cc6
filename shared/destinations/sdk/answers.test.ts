import { describe, expect, it } from 'vitest';
import { rowOutcomes, rowRefusal } from './answers.ts';

describe('row outcomes', () => {
  it('rows that are not refused were taken', () => {
    expect(rowOutcomes(3, new Map([[1, 'row refused: time']]))).toEqual([
      { kind: 'delivered' },
      { kind: 'reject', reason: 'row refused: time' },
      { kind: 'delivered' },
    ]);
  });

  it('reasons keep codes and names of fields, and no sentence that may quote the event', () => {
    expect(rowRefusal('VALIDATION_ERROR', 'properties.$insert_id', 'items[0]')).toBe(
      'row refused: VALIDATION_ERROR: properties.$insert_id: items[0]',
    );
    expect(rowRefusal('ada@example.com is invalid', 'ada@example.com', 7, undefined)).toBe('row refused');
  });
});
