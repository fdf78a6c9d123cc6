import type { UseMutationResult } from '@tanstack/react-query';
import { useRef } from 'react';
import { useChange } from '../api/queries.ts';

/**
 * A request that saves the fields of a form. It sends only those that differ from `initial` of the first call or, later,
 * from those saved last: others may have changed the rest since.
 */
export function useSave<Fields extends object, Reply>(
  initial: Fields,
  send: (changed: Partial<Fields>, fields: Fields) => Promise<Reply>,
): UseMutationResult<Reply, Error, Fields> {
  const saved = useRef(initial);
  return useChange(async (fields: Fields) => {
    const reply = await send(changedFields(saved.current, fields), fields);
    saved.current = fields;
    return reply;
  });
}

/** The fields whose values differ from those in `before`. Pure. */
function changedFields<Fields extends object>(before: Fields, fields: Fields): Partial<Fields> {
  const old = new Map(Object.entries(before));
  const changed = Object.entries(fields).filter(([name, value]) => !isSame(value, old.get(name)));
  return Object.fromEntries(changed) as Partial<Fields>;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
