import { approvalEndpoints } from './approval-endpoints.ts';
import { compareEndpoints } from './compare-endpoints.ts';
import { draftEndpoints } from './draft-endpoints.ts';
import { publishEndpoints } from './publish-endpoints.ts';
import { storedVersionEndpoints } from './version-endpoints.ts';

export const versionEndpoints = [
  ...storedVersionEndpoints,
  ...publishEndpoints,
  ...approvalEndpoints,
  ...compareEndpoints,
  ...draftEndpoints,
];
