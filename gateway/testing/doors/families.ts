import type { DoorFamily } from './door-case.ts';
import { posthogFamily, specBatchFamily, specCallFamily } from './library-families.ts';
import { nativeBatchFamily, nativeSingleFamily, queryFamily } from './own-families.ts';
import { webhookFamily } from './webhook-families.ts';

export const doorFamilies: readonly DoorFamily[] = [
  specBatchFamily,
  specCallFamily,
  posthogFamily,
  nativeBatchFamily,
  nativeSingleFamily,
  webhookFamily,
  queryFamily,
];
