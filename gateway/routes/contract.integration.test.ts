import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldRows } from '../testing/contract-field-rows.ts';
import { requestRows } from '../testing/contract-request-rows.ts';
import { startRouteRig } from '../testing/route-rig.ts';
import type { RouteRig } from '../testing/route-rig.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

test.each([...fieldRows, ...requestRows])(
  'contract: $name → $status',
  async ({ path = 'track', body, headers, status, error }) => {
    const answer = await rig.post(path, typeof body === 'function' ? body() : body, headers);
    expect(answer.status).toBe(status);
    expect(answer.body['success']).toBe(status === 200);
    if (status === 200) expect(answer.body).toEqual({ success: true });
    if (error !== undefined) expect(answer.body['error']).toMatch(error);
  },
);
