import { retryTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { LoadedRecord, RetryFrame } from '../sources/retry-reader.ts';

/** A frame of failed events, read as the first of its tier. */
export function retryFrameOf(records: readonly LoadedRecord[]): RetryFrame {
  const content = { kind: 'records', records } as const;
  return { tier: retryTier(0), seq: 1, bytes: 1, eventBytes: 1, losses: 0, isReplay: false, content };
}
