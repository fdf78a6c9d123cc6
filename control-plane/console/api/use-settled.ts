import { useEffect, useState } from 'react';

const settledMs = 300;

/** `value` as it was when it last stayed unchanged for `settledMs`. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settledMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
